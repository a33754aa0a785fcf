// Folders of plug-ins (see plugin_folders.h).
#include "wire/plugin_folders.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace nmb {

namespace fs = std::filesystem;

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  if (const char* path = secure_getenv("NMB_PLUGIN_PATH"); path != nullptr) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end != 0) folders.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return folders;
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&plugin_folders), &here) != 0) {
    const fs::path library = fs::canonical(here.dli_fname, error);
    if (!error && library != program) folders.push_back(library.parent_path() / "nmb");
  }
  if (!program.empty())
    folders.push_back(program.parent_path().parent_path() / NMB_LIBRARY_FOLDER / "nmb");
  folders.push_back(fs::path(NMB_INSTALLED_LIBRARY_FOLDER) / "nmb");
  return folders;
}

}  // namespace nmb
