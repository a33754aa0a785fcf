// Lists structures in a file that a later version of the format has added (spec/format.md, section
// 17).
#pragma once

#include <string>
#include <vector>

#include "reader/reader_core.h"

namespace nmb {

// If this version copied the blocks of the file, additions of later versions would be lost. Returns
// a description of each such addition, for example "global section of type 77" or "column 300 of
// pages of tags". Reads all pages of the file: the pages of the index, of the data maps, of the
// tables and of the chains. Errors: kDamaged, kIo.
Result<std::vector<std::string>> later_additions(const ReaderCore& core);

}  // namespace nmb
