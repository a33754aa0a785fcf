// Reads and writes the reports of --resume (see verify_journal.h).
#include "nmverify/verify_journal.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "nmb/text.h"
#include "nmverify/verify_report.h"

namespace nmb::tools {

namespace {

constexpr const char* kSchema = "nmb/verify_run/1";
constexpr int kMostDepth = 16;

// The options that decide what is checked.
Json options_json(const VerifyOptions& options) {
  constexpr const char* kExternal[] = {"none", "beneath", "any"};
  return {{"version", NMB_VERSION},
          {"level", level_name(options.level)},
          {"originals", options.originals},
          {"since", options.since},
          {"external", kExternal[static_cast<std::size_t>(options.external)]}};
}

Json optional_json(const std::optional<std::uint64_t>& number) {
  return number ? Json(*number) : Json();
}

std::optional<std::uint64_t> optional_number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<std::uint64_t>());
}

std::string bytes_in(const Json& json) { return bytes_of_json_text(json.get<std::string>()); }

Json finding_json(const Finding& finding) {
  Json json{{"rule", finding.rule},
            {"severity", static_cast<int>(finding.severity)},
            {"offset", finding.offset},
            {"object", json_text(finding.object)},
            {"found", json_text(finding.found)},
            {"expected", json_text(finding.expected)},
            {"statement", finding.is_statement}};
  if (const auto& piece = finding.piece)
    json["piece"] = {{"number", piece->number},
                     {"begin", piece->begin},
                     {"end", piece->end},
                     {"variables", json_texts(piece->variables)},
                     {"more", piece->more_variables}};
  return json;
}

Finding finding_in(const Json& json) {
  Finding finding{json.at("rule").get<std::string>(),
                  json.at("offset").get<std::uint64_t>(),
                  bytes_in(json.at("object")),
                  bytes_in(json.at("found")),
                  bytes_in(json.at("expected")),
                  json.at("severity").get<int>() == 0 ? Severity::kWarning : Severity::kFinding};
  finding.is_statement = json.at("statement").get<bool>();
  const auto found = json.find("piece");
  if (found == json.end()) return finding;
  DamagedPiece& piece = finding.piece.emplace();
  piece.number = found->at("number").get<std::uint64_t>();
  piece.begin = found->at("begin").get<std::uint64_t>();
  piece.end = found->at("end").get<std::uint64_t>();
  for (const Json& name : found->at("variables")) piece.variables.push_back(bytes_in(name));
  piece.more_variables = found->at("more").get<std::uint64_t>();
  return finding;
}

Json checked_json(const CheckedValues& checked) {
  Json faults = Json::array();
  for (const ValueFault& fault : checked.faults)
    faults.push_back({{"range", fault.range},
                      {"sum", optional_json(fault.wrong_sum)},
                      {"decodes", fault.decodes},
                      {"padding", optional_json(fault.dirty_padding)}});
  return {{"ranges", checked.ranges}, {"bytes_read", checked.bytes_read}, {"faults", faults}};
}

// Adds the line of checked_json() to the values that were checked before.
void add_checked(const Json& json, CheckedValues* checked) {
  checked->ranges = json.at("ranges").get<std::uint64_t>();
  checked->bytes_read = json.at("bytes_read").get<std::uint64_t>();
  for (const Json& fault : json.at("faults"))
    checked->faults.push_back({fault.at("range").get<std::uint64_t>(),
                               optional_number(fault.at("sum")), fault.at("decodes").get<bool>(),
                               optional_number(fault.at("padding"))});
}

// The counts of a VerifySummary, with their names.
template <class Summary, class Visit>
void for_each_count(Summary& summary, Visit visit) {
  visit("recorded_blocks", summary.recorded_blocks);
  visit("sound_blocks", summary.sound_blocks);
  visit("damaged_blocks", summary.damaged_blocks);
  visit("unchanged_blocks", summary.unchanged_blocks);
  visit("findings", summary.findings);
  visit("warnings", summary.warnings);
  visit("bytes_read", summary.bytes_read);
  visit("originals", summary.originals);
  visit("whole_originals", summary.whole_originals);
}

}  // namespace

Result<std::unique_ptr<VerifyJournal>> VerifyJournal::open(const std::string& path,
                                                           const VerifyOptions& options) {
  NMB_ASSIGN(std::unique_ptr<ReportFile> file, ReportFile::open(path, kSchema));
  std::unique_ptr<VerifyJournal> journal(new VerifyJournal(std::move(file)));
  const Json asked = options_json(options);
  NMB_TRY(journal->file_->for_each_line([&](std::string_view text) {
    const std::optional<Json> line = parse_object(text, kMostDepth);
    if (line) journal->read_line(*line);
  }));
  journal->read_ = nullptr;
  if (journal->options_.is_null()) {
    journal->write(Json{{"schema", kSchema}, {"options", asked}});
  } else if (journal->options_ != asked) {
    return Status(Code::kUsage, path, kNoOffset, "",
                  "the report belongs to a check with other options: " +
                      printable(journal->options_.dump()) + "; choose another report");
  }
  NMB_TRY(journal->status_);
  return journal;
}

// Ignores a line that has not the form of the lines that this class writes.
void VerifyJournal::read_line(const Json& line) {
  try {
    if (const auto options = line.find("options"); options != line.end()) {
      if (options_.is_null()) options_ = *options;
    } else if (const auto file = line.find("file"); file != line.end()) {
      read_ = &records_[bytes_in(*file)];
      *read_ = {line.at("size").get<std::uint64_t>(), line.at("modified_ns").get<std::int64_t>()};
    } else if (!read_) {
      return;
    } else if (const auto finding = line.find("finding"); finding != line.end()) {
      read_->found.emplace_back(finding_in(*finding));
    } else if (const auto block = line.find("damaged_block"); block != line.end()) {
      read_->found.emplace_back(bytes_in(*block));
    } else if (const auto checked = line.find("checked"); checked != line.end()) {
      add_checked(*checked, &read_->checked);
    } else if (const auto end = line.find("end"); end != line.end()) {
      VerifySummary summary;
      summary.kind = end->at("kind").get<std::string>();
      for_each_count(summary, [&](const char* name, std::uint64_t& count) {
        count = end->at(name).get<std::uint64_t>();
      });
      read_->summary = std::move(summary);
      read_ = nullptr;
    }
  } catch (const std::exception&) {
    // The record is not complete, so the file is checked again.
    if (read_) *read_ = {};
    read_ = nullptr;
  }
}

const VerifyJournal::Record* VerifyJournal::begin_file(const std::string& name) {
  const Result<FileStamp> stamp = FileSource::stamp_of(name);
  const FileStamp known = stamp.ok() ? *stamp : FileStamp();
  const auto found = records_.find(name);
  const Record* const record = found != records_.end() && stamp.ok() &&
                                       found->second.size == known.size &&
                                       found->second.modified_ns == known.modified_ns
                                   ? &found->second
                                   : nullptr;
  if (record && record->summary) return record;
  has_gap_ = false;
  write(Json{{"file", json_text(name)}, {"size", known.size}, {"modified_ns", known.modified_ns}});
  if (!record || record->checked.ranges == 0) return record;
  // A line has few faults, so that it is not too long.
  constexpr std::size_t kFaultsOfLine = 256;
  const std::vector<ValueFault>& faults = record->checked.faults;
  CheckedValues part{0, record->checked.bytes_read, {}};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    part.faults.push_back(faults[i]);
    part.ranges = faults[i].range + 1;
    if (part.faults.size() < kFaultsOfLine) continue;
    checked(part);
    part.faults.clear();
  }
  part.ranges = record->checked.ranges;
  checked(part);
  return record;
}

void VerifyJournal::found(const Finding& finding) { write({{"finding", finding_json(finding)}}); }

void VerifyJournal::found_damaged_block(const std::string& block) {
  write({{"damaged_block", json_text(block)}});
}

void VerifyJournal::checked(const CheckedValues& values) {
  write({{"checked", checked_json(values)}});
}

void VerifyJournal::end_file(const VerifySummary& summary) {
  if (has_gap_) return;
  Json end{{"kind", summary.kind}};
  for_each_count(summary, [&](const char* name, std::uint64_t count) { end[name] = count; });
  write({{"end", std::move(end)}});
}

void VerifyJournal::write(const Json& line) {
  const std::string text = line.dump(-1, ' ', true);
  has_gap_ = has_gap_ || text.size() > ReportFile::kLongestLine;
  if (status_.ok() && text.size() <= ReportFile::kLongestLine) status_ = file_->append(text);
}

}  // namespace nmb::tools
