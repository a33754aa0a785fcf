// Where the parts of this library lie that are loaded or run only when they are wanted: plug-ins,
// and programs around other libraries.
#pragma once

#include <filesystem>
#include <vector>

namespace nmb {

// The folders of NMB_PLUGIN_PATH if that is set; else "nmb" beside the library, in the library
// folder of the running program's installation, and where this library is installed.
std::vector<std::filesystem::path> plugin_folders();

}  // namespace nmb
