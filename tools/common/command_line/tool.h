// Tool: the parts that all tools share: arguments, help, output, diagnostics and exit code. The
// main program of a tool only defines its options and calls the library.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line/help_text.h"
#include "common/printing/diagnostics.h"
#include "common/printing/output.h"
#include "common/printing/terminal.h"
#include "model/external_files.h"

namespace nmb::tools {

// Values of the options that several tools have.
struct CommonOptions {
  ColourWhen colour = ColourWhen::kAuto;
  bool quiet = false;
  bool strict = false;
  bool json = false;
  bool jsonl = false;
  bool bytes = false;  // show exact numbers of bytes
  bool pager = false;  // whether long output for a terminal goes to the user's pager
  unsigned threads = 1;
  std::uint64_t memory = 0;  // bytes; 0: no limit
  ExternalPaths external = ExternalPaths::kBeneath;
  std::string files_from;  // path, "-" for standard input; empty if not given
  bool nul_separated = false;
};

// Returns a validator: the value of an option must be one of `words`, which must not be empty.
CLI::Validator one_of(std::vector<std::string> words);

// Returns the words of one_of() if it made the option's validator, otherwise an empty list.
std::vector<std::string> words_of(CLI::Option& option);

// Returns a validator: the value of an option must be a whole number from 0 to 2^64 - 1.
CLI::Validator whole_number();

// Adds an option whose value is one of `words`. *word must outlive the command.
void offer_word(CLI::App& command, const std::string& option, std::string* word,
                const std::string& type_name, std::vector<std::string> words,
                const std::string& help);

// Adds an option whose value is a number of bytes (see parse_bytes()) from `least` to `most`.
// `take` gets the number, and must be callable as long as the command exists.
void offer_size(CLI::App& command, const std::string& option,
                std::function<void(std::uint64_t)> take, std::uint64_t least, std::uint64_t most,
                const std::string& help);

// Adds an option whose value is one of `words`. Sets *value to the T that is paired with the word
// that the user gives. *value must outlive the command.
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
  // `name` is the name of the program. The app has -h, --help, --version, -q and --color.
  Tool(const std::string& name, const HelpText& help);
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  CLI::App& app() { return app_; }
  // Adds a subcommand with -h, --help, -q and --color. Users must then give exactly one subcommand.
  CLI::App& add_command(const std::string& name, const HelpText& help);
  // Sets the subcommand that is used if the first argument that does not begin with '-' is not the
  // name of a subcommand.
  void set_default_command(std::string name) { default_command_ = std::move(name); }

  // Each of the following functions adds an option, with the same name and help text in all tools.
  // The value of the option is in options().
  void offer_json(CLI::App& command);
  void offer_jsonl(CLI::App& command);
  void offer_bytes(CLI::App& command);
  void offer_strict(CLI::App& command);
  void offer_threads(CLI::App& command);    // default: the number of cores
  void offer_memory(CLI::App& command);     // --mem; the limit is set before `body` begins
  void offer_file_list(CLI::App& command);  // --files-from, -0
  // Adds an option for another list to which -0 applies. *path must outlive the tool.
  void offer_list(CLI::App& command, const std::string& option, std::string* path,
                  const std::string& help);
  // Offers --external; `usual` is its default. Programs that copy values open no external files by
  // default: otherwise, a file from elsewhere could make them copy a file that lies beside it.
  void offer_external(CLI::App& command, ExternalPaths usual = ExternalPaths::kBeneath);
  // Adds --no-pager. Without it, long output for a terminal goes to the user's pager.
  void offer_pager(CLI::App& command);

  // Call this if the tool runs on several ranks. In a job of several processes, only the first one
  // then shows messages and help, also about wrong arguments.
  void expect_ranks();

  // Parses the arguments, runs `body` and returns the exit code of the process. Writes the status
  // of `body` to standard error. The exit code is the worst of three codes: the code for the status
  // of `body`, the code for the messages in diagnostics(), and the code for a failed write to
  // standard output. After an interrupt that catch_interrupts() caught, the exit code is 129, 130
  // or 143. --manual-page prints the manual page, and --completion SHELL prints the completions for
  // a shell; help does not list these two, because only the build uses them.
  int main(int argc, const char* const* argv, const std::function<Status()>& body);

  const CommonOptions& options() const { return options_; }
  Output& out() { return out_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  // Writes a note with the limit of --mem, if there is one, to standard error.
  void note_memory_limit();

 private:
  void offer_common_options(CLI::App& command);
  std::vector<std::string> arguments(int argc, const char* const* argv) const;
  Status check_lists() const;
  // Returns whether `body` should run.
  bool parse(int argc, const char* const* argv);
  void show_help(const std::string& text);
  int finish();

  std::string name_;
  HelpTexts help_texts_;
  CLI::App app_;
  CommonOptions options_;
  std::string default_command_;
  bool is_silent_ = false;
  // The options for lists to which -0 applies, with the variables for their values.
  std::vector<std::pair<std::string, const std::string*>> lists_;
  Output out_;
  Diagnostics diagnostics_;
};

}  // namespace nmb::tools
