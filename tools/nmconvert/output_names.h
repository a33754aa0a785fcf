// What the files that a list of inputs is converted to are called.
#pragma once

#include <string>
#include <vector>

#include "nmb/status.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

// The path of `input` below `folder`, its last ending replaced: "sub/a.nc" is FOLDER/sub/a.nmb. A
// leading "/" and leading ".." fall away, as tar has it, so that nothing lies outside the folder.
// kUsage: the path has no file name, or a NUL in it.
Result<std::string> output_name(const std::string& input, const std::string& folder,
                                const std::string& ending);

// Conversions to `to` (see Conversion) of all inputs, in their order. Where neither `to` nor
// `block` say it, what ends in .nmb becomes a classic file of its block's kind, and all else NMB.
// kUsage: two inputs have outputs of one name.
Result<std::vector<Conversion>> plan_conversions(const std::vector<std::string>& inputs,
                                                 const std::string& folder, const std::string& to,
                                                 const std::optional<std::string>& block);

}  // namespace nmb::tools
