// Finds the folders of plug-ins and helper programs, which are loaded or run only when needed.
#pragma once

#include <filesystem>
#include <vector>

namespace nmb {

// Returns the folders of NMB_PLUGIN_PATH if this variable is set. Otherwise returns the subfolders
// "nmb" of these folders:
// - the folder of the shared library that contains this code,
// - the library folder of the running program's installation,
// - each folder where the dynamic linker looks for the libraries that this shared library or this
//   program needs.
//
// The installation folder that was set when the library was built is not used.
std::vector<std::filesystem::path> plugin_folders();

}  // namespace nmb
