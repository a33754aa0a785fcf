#include "nmverify/verify_journal.h"

#include <algorithm>
#include <utility>

#include "common/printing/json_fields.h"
#include "model/text.h"
#include "nmverify/files_report.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, DamagedPiece& piece) {
  all("number", piece.number);
  all("begin", piece.begin);
  all("end", piece.end);
  all("variables", piece.variables);
  all("more", piece.more_variables);
}

template <class Fields>
void fields(Fields& all, Finding& finding) {
  int severity = static_cast<int>(finding.severity);
  all("rule", finding.rule);
  all("severity", severity);
  all("offset", finding.offset);
  all("object", finding.object);
  all("found", finding.found);
  all("expected", finding.expected);
  all("statement", finding.is_statement);
  all.if_any("piece", finding.piece);
  if constexpr (Fields::kReceives)
    finding.severity = severity == 0 ? Severity::kWarning : Severity::kFinding;
}

template <class Fields>
void fields(Fields& all, ValueFault& fault) {
  all("range", fault.range);
  all("sum", fault.wrong_sum);
  all("decodes", fault.decodes);
  all("padding", fault.dirty_padding);
}

template <class Fields>
void fields(Fields& all, CheckedValues& checked) {
  all("ranges", checked.ranges);
  all("bytes_read", checked.bytes_read);
  all("faults", checked.faults);
}

template <class Fields>
void fields(Fields& all, VerifySummary& summary) {
  all("kind", summary.kind);
  all("recorded_blocks", summary.recorded_blocks);
  all("sound_blocks", summary.sound_blocks);
  all("damaged_blocks", summary.damaged_blocks);
  all("unchanged_blocks", summary.unchanged_blocks);
  all("findings", summary.findings);
  all("warnings", summary.warnings);
  all("bytes_read", summary.bytes_read);
  all("originals", summary.originals);
  all("whole_originals", summary.whole_originals);
}

namespace tools {

namespace {

constexpr const char* kSchema = "nmb/verify_run/1";
constexpr int kMostDepth = 16;

// The options that decide what is checked.
Json options_json(const VerifierOptions& options) {
  constexpr const char* kExternal[] = {"none", "beneath", "any"};
  return {{"version", NMB_VERSION},
          {"level", level_name(options.level)},
          {"originals", options.originals},
          {"since", options.since},
          {"external", kExternal[static_cast<std::size_t>(options.external)]}};
}

// Begins the lines about a file.
struct FileLine {
  std::string file;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
};

template <class Fields>
void fields(Fields& all, FileLine& line) {
  all("file", line.file);
  all("size", line.size);
  all("modified_ns", line.modified_ns);
}

}  // namespace

Result<std::unique_ptr<VerifyJournal>> VerifyJournal::open(const std::string& path,
                                                           const VerifierOptions& options) {
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

// Ignores a line that does not have a form that this class writes. The record is then incomplete,
// so the file is checked again.
void VerifyJournal::read_line(const Json& line) {
  if (const auto options = line.find("options"); options != line.end()) {
    if (options_.is_null()) options_ = *options;
    return;
  }
  bool is_right = true;
  bool ends = false;
  if (line.contains("file")) {
    FileLine file;
    is_right = take_json_fields(line, &file);
    if (is_right) {
      read_ = &records_[file.file];
      *read_ = {file.size, file.modified_ns};
    }
  } else if (!read_) {
    return;
  } else if (const auto finding = line.find("finding"); finding != line.end()) {
    Finding found{};
    is_right = take_json_fields(*finding, &found);
    read_->found.emplace_back(std::move(found));
  } else if (const auto block = line.find("damaged_block"); block != line.end()) {
    is_right = block->is_string();
    if (is_right) read_->found.emplace_back(bytes_of_json_text(block->get<std::string>()));
  } else if (const auto checked = line.find("checked"); checked != line.end()) {
    // The faults are added to the faults of earlier lines.
    is_right = take_json_fields(*checked, &read_->checked);
  } else if (const auto end = line.find("end"); end != line.end()) {
    is_right = take_json_fields(*end, &read_->summary.emplace());
    ends = true;
  }
  if (is_right && !ends) return;
  if (!is_right && read_) *read_ = {};
  read_ = nullptr;
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
  write(json_fields(FileLine{name, known.size, known.modified_ns}));
  if (!record || record->checked.ranges == 0) return record;
  // No line has more faults than this, so that lines are not too long.
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

void VerifyJournal::found(const Finding& finding) { write({{"finding", json_fields(finding)}}); }

void VerifyJournal::found_damaged_block(const std::string& block) {
  write({{"damaged_block", json_text(block)}});
}

void VerifyJournal::checked(const CheckedValues& values) {
  write({{"checked", json_fields(values)}});
}

void VerifyJournal::end_file(const VerifySummary& summary) {
  if (has_gap_) return;
  write({{"end", json_fields(summary)}});
}

void VerifyJournal::write(const Json& line) {
  const std::string text = line.dump(-1, ' ', true);
  has_gap_ = has_gap_ || text.size() > ReportFile::kLongestLine;
  if (status_.ok() && text.size() <= ReportFile::kLongestLine) status_ = file_->append(text);
}

}  // namespace tools

}  // namespace nmb
