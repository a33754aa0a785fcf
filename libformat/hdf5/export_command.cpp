// nmb-hdf5 export: an NMB file as HDF5.
#include <memory>
#include <string>

#include "commands.h"
#include "hdf5_export.h"
#include "nmb/reader.h"

namespace nmb::hdf5 {

namespace {

const tools::HelpText kHelp = {
    "Writes an NMB file as HDF5.",
    "Each block becomes a group, each variable a data set, with the types, links and\n"
    "properties that it had where it came from HDF5.\n\n"
    "Exit codes: 0 done; 1 INPUT is damaged; 2 not done, also where HDF5 cannot hold\n"
    "what INPUT has. OUTPUT is there only after 0.",
    "  nmb-hdf5 export run.nmb run.h5"};

struct Arguments {
  std::string input, output;
};

Status run(const Arguments& arguments) {
  NMB_ASSIGN(const std::unique_ptr<Reader> reader, Reader::open(arguments.input));
  return export_hdf5(*reader, arguments.output).in_file(arguments.input);
}

}  // namespace

void add_export_command(tools::Tool& tool, Chosen* chosen) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = tool.add_command("export", kHelp);
  command.add_option("INPUT", arguments->input, "the NMB file")->required();
  command.add_option("OUTPUT", arguments->output, "the HDF5 file, which must not be there")
      ->required();
  command.callback([=] { *chosen = [=] { return run(*arguments); }; });
}

}  // namespace nmb::hdf5
