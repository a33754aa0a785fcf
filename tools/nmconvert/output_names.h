// Determines the names of the outputs for a list of inputs.
#pragma once

#include <string>
#include <vector>

#include "nmconvert/conversion_record.h"
#include "wire/failure.h"

namespace nmb::tools {

// Returns the path of an output below `folder`: the path of `input` with another ending. For
// example, "sub/a.nc" becomes FOLDER/sub/a.nmb. "/" and ".." at the beginning of the path are
// removed, so that no output is outside the folder; tar does the same. Errors: kUsage if the path
// has no file name, or contains a NUL.
Result<std::string> output_name(const std::string& input, const std::string& folder,
                                const std::string& ending);

// Returns the conversions of all inputs, in the order of the inputs. If `to` (see Conversion) or
// `block` is given, it determines the kind of the outputs. Otherwise the name of each input does:
// NAME.nmb becomes a classic file of the kind of its block, and any other input an NMB file.
// Errors: kUsage if two inputs have outputs of the same name.
Result<std::vector<Conversion>> plan_conversions(const std::vector<std::string>& inputs,
                                                 const std::string& folder, const std::string& to,
                                                 const std::optional<std::string>& block);

}  // namespace nmb::tools
