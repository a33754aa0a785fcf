#include "nmverify/source_names.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "common/printing/json_document.h"

namespace nmb::tools {

namespace {

// Returns the name of an input as provenance records it.
std::string recorded_name(const std::string& path) {
  return json_text(std::filesystem::path(path).filename().string());
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

// Returns nullopt if the text is not the record of a run of nmcat.
Result<std::optional<SourceNames::MergeRun>> SourceNames::read_run(const std::string& file,
                                                                   const std::string& text) {
  constexpr int kMostDepth = 256;
  const std::optional<Json> json = parse_object(text, kMostDepth);
  if (!json || text_of(*json, "tool") != "nmcat") return std::optional<MergeRun>();
  const auto options = json->find("options");
  std::string block_name;
  if (options != json->end() && options->is_object()) {
    block_name = text_of(*options, "block-name");
    const std::string mode = text_of(*options, "mode");
    std::string refused = mode.empty() || mode == "pack" ? "" : "--mode " + mode;
    for (const char* option : {"split-names", "blocks-from", "exclude", "where", "shard"})
      if (refused.empty() && options->contains(option)) refused = fmt::format("--{}", option);
    if (!refused.empty())
      return Status(Code::kUnsupported, file, kNoOffset, "",
                    "the file was made with nmcat " + refused +
                        "; --against can only compare files whose inputs became blocks whole");
  }
  MergeRun run;
  NMB_ASSIGN(run.names, BlockNames::make(block_name, false));
  const auto inputs = json->find("inputs");
  if (inputs != json->end() && inputs->is_array())
    for (std::size_t i = 0; i < inputs->size(); ++i)
      if ((*inputs)[i].is_object()) run.inputs[text_of((*inputs)[i], "name")].push_back(i);
  return std::optional(std::move(run));
}

Result<SourceNames> SourceNames::find(const std::string& file, const FileReader* reader,
                                      const std::optional<std::string>& block_name,
                                      std::vector<std::string> sources) {
  SourceNames names;
  names.sources_ = std::move(sources);
  if (reader) {
    NMB_ASSIGN(const std::vector<std::string> texts, reader->provenance());
    for (const std::string& text : texts) {
      NMB_ASSIGN(std::optional<MergeRun> run, read_run(file, text));
      if (run) names.runs_.push_back(std::move(*run));
    }
  }
  if (names.runs_.empty()) {
    NMB_ASSIGN(names.runs_.emplace_back().names, BlockNames::make("", false));
  }
  if (block_name)
    for (MergeRun& run : names.runs_) {
      NMB_ASSIGN(run.names, BlockNames::make(*block_name, false));
    }
  names.place_sources();
  return names;
}

// A source belongs to the last run that had an input of its name. If no run had one, it belongs to
// the last run.
void SourceNames::place_sources() {
  std::map<std::string, std::size_t> seen;  // number of earlier sources with the same name
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const std::string name = recorded_name(sources_[i]);
    const std::size_t earlier = seen[name]++;
    MergeInput place{runs_.size() - 1, i};
    for (std::size_t run = runs_.size(); run-- > 0;) {
      const auto found = runs_[run].inputs.find(name);
      if (found == runs_[run].inputs.end()) continue;
      place.run = run;
      if (earlier < found->second.size()) place.index = found->second[earlier];
      break;
    }
    places_.push_back(place);
  }
}

Result<std::string> SourceNames::name(std::size_t source, bool has_groups,
                                      std::string_view group) const {
  const MergeInput& place = places_[source];
  return runs_[place.run].names.of(has_groups).expand(sources_[source], place.index, group);
}

PathMove SourceNames::move(std::size_t source, std::string_view group) const {
  const MergeInput& place = places_[source];
  return runs_[place.run].names.move(sources_[source], place.index, group);
}

}  // namespace nmb::tools
