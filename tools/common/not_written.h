// What netCDF and HDF5 files have no place for, of an NMB file that becomes one.
#pragma once

#include <string>
#include <vector>

#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb::tools {

// "the output has no place for 3 tags of 1 block; an .nmb output keeps them".
std::string no_place_for_tags(const TagCounts& counts);

// A line for the tags of all blocks, one for originals, one for each addition of a later version
// of the format; none where the file has none. Where tables are damaged a line says so. Statistics,
// provenance and views are made from the rest, so no line names them. Reads all pages of the
// file's tables. kIo.
Result<std::vector<std::string>> not_written_lines(const Reader& reader);

}  // namespace nmb::tools
