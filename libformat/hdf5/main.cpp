// nmb-hdf5: what the tools need the HDF5 library for, as a program of its own. Not for people: its
// commands are this version's.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "import.h"
#include "resource_limits.h"

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "import" && argc == 4) {
    nmb::hdf5::limit_resources(argv[2]);
    return nmb::hdf5::import_file(argv[2], std::atoi(argv[3]));
  }
  std::fprintf(stderr, "nmb-hdf5: found no command that it has; nmconvert and others run it\n");
  return 2;
}
