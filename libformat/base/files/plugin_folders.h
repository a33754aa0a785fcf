// Finds the folders of plug-ins and helper programs. Plug-ins and helper programs are loaded or run
// only when they are needed.
#pragma once

#include <filesystem>
#include <vector>

namespace nmb {

// Returns the folders of NMB_PLUGIN_PATH if this variable is set. If the variable is not set,
// returns the subfolders "nmb" of these folders:
// - the folder of the shared library that contains this code,
// - the library folder of the running program's installation,
// - each folder where the dynamic linker looks for the libraries that this shared library or this
//   program needs.
//
// No folder depends on the installation folder that was set when the library was built.
std::vector<std::filesystem::path> plugin_folders();

}  // namespace nmb
