#include "nmverify/against_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_set>
#include <utility>

#include "common/options/file_list.h"
#include "common/options/ranks.h"
#include "common/printing/difference_text.h"
#include "common/printing/json_document.h"
#include "common/printing/json_fields.h"
#include "common/printing/progress.h"
#include "common/printing/units.h"
#include "compare/compare.h"
#include "handles/inspected_file.h"
#include "model/text.h"
#include "nmverify/recorded_merge.h"
#include "nmverify/source_names.h"
#include "prove/prove_merge.h"
#include "wire/natural_order.h"

namespace nmb::tools {

namespace {

constexpr const char* kOptionsOfBlocks[] = {"--split-names", "--unmatched", "--unique", "--samples",
                                            "--sort"};

// Some blocks of a file, perhaps with other names.
class ContentSubset {
 public:
  struct NamePair {
    std::string name, in_file;  // its name here and in the file
  };

  // Keeps only the blocks in `blocks` that the file has. `file` must outlive this object.
  static Result<ContentSubset> of(const InspectedFile& file, std::vector<NamePair> blocks) {
    ContentSubset chosen(file);
    for (NamePair& block : blocks) {
      NMB_ASSIGN(const std::optional<BlockEntry> entry, file.find(block.in_file));
      if (entry) chosen.blocks_.push_back(std::move(block));
    }
    std::ranges::sort(chosen.blocks_, {}, &NamePair::name);
    return chosen;
  }

  const std::vector<NamePair>& blocks() const { return blocks_; }
  // Returns the content of these blocks. The result refers to this object.
  ContentFile content() const {
    return {{[this](std::string_view name) { return find(name); },
             [this](std::string_view prefix, const auto& visit) {
               return for_each_entry(prefix, visit);
             },
             [this](const BlockEntry& entry) {
               const NamePair* const block = find_block(entry.name);
               return file_.dataset(block ? block->in_file : entry.name);
             }},
            file_.file().size()};
  }

 private:
  explicit ContentSubset(const InspectedFile& file) : file_(file) {}

  const NamePair* find_block(std::string_view name) const {
    const auto found = std::ranges::lower_bound(blocks_, name, {}, &NamePair::name);
    return found != blocks_.end() && found->name == name ? &*found : nullptr;
  }
  Result<std::optional<BlockEntry>> find(std::string_view name) const {
    const NamePair* const block = find_block(name);
    if (!block) return std::optional<BlockEntry>();
    NMB_ASSIGN(std::optional<BlockEntry> entry, file_.find(block->in_file));
    if (entry) entry->name = block->name;
    return entry;
  }
  Status for_each_entry(std::string_view prefix,
                        const std::function<Result<bool>(const BlockEntry&)>& visit) const {
    for (const NamePair& block : blocks_) {
      if (!block.name.starts_with(prefix)) continue;
      NMB_ASSIGN(const std::optional<BlockEntry> entry, find(block.name));
      NMB_ASSIGN(const bool more, visit(*entry));
      if (!more) break;
    }
    return {};
  }

  const InspectedFile& file_;
  std::vector<NamePair> blocks_;  // by name
};

struct SourceOutcome {
  std::string text;                 // lines, or elements of a JSON array
  std::vector<std::string> blocks;  // blocks of the file that were compared
  bool is_same = true;
  Status status;  // why the source could not be compared completely
};

template <class Fields>
void fields(Fields& all, SourceOutcome& outcome) {
  all("text", outcome.text);
  all("blocks", outcome.blocks);
  all("is_same", outcome.is_same);
  all("status", outcome.status);
}

// Appends an element of a JSON array.
void add_json(const Json& json, std::string* text) {
  *text += (text->empty() ? "\n    " : ",\n    ") + json.dump(-1, ' ', true);
}

// Appends a difference as a line or as JSON. about: the file that the line begins with. source: the
// name of the first file.
void add_difference(bool is_json, const std::string& about, const std::string& source,
                    const std::string& file, const DefinitionDifference& difference,
                    std::string* text) {
  if (is_json)
    add_json(difference_json(difference), text);
  else
    *text += printable(about) + ": " + difference_line(difference, source, file) + "\n";
}
void add_difference(bool is_json, const std::string& about, const ComparedVariable& variable,
                    std::string* text) {
  if (variable.different == 0) return;
  if (is_json)
    add_json(difference_json(variable), text);
  else
    for (const std::string& line : difference_lines(variable))
      *text += printable(about) + ": " + line + "\n";
}

class Comparison {
 public:
  Comparison(Tool& tool, const InspectedFile& file, const SourceNames& names,
             std::shared_ptr<ReadMeter> meter, unsigned threads)
      : tool_(tool), file_(file), names_(names), meter_(std::move(meter)) {
    options_.content.threads = threads;
    options_.content.set_memory(tool.options().memory);
  }

  SourceOutcome compare_source(std::size_t number) {
    SourceOutcome outcome;
    outcome.status = compare(number, &outcome);
    return outcome;
  }

  // Returns the names of the blocks that were made from none of the sources. compared: the names of
  // all others.
  Result<std::vector<std::string>> without_source(const std::unordered_set<std::string>& compared) {
    std::vector<ContentSubset::NamePair> others;
    NMB_TRY(file_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      if (!compared.contains(entry.name)) others.push_back({entry.name, entry.name});
      return true;
    }));
    NMB_ASSIGN(const ContentSubset chosen, ContentSubset::of(file_, std::move(others)));
    NMB_ASSIGN(const ContentSubset none, ContentSubset::of(file_, {}));
    std::vector<std::string> names;
    // Empty blocks do not count as a difference.
    NMB_TRY(compare_files(chosen.content(), none.content(), options_,
                          {[&](const DefinitionDifference& difference) {
                             names.push_back(difference.block);
                             return Status();
                           },
                           [](const ComparedVariable&) { return Status(); }})
                .status());
    return names;
  }

 private:
  Status compare(std::size_t number, SourceOutcome* outcome) {
    const std::string& path = names_.sources()[number];
    NMB_ASSIGN(const std::shared_ptr<const InputFile> input, InputFile::open(path, meter_));
    Result<InspectedFile> opened =
        InspectedFile::open(input, {.external = tool_.options().external});
    if (!opened.ok()) return opened.status().in_file(path);
    const InspectedFile& source = *opened;
    std::vector<ContentSubset::NamePair> blocks;
    NMB_TRY(source.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      NMB_ASSIGN(std::string name, names_.name(number, !source.is_classic(), entry.name));
      blocks.push_back({std::move(name), entry.name});
      return true;
    }));
    std::vector<ContentSubset::NamePair> wanted;
    for (const ContentSubset::NamePair& block : blocks) wanted.push_back({block.name, block.name});
    const PathMove move = blocks.empty() || source.is_classic()
                              ? PathMove()
                              : names_.move(number, blocks.front().in_file);
    NMB_ASSIGN(const ContentSubset first, ContentSubset::of(source, std::move(blocks)));
    NMB_ASSIGN(const ContentSubset second, ContentSubset::of(file_, std::move(wanted)));
    for (const ContentSubset::NamePair& block : second.blocks())
      outcome->blocks.push_back(block.name);
    ContentFile content = first.content();
    content.move = move;
    NMB_ASSIGN(outcome->is_same,
               compare_files(content, second.content(), options_, visitor(path, &outcome->text)));
    return {};
  }

  ComparisonVisitor visitor(const std::string& source, std::string* text) const {
    const bool is_json = tool_.options().json;
    const std::string file = file_.file().name();
    return {[is_json, text, source, file](const DefinitionDifference& difference) {
              add_difference(is_json, source, source, file, difference, text);
              return Status();
            },
            [is_json, text, source](const ComparedVariable& variable) {
              add_difference(is_json, source, variable, text);
              return Status();
            }};
  }

  Tool& tool_;
  const InspectedFile& file_;
  const SourceNames& names_;
  const std::shared_ptr<ReadMeter> meter_;
  ComparisonOptions options_;
};

// Writes the outcomes of the sources, in their order.
class AgainstReport {
 public:
  AgainstReport(Tool& tool, std::string file) : tool_(tool), file_(std::move(file)) {}

  Status begin() {
    if (!tool_.options().json) return {};
    return tool_.out().write("{\n \"schema\": \"nmb/against/1\",\n \"file\": " + quoted(file_) +
                             ",\n \"sources\": [");
  }
  Status add(const std::string& source, const SourceOutcome& outcome) {
    tool_.diagnostics().error(outcome.status);
    compared_.insert(outcome.blocks.begin(), outcome.blocks.end());
    all_known_ = all_known_ && outcome.status.ok();
    const bool is_same = outcome.status.ok() && outcome.is_same;
    same_ += is_same ? 1 : 0;
    if (!outcome.is_same || !outcome.text.empty()) tool_.diagnostics().raise(Exit::kFindings);
    const bool is_first = sources_++ == 0;
    if (!tool_.options().json) return tool_.out().write(outcome.text);
    return tool_.out().write(
        (is_first ? "\n  {\"source\": " : ",\n  {\"source\": ") + quoted(source) +
        ", \"blocks\": " + std::to_string(outcome.blocks.size()) + ", \"differences\": [" +
        outcome.text + "], \"same\": " + (is_same ? "true" : "false") + ", \"error\": " +
        (outcome.status.ok() ? "null" : quoted(with_option_names(outcome.status.text()))) + "}");
  }
  // Adds differences of a merged file that belong to no single source.
  Status add_merged(const std::string& text) {
    is_merged_ = true;
    if (text.empty()) return {};
    merged_same_ = false;
    tool_.diagnostics().raise(Exit::kFindings);
    if (!tool_.options().json) return tool_.out().write(text);
    merged_ += (merged_.empty() ? "" : ",") + text;
    return {};
  }
  const std::unordered_set<std::string>& compared() const { return compared_; }
  // If a source could not be read, it is unknown which blocks have no source.
  bool all_known() const { return all_known_; }
  // others: the blocks without a source; nullopt if they are unknown.
  Status end(const std::optional<std::vector<std::string>>& others) {
    if (others && !others->empty()) tool_.diagnostics().raise(Exit::kFindings);
    const bool is_same = same_ == sources_ && others && others->empty() && merged_same_;
    if (tool_.options().json)
      return tool_.out().write((sources_ == 0 ? "]" : "\n ]") +
                               (is_merged_ ? ",\n \"merged\": [" + merged_ + "]" : "") +
                               std::string(",\n \"blocks_without_source\": ") +
                               (others ? json_texts(*others).dump(-1, ' ', true) : "null") +
                               ",\n \"same\": " + (is_same ? "true" : "false") + "\n}\n");
    if (others)
      for (const std::string& block : *others)
        NMB_TRY(
            tool_.out().write(printable(file_) + ": no source: block /" + printable(block) + "\n"));
    if (is_same && tool_.options().quiet) return {};
    std::string line =
        fmt::format("{}: {}, {} of {} the same, {} compared", printable(file_),
                    is_same       ? "equal to its sources"
                    : !all_known_ ? "not wholly compared"
                                  : "not equal to its sources",
                    same_, counted(sources_, "source"), counted(compared_.size(), "block"));
    if (others && !others->empty())
      line += fmt::format(", {} without source", counted(others->size(), "block"));
    NMB_TRY(tool_.out().write(line + "\n"));
    if (compared_.empty() && others && !others->empty() && !is_merged_)
      tool_.diagnostics().note(
          file_ +
          ": found no block of a SOURCE; if SOURCEs were united or joined, give --mode and the "
          "other options of nmcat; if blocks have other names, give --block-name");
    return {};
  }

 private:
  static std::string quoted(const std::string& text) {
    return Json(json_text(text)).dump(-1, ' ', true);
  }

  Tool& tool_;
  const std::string file_;
  std::unordered_set<std::string> compared_;
  std::uint64_t sources_ = 0, same_ = 0;
  bool all_known_ = true;
  std::string merged_;  // elements of a JSON array
  bool is_merged_ = false, merged_same_ = true;
};

// Opens a source for prove_merge().
Result<ProofInput> open_source(const std::string& path, const std::shared_ptr<ReadMeter>& meter,
                               ExternalPaths external) {
  NMB_ASSIGN(const std::shared_ptr<const InputFile> input, InputFile::open(path, meter));
  Result<InspectedFile> opened = InspectedFile::open(input, {.external = external});
  if (!opened.ok()) return opened.status().in_file(path);
  const auto source = std::make_shared<const InspectedFile>(std::move(*opened));
  return ProofInput{source->content(), !source->is_classic(), source->memory(), source};
}

// Compares a file with the sources that were united, joined, put together or cut to make it.
class MergedComparison {
 public:
  MergedComparison(Tool& tool, const InspectedFile& file, PackOptions merge,
                   const MergeRules& rules, AgainstReport& report)
      : tool_(tool), file_(file), rules_(rules), report_(report) {
    proof_.merge = std::move(merge);
  }

  Status run(const std::shared_ptr<ReadMeter>& meter, unsigned threads) {
    proof_.comparison.content.threads = threads;
    proof_.comparison.content.set_memory(tool_.options().memory);
    proof_.merge.external = tool_.options().external;
    proof_.merge.writer.threads = threads;
    proof_.open = [&](const std::string& path) {
      return open_source(path, meter, tool_.options().external);
    };
    if (file_.is_classic()) {
      NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_.dataset(""));
      proof_.classic = dataset->kind();
    }
    proof_.is_hdf5 = !file_.is_classic() && !file_.reader();
    PackReport planned;
    const Status status = prove_merge(file_.content(), proof_, visitor(), &planned).status();
    rules_.report_differing(planned, proof_.merge.inputs.size(), tool_.diagnostics());
    note_archive(tool_, planned, proof_.merge.inputs);
    report_unreadable(tool_, planned);
    report_conflicts(tool_, planned, proof_.merge.inputs.size());
    if (!planned.unreadable.empty()) return {};  // reported already
    NMB_TRY(status);
    NMB_TRY(begin());
    NMB_TRY(report_.add_merged({}));
    return report_.end(std::vector<std::string>());
  }

 private:
  // The report begins after the merge was planned.
  Status begin() { return std::exchange(has_begun_, true) ? Status() : report_.begin(); }

  ProofVisitor visitor() {
    const bool is_json = tool_.options().json;
    return {[this, is_json](const DefinitionDifference& difference) -> Status {
              std::string text;
              const std::string& name = file_.file().name();
              add_difference(is_json, name, "the sources", name, difference, &text);
              NMB_TRY(begin());
              return report_.add_merged(text);
            },
            [this, is_json](const ComparedVariable& variable) -> Status {
              std::string text;
              add_difference(is_json, "no source", variable, &text);
              return report_.add_merged(text);
            },
            [this, is_json](const ProvedInput& input) -> Status {
              SourceOutcome outcome;
              for (const ComparedVariable& variable : input.different)
                add_difference(is_json, input.name, variable, &outcome.text);
              outcome.blocks = input.blocks;
              outcome.is_same = input.different.empty() && !input.is_unplaced;
              outcome.status = input.status;
              NMB_TRY(begin());
              return report_.add(input.name, outcome);
            }};
  }

  Tool& tool_;
  const InspectedFile& file_;
  const MergeRules& rules_;
  AgainstReport& report_;
  MergeProof proof_;
  bool has_begun_ = false;
};

// Sends the outcomes of all ranks to rank 0, which receives them in the order of the ranks.
Result<std::vector<SourceOutcome>> gather(Communicator& ranks,
                                          const std::optional<SourceOutcome>& own) {
  std::vector<Communicator::Parcel> parcels;
  if (own) {
    const std::vector<std::uint8_t> bytes = Json::to_msgpack(json_fields(*own, JsonBytes::kRaw));
    const auto view = std::as_bytes(std::span(bytes));
    parcels.push_back({0, {view.begin(), view.end()}});
  }
  NMB_ASSIGN(const std::vector<Message> messages, ranks.exchange(std::move(parcels)));
  std::vector<SourceOutcome> outcomes;
  for (const Message& message : messages) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(message.bytes().data());
    const Json json = Json::from_msgpack(begin, begin + message.bytes().size(), true, false);
    if (!take_json_fields(json, &outcomes.emplace_back(), JsonBytes::kRaw))
      return Status(Code::kUsage, "a message of another rank is not the outcome of a source");
  }
  return outcomes;
}

// Returns the total size of the sources that a rank reads. A source that cannot be opened counts as
// 0.
std::uint64_t bytes_of(const std::vector<std::string>& sources, std::size_t first,
                       std::size_t step) {
  std::uint64_t bytes = 0;
  for (std::size_t i = first; i < sources.size(); i += step)
    if (const Result<FileStamp> stamp = FileSource::stamp_of(sources[i]); stamp.ok())
      bytes += stamp->size;
  return bytes;
}

}  // namespace

void AgainstCommand::offer(CLI::App& app) {
  app.add_option("--against", sources_,
                 "compare FILE with the files from which nmcat made it: definitions and values of "
                 "each block must be those of its SOURCE. If the SOURCEs were united, joined, put "
                 "together or cut, give --mode and the other options of nmcat, unless FILE records "
                 "them (.nmb files, and the attribute history of joined files)")
      ->type_name("SOURCE");
  subset_.offer(app);
  tool_.offer_list(app, "--against-from", &sources_from_,
                   "like --against, with the names of the sources in FILE (-: standard input)");
}

Status AgainstCommand::check(const CLI::App& app, std::size_t files) const {
  for (const char* option : kSubsetOptions)
    if (app.count(option) > 0 && !is_wanted())
      return Status(Code::kUsage, fmt::format("{} needs --against", option));
  if (!is_wanted()) return {};
  for (const char* option : {"--level", "--originals", "--files-from"})
    if (app.count(option) > 0)
      return Status(Code::kUsage, fmt::format("--against and {} exclude each other", option));
  if (files != 1)
    return Status(Code::kUsage, fmt::format("--against needs one FILE; found {}", files));
  return {};
}

// Returns how the sources were merged, or nullopt if each source became blocks of its own. given:
// the options of the command line.
Result<std::optional<PackOptions>> AgainstCommand::merge_of(const InspectedFile& file,
                                                            const PackOptions& given) {
  PackOptions merge = given;
  NMB_ASSIGN(merge.subset, subset_.parse());
  RecordedMerge recorded;
  if (tool_.app().count("--mode") == 0 && !merge.subset) {
    NMB_ASSIGN(const RecordedOptions options, recorded_options(file));
    const auto mode = std::ranges::find(options, "mode", &RecordedOptions::value_type::first);
    const bool is_subset = std::ranges::any_of(options, [](const auto& option) {
      return std::ranges::count(kSubsetOptions, "--" + option.first) > 0;
    });
    if (!is_subset && (mode == options.end() || mode->second == "pack"))
      return std::optional<PackOptions>();
    for (const char* option : kOptionsOfBlocks)
      if (tool_.app().count(option) > 0)
        return Status(Code::kUsage,
                      fmt::format("{} needs --mode and the other options of nmcat; without --mode, "
                                  "the options that FILE records are used",
                                  option));
    NMB_TRY(recorded.take(options, file.file().name()));
    merge = recorded.options();
    if (!given.block_name.empty()) merge.block_name = given.block_name;
  }
  if (merge.packs()) {
    for (const char* option : kOptionsOfBlocks)
      if (tool_.app().count(option) > 0)
        return Status(Code::kUsage,
                      fmt::format("{} needs --set, or --mode union, join or tiles", option));
    return std::optional<PackOptions>();
  }
  merge.inputs = sources_;
  if (merge.sorts_blocks_by_name) std::ranges::stable_sort(merge.inputs, natural_less);
  return std::optional(std::move(merge));
}

// Collective.
Status AgainstCommand::gather_sources(Communicator& ranks) {
  NMB_TRY(ranks.first([&]() -> Status {
    if (sources_from_.empty()) return {};
    NMB_ASSIGN(const std::vector<std::string> listed,
               read_file_list(sources_from_, tool_.options().nul_separated));
    sources_.insert(sources_.end(), listed.begin(), listed.end());
    if (sources_.empty()) return Status(Code::kUsage, sources_from_, kNoOffset, "", "no sources");
    return {};
  }));
  return send_names(ranks, &sources_);
}

Status AgainstCommand::run(const std::string& path, const std::optional<std::string>& block_name,
                           const PackOptions& merge, const MergeRules& rules, std::uint64_t rate,
                           Communicator& ranks, unsigned threads) {
  ranks.set_names_ranks(false);  // all ranks open the same file
  NMB_TRY(gather_sources(ranks));
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const auto size = static_cast<std::size_t>(ranks.size());
  Progress progress(tool_, path);
  std::optional<InspectedFile> file;
  std::optional<SourceNames> names;
  std::optional<PackOptions> merged;
  std::shared_ptr<ReadMeter> meter;
  NMB_TRY(ranks.agree([&]() -> Status {
    // Each byte of a source is also read from the file.
    meter = std::make_shared<ReadMeter>(rate == 0 ? 0 : std::max<std::uint64_t>(1, rate / size),
                                        2 * bytes_of(sources_, rank, size),
                                        rank == 0 ? progress.callback() : nullptr);
    NMB_ASSIGN(const std::shared_ptr<const InputFile> input, InputFile::open(path, meter));
    Result<InspectedFile> opened =
        InspectedFile::open(input, {.external = tool_.options().external});
    if (!opened.ok()) return opened.status().in_file(path);
    file.emplace(std::move(*opened));
    NMB_ASSIGN(merged, merge_of(*file, merge));
    if (!merged) NMB_ASSIGN(names, SourceNames::find(path, file->reader(), block_name, sources_));
    return {};
  }()));
  if (const FileReader* const reader = file->reader())
    for (const Finding& warning : reader->warnings()) tool_.diagnostics().warning(path, warning);
  AgainstReport report(tool_, path);
  if (merged)
    return ranks.first([&]() -> Status {
      const Status status =
          MergedComparison(tool_, *file, *std::move(merged), rules, report).run(meter, threads);
      progress.finish();
      return status;
    });
  Comparison comparison(tool_, *file, *names, meter, threads);
  NMB_TRY(ranks.first([&] { return report.begin(); }));
  for (std::size_t first = 0; first < sources_.size(); first += size) {
    std::optional<SourceOutcome> own;
    if (first + rank < sources_.size()) own = comparison.compare_source(first + rank);
    NMB_ASSIGN(const std::vector<SourceOutcome> outcomes, gather(ranks, own));
    progress.finish();
    NMB_TRY(ranks.first([&]() -> Status {
      for (std::size_t i = 0; i < outcomes.size(); ++i)
        NMB_TRY(report.add(sources_[first + i], outcomes[i]));
      return {};
    }));
  }
  return ranks.first([&]() -> Status {
    std::optional<std::vector<std::string>> others;
    if (report.all_known()) {
      NMB_ASSIGN(others, comparison.without_source(report.compared()));
    }
    return report.end(others);
  });
}

}  // namespace nmb::tools
