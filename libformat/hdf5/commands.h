// The commands of nmb-hdf5: each adds itself to the tool, and sets what is to be done when it is
// called.
#pragma once

#include <functional>

#include "common/tool.h"

namespace nmb::hdf5 {

using Chosen = std::function<Status()>;

void add_export_command(tools::Tool& tool, Chosen* chosen);

}  // namespace nmb::hdf5
