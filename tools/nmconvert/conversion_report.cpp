#include "nmconvert/conversion_report.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "common/options/statistics_option.h"
#include "common/original_files.h"
#include "common/printing/not_written.h"
#include "common/printing/units.h"

namespace nmb::tools {

namespace {

using Outcome = ConversionRecord::Outcome;

std::vector<Table::Column> columns(bool digests) {
  std::vector<Table::Column> out{{"status"},
                                 {"bytes in", Table::Align::kRight},
                                 {"bytes out", Table::Align::kRight},
                                 {"seconds", Table::Align::kRight}};
  if (digests) {
    out.push_back({"sha256 in"});
    out.push_back({"sha256 out"});
  }
  for (const char* title : {"input", "output", "message"}) out.push_back({title});
  return out;
}

}  // namespace

ConversionReport::ConversionReport(Tool& tool, bool digests) : tool_(tool), digests_(digests) {
  if (!tool.options().json && !tool.options().jsonl) table_.emplace(tool.out(), columns(digests));
}

void ConversionReport::tell(const ConversionRecord& record) {
  if (!table_) {
    const auto layout = tool_.options().json ? JsonLayout::kDocument : JsonLayout::kLine;
    (void)write_json(tool_.out(), record_json(record), layout);
    return;
  }
  const auto bytes = [this](const std::optional<std::uint64_t>& count) {
    return count ? bytes_text(*count, tool_.options().bytes) : "-";
  };
  std::vector<std::string> cells{std::string(outcome_word(record.outcome)), bytes(record.bytes_in),
                                 bytes(record.bytes_out), fmt::format("{:.3f}", record.seconds)};
  if (digests_)
    for (const std::string& digest : {record.sha256_in, record.sha256_out})
      cells.push_back(digest.empty() ? "-" : digest);
  cells.push_back(record.of.input);
  cells.push_back(record.of.output);
  cells.push_back(record.status.ok() ? "" : with_option_names(record.status.text()));
  (void)table_->row(std::move(cells));
}

void ConversionReport::diagnose(const ConversionRecord& record, bool failure) {
  for (const std::string& warning : record.warnings) tool_.diagnostics().warning("", warning);
  for (const std::string& text : record.not_written) tool_.diagnostics().loss("", text);
  if (record.outcome == Outcome::kDone || record.outcome == Outcome::kFailed) {
    std::vector<std::pair<std::string, std::string>> losses;
    for (const std::string& loss : record.losses) losses.emplace_back(record.of.input, loss);
    report_losses(losses, record.outcome == Outcome::kDone, tool_.diagnostics());
  }
  if (record.without_statistics > 0)
    tool_.diagnostics().note(without_statistics_text(record.of.output, record.without_statistics));
  if (record.without_original > 0)
    tool_.diagnostics().note(without_original_text(
        record.of.output, record.without_original,
        record.of.block_by.empty() || record.of.block_by == "group" ? "--compress or --chunk"
                                                                    : "--block-by or --regroup"));
  if (const auto text =
          stored_twice_text(record.of.output, record.stored_twice, record.original_bytes))
    tool_.diagnostics().note(*text);
  if (!record.kind_note.empty()) tool_.diagnostics().note(record.kind_note);
  if (record.outside > 0 && !failure)
    tool_.diagnostics().note(outside_text(record.of.output, record.outside));
  // One note is enough for many files.
  if (!record.view_note.empty() && !std::exchange(noted_view_, true))
    tool_.diagnostics().note(record.of.output + ": " + record.view_note, record.has_large_view);
  for (const std::string& conflict : record.conflicts)
    tool_.diagnostics().error(Status(Code::kConflict, conflict));
  if (failure) tool_.diagnostics().error(record.status);
}

void ConversionReport::finish() {
  if (table_) (void)table_->finish();
}

}  // namespace nmb::tools
