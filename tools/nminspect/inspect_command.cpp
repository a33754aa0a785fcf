#include "nminspect/inspect_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/printing/progress.h"

namespace nmb::tools {

InspectCommand::InspectCommand(Tool& tool, const std::string& name, const HelpText& help)
    : tool_(tool), command_(tool.add_command(name, help)) {
  command_.add_option("FILE", path_, "an NMB, classic netCDF, netCDF-4 or HDF5 file")->required();
  command_.add_flag("--io-stats", io_stats_,
                    "print on standard error how many reads and bytes of FILE were needed");
  tool.offer_external(command_);
  tool.offer_pager(command_);
  tool.offer_strict(command_);
}

void InspectCommand::offer_progress(Reads reads) {
  progress_ = reads;
  tools::offer_progress(tool_, command_);
}

Status InspectCommand::run_on(std::shared_ptr<const InputFile> file) {
  NMB_ASSIGN(const InspectedFile inspected,
             InspectedFile::open(std::move(file), {.external = tool_.options().external}));
  if (const FileReader* reader = inspected.reader())
    for (const Finding& warning : reader->warnings())
      tool_.diagnostics().warning(inspected.file().name(), warning);
  return run(inspected);
}

Status InspectCommand::execute() {
  Progress progress(tool_, path_);
  if (auto callback = progress_ ? progress.callback() : nullptr) {
    std::vector<std::string> files = other_files();
    files.push_back(path_);
    std::uint64_t bytes = 0;
    for (const std::string& file : files) {
      std::error_code missing;
      const std::uintmax_t size = std::filesystem::file_size(file, missing);
      if (!missing) bytes += size;
    }
    progress.show_time();
    if (progress_ == Reads::kPart) bytes = kUnknownTotal;
    meter_ = std::make_shared<ReadMeter>(0, bytes, std::move(callback));
  }
  NMB_ASSIGN(const std::shared_ptr<const InputFile> file, InputFile::open(path_, meter_));
  const Status status = run_on(file).in_file(path_);
  progress.finish();
  if (io_stats_) {
    const IoCounts counts = file->counts();
    tool_.diagnostics().note(
        fmt::format("{}: reads {}, bytes {}", path_, counts.reads, counts.bytes), true);
  }
  return status;
}

}  // namespace nmb::tools
