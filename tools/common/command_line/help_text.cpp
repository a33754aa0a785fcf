#include "common/command_line/help_text.h"

#include <algorithm>

namespace nmb::tools {

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
  std::vector<const CLI::Option*> all =
      command.get_options([](const CLI::Option* option) { return option->get_positional(); });
  const std::vector<const CLI::Option*> named =
      command.get_options([](const CLI::Option* option) { return !option->get_positional(); });
  all.insert(all.end(), named.begin(), named.end());
  return all;
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string names = option.get_name(false, true);
  // CLI11 writes "{false}" behind the name of a flag that turns something off.
  constexpr std::string_view kOff = "{false}";
  for (std::size_t at; (at = names.find(kOff)) != names.npos;) names.erase(at, kOff.size());
  return names;
}

std::string value_of(const CLI::Option& option) {
  if (option.get_positional() || option.get_type_size() == 0) return "";
  return option.get_type_name() + (option.get_expected_max() > 1 ? " ..." : "");
}

constexpr std::size_t kShortestClause = 12;

std::string brief(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  if (const std::size_t end = text.rfind(" ("); text.ends_with(')') && end <= width)
    return text.substr(0, end);
  if (const std::size_t end = std::min({text.find("; "), text.find(": "), text.find(" (")});
      end <= width && end >= kShortestClause)
    return text.substr(0, end);
  return text.substr(0, text.rfind(' ', width - 4)) + " ...";
}

std::string first_clause(const std::string& text, std::size_t width) {
  const std::string short_text = brief(text, width);
  if (!short_text.ends_with(" ...")) return short_text;
  std::size_t end = text.size();
  for (const char* const mark : {"; ", ": ", ". ", " ("})
    if (const std::size_t at = text.find(mark, kShortestClause); at < end) end = at;
  return text.substr(0, end);
}

std::string usage_of(const CLI::App& command, const std::string& name) {
  std::string out = name + " [OPTIONS]";
  for (const CLI::Option* option : arguments_of(command)) {
    if (!option->get_positional()) continue;
    const std::string word = names_of(*option) + (option->get_expected_max() > 1 ? "..." : "");
    out += option->get_required() ? " " + word : " [" + word + "]";
  }
  if (!command.get_subcommands({}).empty()) out += " COMMAND";
  return out;
}

}  // namespace nmb::tools
