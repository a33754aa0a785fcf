// Tool: the frame of every tool: arguments, help, output, diagnostics and exit code, so that a main
// only says what it offers and calls the library.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/diagnostics.h"
#include "common/help_text.h"
#include "common/output.h"
#include "common/terminal.h"
#include "nmb/external_file.h"

namespace nmb::tools {

// What options that several tools have were set to.
struct CommonOptions {
  ColourWhen colour = ColourWhen::kAuto;
  bool quiet = false;
  bool strict = false;
  bool json = false;
  bool jsonl = false;
  bool bytes = false;  // exact numbers of bytes
  unsigned threads = 1;
  std::uint64_t memory = 0;  // bytes, 0: no limit
  ExternalPaths external = ExternalPaths::kBeneath;
  std::string files_from;  // "-": standard input; empty: not given
  bool nul_separated = false;
};

// A check that an option's value is one of the words, which are at least one.
CLI::Validator one_of(std::vector<std::string> words);

class Tool {
 public:
  // `name` is the program's. The app has -h, --help, --version, -q and --color.
  Tool(const std::string& name, const HelpText& help);
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  CLI::App& app() { return app_; }
  // A subcommand with -h, --help, -q and --color. Exactly one must then be given.
  CLI::App& add_command(const std::string& name, const HelpText& help);
  // The subcommand that is meant where the first argument that is no option names none.
  void set_default_command(std::string name) { default_command_ = std::move(name); }

  // Options by the names and texts that all tools have in common; they set options().
  void offer_json(CLI::App& command);
  void offer_jsonl(CLI::App& command);
  void offer_bytes(CLI::App& command);
  void offer_strict(CLI::App& command);
  void offer_threads(CLI::App& command);    // default: the cores
  void offer_memory(CLI::App& command);     // --mem, which holds when `body` begins
  void offer_file_list(CLI::App& command);  // --files-from, -0
  void offer_external(CLI::App& command);   // which external files are opened

  // Parses the arguments, runs `body` and returns the process's exit code: the worst of the status
  // that body returns (told on standard error), of what diagnostics() saw and of a failed write to
  // standard output; 130 or 143 after an interrupt that catch_interrupts() saw. With --manual-page
  // alone, which help does not list, it prints the manual page that the build installs.
  int main(int argc, const char* const* argv, const std::function<Status()>& body);

  const CommonOptions& options() const { return options_; }
  Output& out() { return out_; }
  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  void offer_manners(CLI::App& command);
  std::vector<std::string> arguments(int argc, const char* const* argv) const;
  // True if `body` is to be run.
  bool parse(int argc, const char* const* argv);
  int finish();

  std::string name_;
  HelpTexts help_texts_;
  CLI::App app_;
  CommonOptions options_;
  std::string default_command_;
  Output out_;
  Diagnostics diagnostics_;
};

}  // namespace nmb::tools
