// Folders of the parts of this library that are loaded or run on demand: plug-ins, and programs
// that use other libraries.
#pragma once

#include <filesystem>
#include <vector>

namespace nmb {

// Returns the folders of NMB_PLUGIN_PATH if that is set; otherwise "nmb" beside the library, in the
// library folder of the running program's installation, and where this library is installed.
std::vector<std::filesystem::path> plugin_folders();

}  // namespace nmb
