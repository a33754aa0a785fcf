// InspectCommand: a subcommand of nminspect with its options.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/command_line/tool.h"
#include "handles/inspected_file.h"

namespace nmb::tools {

class InspectCommand {
 public:
  virtual ~InspectCommand() = default;
  InspectCommand(const InspectCommand&) = delete;
  InspectCommand& operator=(const InspectCommand&) = delete;

  // Returns whether the user chose this subcommand.
  bool chosen() const { return command_.parsed(); }
  // Opens the file, shows its warnings and runs the subcommand. With --io-stats, also shows how
  // many reads and bytes were needed.
  virtual Status execute();

 protected:
  // Adds FILE, --strict and --io-stats.
  InspectCommand(Tool& tool, const std::string& name, const HelpText& help);

  // How much of its files a subcommand reads.
  enum class Reads : std::uint8_t { kAll, kPart };

  // Adds --no-progress, and shows progress: the bytes that were read, and with kAll also how many
  // remain.
  void offer_progress(Reads reads);
  // Returns the names of files other than FILE that are read.
  virtual std::vector<std::string> other_files() const { return {}; }
  // The meter of all files that are read; may be nullptr.
  const std::shared_ptr<ReadMeter>& meter() const { return meter_; }

  virtual Status run(const InspectedFile& file) = 0;

  Tool& tool_;
  CLI::App& command_;

 private:
  Status run_on(std::shared_ptr<const InputFile> file);

  std::string path_;
  bool io_stats_ = false;
  std::optional<Reads> progress_;  // nullopt: no progress is shown
  std::shared_ptr<ReadMeter> meter_;
};

}  // namespace nmb::tools
