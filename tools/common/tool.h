// Tool: the common parts of every tool: arguments, help, output, diagnostics and exit code. A main
// only defines its options and calls the library.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/diagnostics.h"
#include "common/help_text.h"
#include "common/output.h"
#include "common/terminal.h"
#include "nmb/external_files.h"

namespace nmb::tools {

// The values of options that several tools have.
struct CommonOptions {
  ColourWhen colour = ColourWhen::kAuto;
  bool quiet = false;
  bool strict = false;
  bool json = false;
  bool jsonl = false;
  bool bytes = false;  // show exact numbers of bytes
  unsigned threads = 1;
  std::uint64_t memory = 0;  // bytes; 0: no limit
  ExternalPaths external = ExternalPaths::kBeneath;
  std::string files_from;  // "-": standard input; empty: not given
  bool nul_separated = false;
};

// Checks that an option's value is one of `words`, which must not be empty.
CLI::Validator one_of(std::vector<std::string> words);

// Adds an option for one of these words. `word` must outlive the command.
void offer_word(CLI::App& command, const std::string& option, std::string* word,
                const std::string& type_name, std::vector<std::string> words,
                const std::string& help);

// Adds an option for one of these words, which sets *value to what belongs to the word. `value`
// must outlive the command.
template <class T, class Value>
void offer_choice(CLI::App& command, const std::string& option, Value* value,
                  const std::string& type_name, std::vector<std::pair<std::string, T>> words,
                  const std::string& help) {
  std::vector<std::string> names;
  names.reserve(words.size());
  for (const auto& [name, meant] : words) names.push_back(name);
  CLI::callback_t take = [value, words = std::move(words)](const CLI::results_t& found) {
    for (const auto& [name, meant] : words)
      if (name == found.front()) *value = meant;
    return true;
  };
  command.add_option(option, std::move(take), help)
      ->type_name(type_name)
      ->check(one_of(std::move(names)));
}

class Tool {
 public:
  // `name`: of the program. The app has -h, --help, --version, -q and --color.
  Tool(const std::string& name, const HelpText& help);
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  CLI::App& app() { return app_; }
  // Adds a subcommand with -h, --help, -q and --color. Users must then give exactly one subcommand.
  CLI::App& add_command(const std::string& name, const HelpText& help);
  // Sets the subcommand that is used if the first argument that is not an option is not the name of
  // one.
  void set_default_command(std::string name) { default_command_ = std::move(name); }

  // These add options with the names and texts that all tools share; the options set options().
  void offer_json(CLI::App& command);
  void offer_jsonl(CLI::App& command);
  void offer_bytes(CLI::App& command);
  void offer_strict(CLI::App& command);
  void offer_threads(CLI::App& command);    // default: the number of cores
  void offer_memory(CLI::App& command);     // --mem, which takes effect before `body` begins
  void offer_file_list(CLI::App& command);  // --files-from, -0
  void offer_external(CLI::App& command);   // which external files may be opened

  // Parses the arguments, runs `body` and returns the exit code of the process: the worst of the
  // status that body returns (which is shown on standard error), the messages in diagnostics(), and
  // a failed write to standard output; or 130 or 143 after an interrupt that catch_interrupts() has
  // caught. With --manual-page alone, which help does not list, prints the manual page that the
  // build installs.
  int main(int argc, const char* const* argv, const std::function<Status()>& body);

  const CommonOptions& options() const { return options_; }
  Output& out() { return out_; }
  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  void offer_manners(CLI::App& command);
  std::vector<std::string> arguments(int argc, const char* const* argv) const;
  // Returns whether `body` should run.
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
