// Content of an NMB file that netCDF and HDF5 files made from it cannot keep.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nmb/merge.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb::tools {

// "the output has no place for 3 tags of 1 block; an .nmb output keeps them".
std::string no_place_for_tags(const TagCounts& counts);

// "the output has no place for 6 records of dimension "t", which no variable has: netCDF programs
// see 0; an .nmb output keeps them".
std::string no_place_for_records(const LostRecords& lost);

// "the output has no place for 1 original (an input file kept whole); only a.nmb has it".
std::string no_place_for_originals(std::uint64_t count, const std::string& file);

// "the output has no place for column 136 of ..., which a later version of the format added; only
// a.nmb has it".
std::string no_place_for_addition(const std::string& addition, const std::string& file);

// Returns the losses of pack() for an output that is not an NMB file. Each line has the path of the
// input and a text: one line for all originals of an input, one for each other loss.
std::vector<std::pair<std::string, std::string>> not_written_lines(
    const std::vector<PackLoss>& losses);

// Returns one line for the tags of all blocks, one for originals, and one for each addition of a
// later version of the format, if the file has any. If tables are damaged, a line reports that.
// Statistics, provenance and views are derived from other content, so no line names them. Reads all
// pages of the file's tables. Errors: kIo.
Result<std::vector<std::string>> not_written_lines(const Reader& reader);

}  // namespace nmb::tools
