// nmb-hdf5: what takes the HDF5 library. A program of its own, so that other tools do not load it
// and what a hostile file does to it stays here.
#include <hdf5.h>

#include "commands.h"

namespace {

using nmb::hdf5::Chosen;

const nmb::tools::HelpText kHelp = {"Exchanges NMB files with HDF5; other tools run it.", "", ""};

constexpr void (*kCommands[])(nmb::tools::Tool&, Chosen*) = {
    nmb::hdf5::add_export_command,
};

}  // namespace

int main(int argc, char** argv) {
  // All is closed by the time main ends; HDF5 would try again what has failed.
  H5dont_atexit();
  nmb::tools::Tool tool("nmb-hdf5", kHelp);
  Chosen chosen;
  for (const auto add : kCommands) add(tool, &chosen);
  return tool.main(argc, argv, [&] { return chosen(); });
}
