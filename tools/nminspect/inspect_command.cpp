// Parts that all subcommands of nminspect share (see inspect_command.h).
#include "nminspect/inspect_command.h"

#include <fmt/format.h>

namespace nmb::tools {

InspectCommand::InspectCommand(Tool& tool, const std::string& name, const HelpText& help)
    : tool_(tool), command_(tool.add_command(name, help)) {
  command_.add_option("FILE", path_, "an NMB, classic netCDF, netCDF-4 or HDF5 file")->required();
  command_.add_flag("--io-stats", io_stats_,
                    "print on standard error how many reads and bytes of FILE were needed");
  tool.offer_external(command_);
  tool.offer_strict(command_);
}

Status InspectCommand::run_on(std::shared_ptr<const InputFile> file) {
  NMB_ASSIGN(const InspectedFile inspected,
             InspectedFile::open(std::move(file), tool_.options().external));
  if (const Reader* reader = inspected.reader())
    for (const Finding& warning : reader->warnings())
      tool_.diagnostics().warning(inspected.file().name(), warning);
  return run(inspected);
}

Status InspectCommand::execute() {
  NMB_ASSIGN(const std::shared_ptr<const InputFile> file, InputFile::open(path_));
  const Status status = run_on(file).in_file(path_);
  if (io_stats_) {
    const IoCounts counts = file->counts();
    tool_.diagnostics().note(
        fmt::format("{}: reads {}, bytes {}", path_, counts.reads, counts.bytes), true);
  }
  return status;
}

}  // namespace nmb::tools
