// Where the parts of this library lie that are loaded or run only when they are wanted: plug-ins,
// and programs around other libraries.
#pragma once

#include <filesystem>
#include <vector>

namespace nmb {

// The folders of NMB_PLUGIN_PATH if that is set. Else "nmb" beside the shared library that has this
// code, in the library folder of the running program's installation, and in each folder where the
// dynamic linker looks for libraries of that library or program: none depends on where the build
// was to be installed.
std::vector<std::filesystem::path> plugin_folders();

}  // namespace nmb
