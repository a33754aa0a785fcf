#include "common/command_line/tool.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "common/command_line/completion.h"
#include "common/command_line/help_formatter.h"
#include "common/command_line/interrupt.h"
#include "common/command_line/manual_page.h"
#include "common/options/memory_limit.h"
#include "common/options/threads.h"
#include "common/printing/units.h"
#include "parallel/communicator.h"

namespace nmb::tools {

// The name of a validator of one_of() begins with this text, and continues with the words.
static constexpr std::string_view kOneOf = "one of ";

CLI::Validator one_of(std::vector<std::string> words) {
  // All copies of the validator share the words, because CLI11 copies a validator several times.
  const auto shared = std::make_shared<const std::vector<std::string>>(std::move(words));
  const auto check = [shared](std::string& found) -> std::string {
    if (std::ranges::find(*shared, found) != shared->end()) return "";
    std::string expected = shared->front();
    for (std::size_t i = 1; i < shared->size(); ++i)
      expected += (i + 1 < shared->size() ? ", " : " or ") + (*shared)[i];
    return "found \"" + found + "\", expected " + expected;
  };
  return CLI::Validator(check, "", std::string(kOneOf) + CLI::detail::join(*shared, "|"));
}

std::vector<std::string> words_of(CLI::Option& option) {
  try {
    const std::string& name = option.get_validator(0)->get_name();
    if (!name.starts_with(kOneOf)) return {};
    return CLI::detail::split(name.substr(kOneOf.size()), '|');
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

CLI::Validator whole_number() {
  const auto check = [](std::string& found) -> std::string {
    std::uint64_t number = 0;
    const char* const end = found.data() + found.size();
    const auto [rest, error] = std::from_chars(found.data(), end, number);
    if (error == std::errc() && rest == end) return "";
    return "found \"" + found + "\", expected a whole number of at least 0";
  };
  return CLI::Validator(check, "");
}

void offer_word(CLI::App& command, const std::string& option, std::string* word,
                const std::string& type_name, std::vector<std::string> words,
                const std::string& help) {
  command.add_option(option, *word, help)->type_name(type_name)->check(one_of(std::move(words)));
}

void offer_size(CLI::App& command, const std::string& option,
                std::function<void(std::uint64_t)> take, std::uint64_t least, std::uint64_t most,
                const std::string& help) {
  command
      .add_option_function<std::string>(
          option,
          [=, take = std::move(take)](const std::string& text) {
            const Result<std::uint64_t> bytes = parse_bytes(text);
            if (!bytes.ok()) throw CLI::ValidationError(option, bytes.status().message());
            if (*bytes < least || *bytes > most)
              throw CLI::ValidationError(
                  option, "found \"" + text + "\", expected at " +
                              (*bytes < least ? "least " + std::to_string(least)
                                              : "most " + std::to_string(most)) +
                              ((*bytes < least ? least : most) == 1 ? " byte" : " bytes"));
            take(*bytes);
          },
          help)
      ->type_name("BYTES");
}

Tool::Tool(const std::string& name, const HelpText& help)
    : name_(name), app_(help.summary, name), out_(STDOUT_FILENO), diagnostics_(name) {
  help_texts_[&app_] = help;
  app_.formatter(help_formatter(help_texts_));
  app_.set_help_flag("-h", "short help, on one screen");
  app_.set_help_all_flag("--help", "full help, with examples");
  app_.set_version_flag("--version", name + " " + NMB_VERSION, "the version");
  offer_common_options(app_);
}

void Tool::expect_ranks() {
  is_silent_ = launched_ranks() > 1 && launched_rank() > 0;
  diagnostics_.set_silent(is_silent_);
}

CLI::App& Tool::add_command(const std::string& name, const HelpText& help) {
  CLI::App& command = *app_.add_subcommand(name, help.summary);
  help_texts_[&command] = help;
  offer_common_options(command);
  app_.require_subcommand(1, 1);
  return command;
}

void Tool::offer_common_options(CLI::App& command) {
  command.add_flag("-q,--quiet", options_.quiet,
                   "no notes and no warnings, except about missing data");
  offer_choice<ColourWhen>(
      command, "--color", &options_.colour, "WHEN",
      {{"auto", ColourWhen::kAuto}, {"always", ColourWhen::kAlways}, {"never", ColourWhen::kNever}},
      "colour of messages: auto, always or never");
}

void Tool::offer_json(CLI::App& command) {
  command.add_flag("--json", options_.json, "one JSON document");
}
void Tool::offer_jsonl(CLI::App& command) {
  command.add_flag("--jsonl", options_.jsonl, "one JSON document per line");
}
void Tool::offer_bytes(CLI::App& command) {
  command.add_flag("--bytes", options_.bytes, "show exact numbers of bytes, not KiB, MiB, ...");
}
void Tool::offer_strict(CLI::App& command) {
  command.add_flag("--strict", options_.strict, "treat warnings as findings (exit code 1)");
}
void Tool::offer_external(CLI::App& command, ExternalPaths usual) {
  const bool none = usual == ExternalPaths::kNone;
  options_.external = usual;
  offer_choice<ExternalPaths>(
      command, "--external", &options_.external, "WHICH",
      {{"none", ExternalPaths::kNone},
       {"beneath", ExternalPaths::kBeneath},
       {"any", ExternalPaths::kAny}},
      std::string("which external files with values may be opened: none") +
          (none ? " (default); beneath" : "; beneath (default)") +
          ": files in the folder of the NMB file or below, without symbolic links; any, which also "
          "copies values that an HDF5 file has in other files");
}
void Tool::offer_pager(CLI::App& command) {
  options_.pager = true;
  command.add_flag_callback(
      "--no-pager", [this] { options_.pager = false; },
      "do not show long output with the pager (NMB_PAGER, PAGER or less)");
}
void Tool::offer_threads(CLI::App& command) {
  options_.threads = default_threads();
  command.add_option("-j", options_.threads, "number of threads (default: number of cores)")
      ->type_name("N")
      ->check(CLI::Range(1u, 4096u).description(""));
}
void Tool::offer_memory(CLI::App& command) {
  offer_size(
      command, "--mem", [this](std::uint64_t bytes) { options_.memory = bytes; }, 1,
      std::numeric_limits<std::uint64_t>::max(),
      "memory limit of each process, for example 64M or 1G (default: no limit)");
}
void Tool::offer_file_list(CLI::App& command) {
  offer_list(command, "--files-from", &options_.files_from,
             "read names of files from FILE (-: standard input)");
  command.add_flag("-0", options_.nul_separated,
                   "names in the list end with NUL, not with a line feed");
}

void Tool::offer_list(CLI::App& command, const std::string& option, std::string* path,
                      const std::string& help) {
  command.add_option(option, *path, help)->type_name("FILE");
  lists_.emplace_back(option, path);
}

// Errors: kUsage if -0 is given without a list.
Status Tool::check_lists() const {
  std::string names;
  for (const auto& [option, path] : lists_) {
    if (!path->empty()) return {};
    names += (names.empty() ? "" : " or ") + option;
  }
  return options_.nul_separated ? Status(Code::kUsage, "-0 needs " + names) : Status();
}

// CLI11 expects the name of a subcommand before all options. Users may write the name after
// options, or omit the name.
std::vector<std::string> Tool::arguments(int argc, const char* const* argv) const {
  std::vector<std::string> out(argv + std::min(argc, 1), argv + argc);
  if (default_command_.empty()) return out;
  if (!out.empty() && (out[0] == "-h" || out[0] == "--help" || out[0] == "--version")) return out;
  const auto first = std::find_if(out.begin(), out.end(), [](const std::string& a) {
    return !a.starts_with('-') || a == "--";
  });
  const auto is_command = [&](const std::string& word) {
    return !app_.get_subcommands(
                    [&](const CLI::App* command) { return command->get_name() == word; })
                .empty();
  };
  const bool named = first != out.end() && is_command(*first);
  if (named)
    std::rotate(out.begin(), first, first + 1);
  else
    out.insert(out.begin(), default_command_);
  return out;
}

namespace {

// Throws if an option has an empty value, which a script passes by mistake if one of its variables
// is not set. Only the name of a block may be empty, because the root block has an empty name.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* const option : app.get_options())
    if (!option->get_positional() && option->get_type_name() != "BLOCK" &&
        option->get_type_name() != "GLOB" &&
        std::ranges::any_of(option->results(), &std::string::empty))
      throw CLI::ValidationError(option->get_name(), "needs a value that is not empty");
  for (const CLI::App* const command : app.get_subcommands()) refuse_empty_values(*command);
}

}  // namespace

bool Tool::parse(int argc, const char* const* argv) {
  std::vector<std::string> reversed = arguments(argc, argv);
  std::reverse(reversed.begin(), reversed.end());
  try {
    app_.parse(std::move(reversed));
    refuse_empty_values(app_);
  } catch (const CLI::CallForHelp&) {
    show_help(app_.help());
    return false;
  } catch (const CLI::CallForAllHelp&) {
    show_help(app_.help("", CLI::AppFormatMode::All));
    return false;
  } catch (const CLI::CallForVersion& version) {
    show_help(std::string(version.what()) + "\n");
    return false;
  } catch (const CLI::ParseError& error) {
    // An unknown option explains more than a missing one.
    const std::vector<std::string> unknown = app_.remaining(true);
    const bool is_unknown =
        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
        !unknown.empty();
    diagnostics_.error(Status(
        Code::kUsage, is_unknown ? CLI::ExtrasError(unknown).what() : std::string(error.what())));
    diagnostics_.note("\"" + name_ + " -h\" shows usage", true);
    return false;
  }
  diagnostics_.set_colour(use_colour(options_.colour, STDERR_FILENO));
  diagnostics_.set_quiet(options_.quiet);
  diagnostics_.set_strict(options_.strict);
  if (options_.pager) out_.use_pager();
  return true;
}

void Tool::show_help(const std::string& text) {
  if (!is_silent_) (void)out_.write(text);
}

int Tool::finish() {
  const Status closed = out_.close();
  if (!closed.ok() && !out_.pipe_closed()) diagnostics_.error(closed);
  diagnostics_.finish();
  // A signal that arrives after all work was done and the output was published does not change the
  // exit code.
  const int by_signal = interrupted_exit();
  return by_signal != 0 && diagnostics_.exit() != Exit::kDone
             ? by_signal
             : static_cast<int>(diagnostics_.exit());
}

int Tool::main(int argc, const char* const* argv, const std::function<Status()>& body) {
  if (argc == 2 && argv[1] == std::string_view("--manual-page")) {
    (void)out_.write(manual_page(app_, help_texts_));
    return finish();
  }
  if (argc == 3 && argv[1] == std::string_view("--completion"))
    if (const std::optional<std::string> script = completion_script(app_, argv[2])) {
      (void)out_.write(*script);
      return finish();
    }
  if (!parse(argc, argv)) return finish();
  Status status = check_lists();
  if (status.ok() && options_.memory > 0) status = limit_memory(options_.memory);
  try {
    if (status.ok()) status = body();
  } catch (const std::bad_alloc&) {
    status = Status(Code::kLimit, "out of memory");
  }
  // finish() reports a failure of standard output.
  if (!out_.is_failure(status)) diagnostics_.error(status);
  if (status.code() == Code::kLimit) note_memory_limit();
  return finish();
}

void Tool::note_memory_limit() {
  if (options_.memory > 0)
    diagnostics_.note("--mem allows " + human_bytes(options_.memory) + " per process");
}

}  // namespace nmb::tools
