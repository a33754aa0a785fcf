// The interface between the preloaded library and the part for an MPI library.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace nmb::pnetcdf {

using Function = void (*)();

// IDs of our files: PnetCDF counts its own from 0 to 1,023.
inline constexpr int kFirstFile = 0x4e4d0000;
inline constexpr int kMostFiles = 0x4000;

constexpr bool is_ours(int file) {
  return static_cast<unsigned>(file) - static_cast<unsigned>(kFirstFile) <
         static_cast<unsigned>(kMostFiles);
}

// Returns the path without the name of a file system at its begin ("ufs:run.nmb"), which MPI-IO
// takes away. Other colons belong to the path ("run_12:00.nmb").
inline const char* without_prefix(const char* path) {
  for (const char* const system :
       {"ufs", "nfs", "xfs", "lustre", "gpfs", "panfs", "pvfs", "pvfs2", "daos", "ime", "quobyte",
        "testfs", "piofs", "pfs", "sfs", "hfs", "zoidfs", "gridftp", "gsiftp"}) {
    const std::size_t length = std::strlen(system);
    if (std::strncmp(path, system, length) == 0 && path[length] == ':') return path + length + 1;
  }
  return path;
}

// Calls use(key, value) for each hint in the environment, PNETCDF_HINTS="key=value;key=value",
// which counts more than the hint that a program gives.
template <class Use>
void for_each_hint(const Use& use) {
  const char* const text = std::getenv("PNETCDF_HINTS");
  const auto trimmed = [](std::string_view word) {
    const std::size_t begin = std::min(word.find_first_not_of(" \t"), word.size());
    return word.substr(begin, word.find_last_not_of(" \t") + 1 - begin);
  };
  for (std::string_view rest = text ? text : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view hint = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (const std::size_t equal = hint.find('='); equal != std::string_view::npos)
      use(trimmed(hint.substr(0, equal)), trimmed(hint.substr(equal + 1)));
  }
}

// The only symbol of a part is an object of this type, named nmb_pnetcdf_part.
struct Part {
  unsigned version;  // the table of generate.py that both were built with
  int count;
  const Function* functions;  // nullptr for functions that are always PnetCDF's
  // Called once. real: returns PnetCDF's function of this number, or nullptr.
  void (*start)(Function (*real)(int number));
  // Returns the address of a function of nmb_pnetcdf.h, or nullptr.
  Function (*extra)(const char* name);
};

}  // namespace nmb::pnetcdf
