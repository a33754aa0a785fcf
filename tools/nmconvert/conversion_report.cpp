// Writes messages about conversions (see conversion_report.h).
#include "nmconvert/conversion_report.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "common/original_files.h"
#include "common/statistics_option.h"
#include "common/units.h"

namespace nmb::tools {

namespace {

using Outcome = ConversionRecord::Outcome;

// Largest number of losses of each kind that are shown.
constexpr std::size_t kShownLosses = 10;

// Returns the text of a loss without the name of its object.
std::string_view kind_of(std::string_view loss) {
  const std::size_t end = loss.find("\": ");
  return end == loss.npos ? loss : loss.substr(end + 3);
}

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
  cells.push_back(record.status.ok() ? "" : record.status.text());
  (void)table_->row(std::move(cells));
}

void ConversionReport::diagnose(const ConversionRecord& record, bool failure) {
  for (const std::string& warning : record.warnings) tool_.diagnostics().warning("", warning);
  for (const std::string& text : record.not_written) tool_.diagnostics().loss("", text);
  diagnose_losses(record);
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
  // One note is enough for many files.
  if (!record.view_note.empty() && !std::exchange(noted_view_, true))
    tool_.diagnostics().note(record.of.output + ": " + record.view_note);
  for (const std::string& conflict : record.conflicts)
    tool_.diagnostics().error(Status(Code::kConflict, conflict));
  if (failure) tool_.diagnostics().error(record.status);
}

void ConversionReport::diagnose_losses(const ConversionRecord& record) {
  const std::size_t count = record.losses.size();
  if (record.outcome == Outcome::kDone && count > 0)
    tool_.diagnostics().note(record.of.input + ": " + std::to_string(count) +
                                 (count == 1 ? " loss" : " losses") + ", listed in JSON reports",
                             true);
  if (record.outcome != Outcome::kFailed) return;
  // Shows only some losses of each kind; reports list all.
  std::map<std::string_view, std::size_t> counts;
  for (const std::string& loss : record.losses)
    if (++counts[kind_of(loss)] <= kShownLosses)
      tool_.diagnostics().error(Status(Code::kConflict, record.of.input, kNoOffset, "", loss));
  for (const auto& [kind, found] : counts)
    if (found > kShownLosses)
      tool_.diagnostics().error(
          Status(Code::kConflict, record.of.input, kNoOffset, "",
                 fmt::format("{} more of this kind: {} (JSON reports list all)",
                             found - kShownLosses, kind)));
}

void ConversionReport::finish() {
  if (table_) (void)table_->finish();
}

}  // namespace nmb::tools
