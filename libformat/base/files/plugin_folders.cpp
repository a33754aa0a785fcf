#include "files/plugin_folders.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string_view>

namespace nmb {

namespace fs = std::filesystem;

namespace {

// Returns the path of the shared library that contains this code, or an empty path if the code is
// part of the program.
const char* library_path() {
  Dl_info info;
  void* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&plugin_folders), &info, &map, RTLD_DL_LINKMAP) == 0)
    return "";
  return static_cast<const link_map*>(map)->l_name;
}

// Returns the folders in which the dynamic linker looks for libraries that `library` needs,
// including the folders in DT_RUNPATH. An empty `library` stands for the program.
std::vector<fs::path> search_path(const char* library) {
  std::vector<fs::path> folders;
  void* const handle = dlopen(*library == '\0' ? nullptr : library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return folders;
  Dl_serinfo size;
  if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
    auto* const info = reinterpret_cast<Dl_serinfo*>(memory.data());
    if (dlinfo(handle, RTLD_DI_SERINFOSIZE, info) == 0 &&
        dlinfo(handle, RTLD_DI_SERINFO, info) == 0)
      for (const Dl_serpath& folder :
           std::span(static_cast<const Dl_serpath*>(info->dls_serpath), info->dls_cnt))
        folders.emplace_back(folder.dls_name);
  }
  dlclose(handle);
  return folders;
}

}  // namespace

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
  const char* const library = library_path();
  std::error_code error;
  if (*library != '\0')
    if (const fs::path file = fs::canonical(library, error); !error)
      folders.push_back(file.parent_path() / "nmb");
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // nmb-hdf5 starts further processes of nmb-hdf5, so its own folder is searched too.
  if (program.filename() == "nmb-hdf5") folders.push_back(program.parent_path());
  if (!program.empty())
    folders.push_back(program.parent_path().parent_path() / NMB_LIBRARY_FOLDER / "nmb");
  for (const fs::path& folder : search_path(library))
    if (fs::is_directory(folder / "nmb", error)) folders.push_back(folder / "nmb");
  return folders;
}

}  // namespace nmb
