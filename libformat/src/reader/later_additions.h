// Additions of later versions of the format in a file (spec/format.md, section 17).
#pragma once

#include <string>
#include <vector>

#include "reader/reader_core.h"

namespace nmb {

// Lists what a copy of the file's blocks by this version would lose: "global section of type 77",
// "column 300 of pages of tags". Reads all pages of the index, data maps, tables and chains.
// Errors: kDamaged, kIo.
Result<std::vector<std::string>> later_additions(const ReaderCore& core);

}  // namespace nmb
