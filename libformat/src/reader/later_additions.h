// What a file has of later versions of the format (spec/format.md, section 17).
#pragma once

#include <string>
#include <vector>

#include "reader/reader_core.h"

namespace nmb {

// What a copy of the file's blocks, made by this version, does not have: "global section of type
// 77", "column 300 of pages of tags". Reads all pages of the index, data maps, tables and chains.
// kDamaged, kIo.
Result<std::vector<std::string>> later_additions(const ReaderCore& core);

}  // namespace nmb
