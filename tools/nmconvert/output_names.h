// The names of the files to which a list of inputs is converted.
#pragma once

#include <string>
#include <vector>

#include "nmb/status.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

// Returns the path of `input` below `folder` with its last ending replaced: "sub/a.nc" becomes
// FOLDER/sub/a.nmb. A leading "/" and leading ".." are removed, like in tar, so that no output is
// outside the folder. Errors: kUsage if the path has no file name, or contains a NUL.
Result<std::string> output_name(const std::string& input, const std::string& folder,
                                const std::string& ending);

// Returns conversions of all inputs to `to` (see Conversion), in their order. If neither `to` nor
// `block` determines the kind, files ending in .nmb become classic files of their block's kind, and
// all others become NMB. Errors: kUsage if two inputs have outputs of the same name.
Result<std::vector<Conversion>> plan_conversions(const std::vector<std::string>& inputs,
                                                 const std::string& folder, const std::string& to,
                                                 const std::optional<std::string>& block);

}  // namespace nmb::tools
