#include "merge/reporting/merge.h"

#include <utility>

#include "calls/arguments.h"
#include "calls/call_options.h"
#include "wire/enumerators.h"

namespace nmb {

namespace {

Status take(const MergeOptions& options, PackOptions* all) {
  NMB_TRY(check_enumerator(options.to, FileKind::kUnknown, "FileKind"));
  if (!options.netcdf && options.to != FileKind::kHdf5)
    return Status(Code::kUsage, "MergeOptions::netcdf = false needs FileKind::kHdf5");
  all->mode = options.mode;
  if (options.to == FileKind::kHdf5) {
    all->hdf5.emplace().plain = !options.netcdf;
  } else if (options.to != FileKind::kNmb) {
    NMB_ASSIGN(all->classic, classic_kind(options.to));
  }
  all->block_name = options.block_name;
  all->block_by = options.block_by;
  all->samples = options.samples;
  all->tags = options.tags;
  all->tag_names = options.tag_names;
  all->sort_by = options.sort_by;
  NMB_ASSIGN(all->compression, compression_of(options.storing));
  all->writer.hdf5_view = options.hdf5_view;
  all->writer.statistics = options.statistics;
  all->originals = options.originals ? Originals::kStore : Originals::kNone;
  set_output(options, &all->writer);
  all->writer.dry_run = options.dry_run;
  all->resume = options.resume;
  all->check = options.check;
  all->strict = options.strict;
  all->external = options.external;
  return {};
}

std::vector<Conflict> conflicts_of(const std::vector<PackConflict>& list) {
  std::vector<Conflict> out;
  for (const PackConflict& c : list)
    out.push_back({std::string(conflict_name(c.kind)), c.object, c.first_file, c.second_file,
                   c.found, c.expected, c.text()});
  return out;
}

MergeReport report_of(PackReport&& report) {
  MergeReport out;
  out.conflicts = conflicts_of(report.conflicts);
  out.differing = conflicts_of(report.differing);
  out.left_out = conflicts_of(report.left_out);
  out.filled = conflicts_of(report.filled);
  out.widened = conflicts_of(report.widened);
  out.rebased = conflicts_of(report.rebased);
  for (const PackLoss& loss : report.losses) out.losses.push_back(loss.path + ": " + loss.line());
  out.unreadable = std::move(report.unreadable);
  out.warnings = std::move(report.warnings);
  if (!report.view_note.empty()) out.warnings.push_back(std::move(report.view_note));
  out.inputs = report.inputs;
  out.bytes_in = report.bytes_in;
  out.bytes_out = report.bytes_out;
  out.totals = report.totals;
  return out;
}

}  // namespace

Status try_merge(const std::vector<std::string>& inputs, const std::string& output,
                 const MergeOptions& options, MergeReport* report) {
  PackReport packed;
  const Status status = with_ranks(options.ranks, [&](Communicator& ranks) -> Status {
    std::vector<std::string> files = inputs;
    files.push_back(output);
    NMB_TRY(agree_on_arguments(ranks, "merge()", options, files));
    if (inputs.empty()) return Status(Code::kUsage, "no inputs");
    PackOptions all;
    all.inputs = inputs;
    all.output = output;
    NMB_TRY(take(options, &all));
    return pack(all, &packed, ranks);
  });
  if (report) *report = report_of(std::move(packed));
  return status;
}

}  // namespace nmb
