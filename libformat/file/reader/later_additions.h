// Lists structures in a file that a later version of the format has added (spec/format.md, section
// 17).
#pragma once

#include <string>
#include <vector>

#include "reader/reader_core.h"

namespace nmb {

// Returns a description of each addition of later versions, for example "global section of type 77"
// or "column 300 of pages of tags". These additions would be lost if this version copied the blocks
// of the file. Reads all pages of the index, data maps, tables and chains. Errors: kDamaged, kIo.
Result<std::vector<std::string>> later_additions(const ReaderCore& core);

}  // namespace nmb
