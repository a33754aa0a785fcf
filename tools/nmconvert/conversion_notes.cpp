#include "nmconvert/conversion_notes.h"

#include <algorithm>
#include <utility>

#include "common/printing/not_written.h"
#include "common/printing/units.h"

namespace nmb::tools {

Status ConversionNotes::warn_of_tags(const Result<TagCounts>& counts) {
  NMB_TRY(counts.status());
  if (counts->tags > 0) lose(no_place_for_tags(*counts));
  return {};
}

Status ConversionNotes::warn_of_what_stays(const FileReader& reader) {
  NMB_ASSIGN(const std::vector<std::string> lines, not_written_lines(reader));
  for (const std::string& line : lines) lose(line);
  return {};
}

Status ConversionNotes::check_warnings() const {
  const std::size_t count = record_.warnings.size() + record_.not_written.size() +
                            (options_.lossy ? record_.losses.size() : 0);
  if (!options_.strict || count == 0) return {};
  return Status(Code::kConflict, record_.of.output, kNoOffset, "",
                counted(count, "warning") + " with --strict; nothing was written");
}

Status ConversionNotes::accept_losses(const std::vector<Loss>& losses, const std::string& target) {
  for (const Loss& loss : losses) record_.losses.push_back(loss.line());
  return record_.losses.empty() || options_.lossy ? check_warnings() : refused_losses(target);
}

Status ConversionNotes::accept_losses(const Hdf5Losses& lost) {
  for (const Loss& change : lost.changes) warn(change.line());
  for (const Loss& damaged : lost.damaged) lose(damaged.line());
  if (lost.records.blocks > 0) lose(no_place_for_records(lost.records));
  NMB_TRY(check_warnings());
  return accept_losses(lost.losses, "an HDF5 file");
}

void ConversionNotes::take_report(PackReport* report) {
  const std::vector<std::string> warnings = std::exchange(report->warnings, {});
  // The warnings of pack() repeat the warnings from the opening of an NMB file, so the earlier
  // copies are removed.
  std::erase_if(record_.warnings, [&](const std::string& warning) {
    return std::ranges::find(warnings, warning) != warnings.end();
  });
  record_.warnings.insert(record_.warnings.end(), warnings.begin(), warnings.end());
  // The output has the stored bytes of damaged chunks, so these are warnings, not losses.
  std::erase_if(report->losses, [&](const PackLoss& loss) {
    if (loss.kind == PackLoss::Kind::kDamage) lose(loss.line());
    return loss.kind == PackLoss::Kind::kDamage;
  });
  record_.without_statistics = report->without_statistics;
  record_.originals = report->originals;
  record_.digested = report->digested;
  record_.without_original = report->without_original;
  record_.original_bytes = report->original_bytes;
  record_.stored_twice = report->stored_twice;
  record_.outside = report->outside;
  record_.view_note = report->view_note;
  record_.has_large_view = report->has_large_view;
  for (const PackConflict& conflict : std::exchange(report->conflicts, {}))
    record_.conflicts.push_back(conflict.text());
}

Status ConversionNotes::take_losses(const PackReport& report, const Status& status) {
  for (const PackLoss& loss : report.losses) record_.losses.push_back(loss.line());
  if (options_.lossy || report.losses.empty() || status.code() != Code::kConflict ||
      !record_.conflicts.empty())
    return status;
  return refused_losses("the output");
}

Status ConversionNotes::refused_losses(const std::string& target) const {
  const std::size_t count = record_.losses.size();
  return Status(Code::kConflict, record_.of.input, kNoOffset, "",
                target + " cannot hold " + counted(count, "thing") +
                    "; use --lossy to write the rest; nothing was written");
}

}  // namespace nmb::tools
