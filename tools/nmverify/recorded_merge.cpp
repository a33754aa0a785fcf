#include "nmverify/recorded_merge.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "common/printing/history_line.h"
#include "common/printing/json_document.h"
#include "prove/planned_content.h"

namespace nmb::tools {

namespace {

constexpr const char* kSeries = "one-file-per-variable";
// Instead of an option: the name of a variable of the file.
constexpr const char* kVariable = "variable";

RecordedOptions options_of(const Json& options) {
  RecordedOptions out;
  for (const auto& [name, value] : options.items()) {
    const Json values = value.is_array() ? value : Json::array({value});
    for (const Json& one : values)
      out.emplace_back(name, one.is_string() ? one.get<std::string>() : "true");
  }
  return out;
}

Result<RecordedOptions> options_in_provenance(const FileReader& reader) {
  NMB_ASSIGN(const std::vector<std::string> texts, reader.provenance());
  std::vector<RecordedOptions> runs;
  for (const std::string& text : texts) {
    constexpr int kMostDepth = 256;
    const std::optional<Json> json = parse_object(text, kMostDepth);
    if (!json || json->value("tool", Json()) != "nmcat") continue;
    const auto options = json->find("options");
    if (options != json->end() && options->is_object()) runs.push_back(options_of(*options));
  }
  return runs.size() == 1 ? std::move(runs.front()) : RecordedOptions();
}

// Reads "nmcat VERSION --NAME VALUE --NAME ...: N files: FIRST to LAST" (see history_line()).
RecordedOptions options_in_history(std::string_view line) {
  RecordedOptions out;
  std::vector<std::string> words = words_of(line);
  // The options end at the first ':' that stands before the number of files.
  std::size_t end = 1;
  while (end + 1 < words.size() && !(words[end - 1].ends_with(':') &&
                                     (words[end + 1] == "file:" || words[end + 1] == "files:")))
    ++end;
  if (end + 1 >= words.size()) return out;
  words.resize(end);
  words.back().pop_back();
  for (std::size_t i = 2; i < words.size(); ++i)
    if (words[i].starts_with("--"))
      out.emplace_back(words[i].substr(2), "true");
    else if (!out.empty())
      out.back().second = words[i];
  return out;
}

}  // namespace

Result<RecordedOptions> recorded_options(const InspectedFile& file) {
  if (file.reader()) return options_in_provenance(*file.reader());
  NMB_ASSIGN(const RecordedHistory history, recorded_history(file.content()));
  RecordedOptions options = options_in_history(history.line);
  if (history.line.starts_with("nmcat ")) return options;
  // Another file that nmconvert wrote has one source.
  if (std::ranges::count(options, kSeries, &RecordedOptions::value_type::first) == 0)
    return RecordedOptions();
  options.emplace_back("mode", "join");
  for (const std::string& name : history.variables) options.emplace_back(kVariable, name);
  return options;
}

Status RecordedMerge::take(const RecordedOptions& recorded, const std::string& file) {
  CLI::App app;
  rules_.offer_mode(app);
  rules_.offer_agreement(app);
  rules_.offer_blocks(app);
  subset_.offer(app);
  std::vector<std::string> arguments;
  for (const auto& [name, value] : recorded) {
    for (const char* refused : {"blocks-from", "exclude", "where", "shard", "key", "split-names"})
      if (name == refused)
        return Status(Code::kUnsupported, file, kNoOffset, "",
                      fmt::format("the file was made with nmcat --{}, which --against does not "
                                  "support with --mode union, join and tiles",
                                  name));
    if (name == "hdf5-view" && (value == "on" || value == "auto"))
      options_.writer.hdf5_view = Hdf5View::kAuto;
    const CLI::Option* const option = app.get_option_no_throw("--" + name);
    if (!option) continue;
    arguments.push_back("--" + name);
    if (option->get_expected_max() > 0) arguments.push_back(value);
  }
  std::ranges::reverse(arguments);  // CLI11 takes the last argument first
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Error& error) {
    return Status(Code::kUsage, file, kNoOffset, "",
                  fmt::format("the recorded options of nmcat cannot be read ({}); give --mode and "
                              "the other options",
                              error.what()));
  }
  NMB_TRY(rules_.take());
  NMB_ASSIGN(options_.subset, subset_.parse());
  for (const auto& [name, value] : recorded) {
    if (name != kVariable) continue;
    if (!options_.subset) options_.subset.emplace();
    options_.subset->variables.push_back(
        {value, [only = value](std::string_view found) { return found == only; }});
  }
  return {};
}

}  // namespace nmb::tools
