// Messages about content of an NMB file that a netCDF or HDF5 output cannot keep.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/printing/diagnostics.h"
#include "convert/not_written.h"
#include "merge/reporting/merge.h"

namespace nmb::tools {

// Returns "the output has no place for 1 original (an input file kept whole); only a.nmb has it".
std::string no_place_for_originals(std::uint64_t count, const std::string& file);

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

}  // namespace nmb::tools
