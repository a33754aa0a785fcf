// Messages about content of an NMB file that a netCDF or HDF5 output cannot keep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb {

// Returns "the output has no place for 3 tags of 1 block; an .nmb output keeps them".
NMB_EXPORT std::string no_place_for_tags(const TagCounts& counts);

// Returns "the output has no place for 6 records of dimension "t", which no variable has: netCDF
// programs see 0; an .nmb output keeps them".
NMB_EXPORT std::string no_place_for_records(const LostRecords& lost);

// Returns "the output has no place for column 136 of ..., which a later version of the format
// added; only a.nmb has it".
NMB_EXPORT std::string no_place_for_addition(const std::string& addition, const std::string& file);

// Returns these messages: one message for the tags of all blocks, and one message for each addition
// of a later version of the format. A file without tags and additions gets no message. A damaged
// table is reported by a message. Statistics, provenance and views are derived from other content,
// so they get no message. Reads all pages of the file's tables. Errors: kIo.
NMB_EXPORT Result<std::vector<std::string>> not_written_lines(const FileReader& reader);

}  // namespace nmb
