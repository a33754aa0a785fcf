// Messages about content of an NMB file that a netCDF or HDF5 output cannot keep.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/printing/diagnostics.h"
#include "merge/reporting/merge.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb::tools {

// Returns "the output has no place for 3 tags of 1 block; an .nmb output keeps them".
std::string no_place_for_tags(const TagCounts& counts);

// Returns "the output has no place for 6 records of dimension "t", which no variable has: netCDF
// programs see 0; an .nmb output keeps them".
std::string no_place_for_records(const LostRecords& lost);

// Returns "the output has no place for 1 original (an input file kept whole); only a.nmb has it".
std::string no_place_for_originals(std::uint64_t count, const std::string& file);

// Returns "the output has no place for column 136 of ..., which a later version of the format
// added; only a.nmb has it".
std::string no_place_for_addition(const std::string& addition, const std::string& file);

// Returns messages about the losses of pack() for an output that is not an NMB file. Each message
// consists of the path of the input and a text. All originals of one input are in one message; each
// other loss has its own.
std::vector<std::pair<std::string, std::string>> not_written_lines(
    const std::vector<PackLoss>& losses);

// Returns a note about blocks that are left out of a subset (PackReport::outside).
std::string outside_text(const std::string& file, std::uint64_t blocks);

// Shows messages about lost content, as losses if they are accepted, otherwise as errors. A message
// consists of the path of a file and a text. If many objects lose the same content, shows only 10
// of them and how many others there are.
void report_losses(const std::vector<std::pair<std::string, std::string>>& lines, bool accepted,
                   Diagnostics& diagnostics);

// Returns these messages: one message for the tags of all blocks, one message for all originals,
// and one message for each addition of a later version of the format. A file without tags,
// originals and additions gets no message. A damaged table is reported by a message. Statistics,
// provenance and views are derived from other content, so they get no message. Reads all pages of
// the file's tables. Errors: kIo.
Result<std::vector<std::string>> not_written_lines(const FileReader& reader);

}  // namespace nmb::tools
