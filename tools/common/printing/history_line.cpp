#include "common/printing/history_line.h"

#include <filesystem>
#include <string_view>

#include "common/printing/units.h"
#include "model/text.h"

namespace nmb::tools {

namespace {

// Returns a word as a shell reads it: in quotes if it has other characters than names of files
// usually have.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%{}";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  if (word.find('\'') != word.npos && word.find_first_of("\"$`\\!") == word.npos)
    return '"' + word + '"';
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool is_new = true;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && c == ' ') {
      is_new = true;
      continue;
    }
    if (is_new) words.emplace_back();
    is_new = false;
    if (quote == 0 && c == '\\' && i + 1 < line.size())
      words.back() += line[++i];
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = 0;
    else
      words.back() += c;
  }
  return words;
}

std::string history_line(std::string_view tool, const Json& options,
                         std::span<const std::string> inputs) {
  std::string line = std::string(tool) + " " NMB_VERSION;
  for (const auto& [name, value] : options.items()) {
    // An option that is repeated is an array, and a flag is true.
    const Json values = value.is_array() ? value : Json::array({value});
    for (const Json& one : values) {
      line += " --" + name;
      if (one.is_string()) line += " " + shell_word(one.get<std::string>());
    }
  }
  const auto name_of = [](const std::string& path) {
    return printable(std::filesystem::path(path).filename().string());
  };
  const std::size_t count = inputs.size();
  line += ": " + counted(count, "file") + ": " + name_of(inputs.front());
  if (count > 1) line += (count == 2 ? " and " : " to ") + name_of(inputs.back());
  return line;
}

}  // namespace nmb::tools
