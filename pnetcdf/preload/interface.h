// The interface between the preloaded library and the part for an MPI library.
#pragma once

#include <cstring>
#include <initializer_list>

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
