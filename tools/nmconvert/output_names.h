// Determines the names of the outputs for a list of inputs.
#pragma once

#include <string>
#include <vector>

#include "nmconvert/conversion_record.h"
#include "wire/failure.h"

namespace nmb::tools {

// Returns the path of an output below `folder`. The path is made from the path of `input`: the last
// ending is replaced. For example, "sub/a.nc" becomes FOLDER/sub/a.nmb. "/" and ".." at the
// beginning of the path are removed, so that no output is outside the folder; tar does the same.
// Errors: kUsage if the path has no file name, or contains a NUL.
Result<std::string> output_name(const std::string& input, const std::string& folder,
                                const std::string& ending);

// Returns the conversions of all inputs to the kind `to` (see Conversion), in the order of the
// inputs. If `to` or `block` is given, it determines the kind of the outputs. If neither `to` nor
// `block` is given, the name of each input determines the kind of its output. For an input
// NAME.nmb, the output is a classic file of the kind of the input's block. For any other input, the
// output is an NMB file. Errors: kUsage if two inputs have outputs of the same name.
Result<std::vector<Conversion>> plan_conversions(const std::vector<std::string>& inputs,
                                                 const std::string& folder, const std::string& to,
                                                 const std::optional<std::string>& block);

}  // namespace nmb::tools
