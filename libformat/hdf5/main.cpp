// nmb-hdf5: what the tools need the HDF5 library for, as a program of its own. Not for people: its
// commands are this version's.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "export_command.h"
#include "import.h"
#include "resource_limits.h"

namespace {

struct Command {
  std::string_view name;
  int arguments;
  int (*run)(char** arguments);  // returns the exit code
};

constexpr Command kCommands[] = {
    {"export", 2, [](char** a) { return nmb::hdf5::export_file(a[0], a[1]); }},
    {"import", 3,
     [](char** a) {
       nmb::hdf5::limit_resources(a[0]);
       return nmb::hdf5::import_file(a[0], std::atoi(a[1]), a[2], nmb::hdf5::OtherFiles::kLeft);
     }},
    // The same with the values that lie in other files, which may be of any size.
    {"materialise", 3,
     [](char** a) {
       return nmb::hdf5::import_file(a[0], std::atoi(a[1]), a[2], nmb::hdf5::OtherFiles::kCopied);
     }},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Command& command : kCommands)
    if (argc == command.arguments + 2 && command.name == argv[1]) return command.run(argv + 2);
  std::fprintf(stderr, "nmb-hdf5: found no command that it has; nmconvert and others run it\n");
  return 2;
}
