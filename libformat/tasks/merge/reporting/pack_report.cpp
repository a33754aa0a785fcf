#include "merge/reporting/pack_report.h"

#include <algorithm>
#include <iterator>

#include "model/name_rules.h"
#include "parallel/outbox.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, FoundConflict& found) {
  PackConflict& conflict = found.conflict;
  all(found.occurrence, conflict.kind, conflict.object, conflict.first_file, conflict.second_file,
      conflict.found, conflict.expected);
}

template <class Fields>
void fields(Fields& all, PackSource& source) {
  all(source.index, source.bytes, source.provenance);
}

template <class Fields>
void fields(Fields& all, PackReport& report) {
  all(report.inputs, report.bytes_in, report.digested, report.without_original,
      report.parted_originals, report.has_classic_blocks, report.unreadable, report.sources,
      report.losses, report.warnings);
}

namespace {

// The message of a rank to rank 0.
struct RankReport {
  Status failure;
  std::vector<FoundConflict> conflicts;
  PackReport report;
};

template <class Fields>
void fields(Fields& all, RankReport& of_rank) {
  all(of_rank.failure, of_rank.conflicts, of_rank.report);
}

template <class T>
void append(std::vector<T>* list, std::vector<T> more) {
  std::ranges::move(more, std::back_inserter(*list));
}

}  // namespace

Status gather_report(Communicator& ranks, std::vector<FoundConflict> conflicts, PackReport* report,
                     Status* failure) {
  Outbox<RankReport> out;
  if (ranks.rank() != 0) out.add(0, {*failure, conflicts, *report});
  NMB_ASSIGN(Inbox<RankReport> arrived, exchange(ranks, out));
  for (auto& [rank, of_rank] : arrived) {
    if (failure->ok()) *failure = of_rank.failure;
    append(&conflicts, std::move(of_rank.conflicts));
    PackReport& more = of_rank.report;
    report->inputs += more.inputs;
    report->bytes_in += more.bytes_in;
    report->digested += more.digested;
    report->without_original += more.without_original;
    report->parted_originals += more.parted_originals;
    report->has_classic_blocks |= more.has_classic_blocks;
    append(&report->unreadable, std::move(more.unreadable));
    append(&report->sources, std::move(more.sources));
    append(&report->losses, std::move(more.losses));
    append(&report->warnings, std::move(more.warnings));
  }
  if (ranks.rank() != 0) return {};
  std::ranges::stable_sort(conflicts, {}, &FoundConflict::occurrence);
  std::ranges::sort(report->sources, {}, &PackSource::index);
  std::ranges::stable_sort(report->losses, {}, &PackLoss::input);
  for (FoundConflict& found : conflicts) report->conflicts.push_back(std::move(found.conflict));
  return {};
}

std::string PackOptions::input_name(std::size_t index) const {
  const std::vector<std::string>* const blocks = blocks_of(index);
  return blocks ? inputs[index] + ": block " + in_quotes(blocks->front()) : inputs[index];
}

bool stores_originals(const PackOptions& options) {
  return (options.originals == Originals::kStore ||
          options.originals == Originals::kStoreIfPossible) &&
         options.packs() && options.block_by.by == BlockRule::By::kGroup && !options.compression &&
         !options.pack().link && !options.classic && !options.hdf5;
}

Status verdict(const PackReport& report, const PackOptions& options) {
  for (const Status& status : report.unreadable)
    if (status.code() != Code::kDamaged) return status;
  if (!report.unreadable.empty()) return report.unreadable.front();
  const auto conflict = [&](std::size_t count, const char* thing, const char* more) {
    return Status(Code::kConflict, options.output, kNoOffset, "",
                  std::to_string(count) + " " + thing + (count == 1 ? "" : "s") + more +
                      (options.output.empty() ? "" : "; nothing was written"));
  };
  if (!report.conflicts.empty()) return conflict(report.conflicts.size(), "conflict", "");
  const auto lost = static_cast<std::size_t>(std::ranges::count_if(
      report.losses, [](const PackLoss& loss) { return loss.kind != PackLoss::Kind::kDamage; }));
  if (options.refused_losses == RefusedLosses::kAll && lost > 0)
    return conflict(lost, "thing", " that the output cannot keep");
  const auto lost_values = static_cast<std::size_t>(
      std::ranges::count(report.losses, PackLoss::Kind::kValues, &PackLoss::kind));
  if (options.refused_losses == RefusedLosses::kValues && lost_values > 0)
    return conflict(lost_values, "variable",
                    " without values in the output; keep the originals (mode pack with "
                    "MergeOptions::originals, without MergeOptions::storing, Storing::chunk, "
                    "Storing::shuffle, Pack::link and MergeOptions::block_by)");
  const std::size_t warnings = report.warnings.size() + report.losses.size();
  if (options.strict && warnings > 0)
    return conflict(warnings, "warning", " with MergeOptions::strict");
  return {};
}

std::string PackConflict::text() const {
  // The root block has an empty name.
  const bool is_root = kind == ConflictKind::kBlockName && object.empty();
  std::string out = std::string(conflict_name(kind)) + " " + (is_root ? "/" : object);
  switch (kind) {
    // The name of the kind says what is wrong.
    case ConflictKind::kMissingVariable:
    case ConflictKind::kExtraVariable:
    case ConflictKind::kMissingBlock:
    case ConflictKind::kMissingRows:
    case ConflictKind::kMissingTile:
      break;
    case ConflictKind::kCoordinate:
      out += ": " + found;
      break;
    case ConflictKind::kBlockName:
    case ConflictKind::kGroup:
      out += expected.empty() ? ": " + found : ": found " + found + ", expected " + expected;
      break;
    default:
      out += ": found " + found;
      if (!expected.empty()) out += ", expected " + expected;
  }
  out += ": " + first_file;
  if (!second_file.empty()) out += " and " + second_file;
  return out;
}

}  // namespace nmb
