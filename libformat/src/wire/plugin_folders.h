// Folders of the parts of this library that are loaded or run on demand: plug-ins, and programs
// that use other libraries.
#pragma once

#include <filesystem>
#include <vector>

namespace nmb {

// Returns the folders of NMB_PLUGIN_PATH if that is set. Otherwise "nmb" beside the shared library
// that contains this code, in the library folder of the running program's installation, and in each
// folder where the dynamic linker looks for libraries of that library or program. None depends on
// where the build was to be installed.
std::vector<std::filesystem::path> plugin_folders();

}  // namespace nmb
