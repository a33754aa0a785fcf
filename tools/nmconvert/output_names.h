// Determines the names of the outputs for a list of inputs.
#pragma once

#include <string>
#include <vector>

#include "nmb/status.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

// Returns the path of an output below `folder`. The path is that of `input` with the last ending
// replaced: "sub/a.nc" becomes FOLDER/sub/a.nmb. A leading "/" and leading ".." are removed, as tar
// does, so that no output is outside the folder. Errors: kUsage if the path has no file name, or
// contains a NUL.
Result<std::string> output_name(const std::string& input, const std::string& folder,
                                const std::string& ending);

// Returns the conversions of all inputs to the kind `to` (see Conversion), in the order of the
// inputs. If neither `to` nor `block` determines the kind, files whose names end in .nmb become
// classic files of their block's kind, and all other files become NMB files. Errors: kUsage if two
// inputs have outputs of the same name.
Result<std::vector<Conversion>> plan_conversions(const std::vector<std::string>& inputs,
                                                 const std::string& folder, const std::string& to,
                                                 const std::optional<std::string>& block);

}  // namespace nmb::tools
