#include "common/command_line/help_formatter.h"

#include <algorithm>
#include <string_view>

namespace nmb::tools {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kWidestName = 24;

// Breaks `text` into lines between words. The caller places the first line at column `indent`; the
// other lines are indented here.
std::string filled(std::string_view text, std::size_t indent = 0) {
  std::string out;
  std::size_t column = indent;
  const auto break_line = [&] {
    out.append("\n").append(indent, ' ');
    column = indent;
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      break_line();
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (column > indent && column + 1 + (end - at) > kWidth) break_line();
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out.append(text.substr(at, end - at));
    column += end - at;
    at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return out;
}

struct Row {
  std::string name;
  std::string text;
};

std::string table(const std::vector<Row>& rows, bool is_brief) {
  std::size_t widest = 0;
  for (const Row& row : rows)
    if (row.name.size() <= kWidestName) widest = std::max(widest, row.name.size());
  const std::size_t indent = 2 + widest + 2;
  std::string out;
  for (const Row& row : rows) {
    std::string line = "  " + row.name;
    if (row.name.size() > widest)
      line += "\n" + std::string(indent, ' ');
    else
      line.resize(indent, ' ');
    line += is_brief ? filled(first_clause(row.text, kWidth - indent), indent)
                     : filled(row.text, indent);
    out += line + "\n";
  }
  return out;
}

class HelpFormatter final : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(const HelpTexts& texts) : texts_(texts) {}

  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override {
    const HelpText& text = texts_.at(command);
    const std::string head =
        filled(text.summary) + "\nUsage: " + filled(usage_of(*command, name), 7) + "\n\n";
    return head + (mode == CLI::AppFormatMode::All ? whole(*command, name, text)
                                                   : one_screen(*command, name, text));
  }

 private:
  static Row row_of(const CLI::Option& option) {
    const std::string value = value_of(option);
    return {names_of(option) + (value.empty() ? "" : " " + value), option.get_description()};
  }

  static std::string one_screen(const CLI::App& command, const std::string& name,
                                const HelpText& text) {
    std::vector<Row> rows;
    std::size_t left_out = 0;
    for (const CLI::Option* option : arguments_of(command)) {
      const auto is_option = [&](const std::string& one) { return option->check_name(one); };
      if (text.frequent.empty() || option->get_positional() ||
          std::ranges::any_of(text.frequent, is_option))
        rows.push_back(row_of(*option));
      else
        ++left_out;
    }
    std::string out = table(rows, true) + "\n";
    rows.clear();
    for (const CLI::App* subcommand : command.get_subcommands({}))
      rows.push_back({subcommand->get_name(), subcommand->get_description()});
    if (!rows.empty()) out += table(rows, false) + "\n" + name + " COMMAND -h, ";
    return out + name +
           " --help: " + (left_out > 0 ? std::to_string(left_out) + " more options, " : "") +
           "details and examples\n";
  }

  std::string whole(const CLI::App& command, const std::string& name, const HelpText& text) const {
    std::vector<Row> rows;
    for (const CLI::Option* option : arguments_of(command)) rows.push_back(row_of(*option));
    std::string out = table(rows, false);
    if (!text.details.empty()) out += "\n" + filled(text.details) + "\n";
    if (!text.examples.empty()) out += "\nExamples:\n" + text.examples + "\n";
    for (const CLI::App* subcommand : command.get_subcommands({}))
      out += "\n\n" +
             make_help(subcommand, name + " " + subcommand->get_name(), CLI::AppFormatMode::All);
    return out;
  }

  const HelpTexts& texts_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter(const HelpTexts& texts) {
  return std::make_shared<HelpFormatter>(texts);
}

}  // namespace nmb::tools
