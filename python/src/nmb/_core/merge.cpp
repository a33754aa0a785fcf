// merge().
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>
#include <nmb/merge.h>

#include <utility>

#include "background.h"
#include "errors.h"
#include "handles.h"
#include "shared_options.h"
#include "text.h"

namespace nmb_python {

namespace {

// Returns the choice of blocks, or nullopt if all are taken.
std::optional<nmb::BlockChoice> choice_of(const OptionValues& values, Background& background) {
  nmb::BlockChoice choice;
  bool any = false;
  if (!values.is_none("blocks")) {
    choice.names = values.texts("blocks");
    any = true;
  }
  if (!values.is_none("where")) {
    choice.where = values.text("where");
    any = true;
  }
  if (const nb::object excludes = values.at("exclude"); !excludes.is_none()) {
    // `values` keeps the function until the call ends.
    choice.excludes = [&background,
                       function = excludes.ptr()](std::string_view name) -> nmb::Result<bool> {
      bool is_out = false;
      const nmb::Status status =
          background.call([&] { is_out = nb::cast<bool>(nb::handle(function)(to_text(name))); });
      return status.ok() ? nmb::Result<bool>(is_out) : status;
    };
    any = true;
  }
  if (const nb::object shard = values.at("shard"); !shard.is_none()) {
    nmb::BlockShard part;
    part.first = nb::cast<std::uint64_t>(shard[0]);
    part.count = nb::cast<std::uint64_t>(shard[1]);
    choice.shard = part;
    any = true;
  }
  return any ? std::optional(std::move(choice)) : std::nullopt;
}

nmb::MergeMode mode_of(const OptionValues& values, Background& background) {
  const int mode = values.choice<int>("mode", {"pack", "union", "join", "tiles"});
  const nmb::Agreement agreement{values.flag("strict_attributes"), values.flag("first_values")};
  const auto mismatch = values.choice<nmb::Mismatch>("on_mismatch", {"error", "skip", "widen"});
  std::optional<nmb::BlockChoice> choice = choice_of(values, background);
  if (mode == 0) {
    nmb::Pack pack;
    pack.append = values.flag("append");
    pack.replace = values.flag("replace_blocks");
    pack.link = values.flag("link");
    pack.digests = values.choice<nmb::RecordedDigests>("digests", {"none", "xxh3", "sha256"});
    pack.choice = std::move(choice);
    return pack;
  }
  if (mode == 1) return nmb::Union{agreement, mismatch, std::move(choice)};
  if (mode == 2) {
    nmb::Join join;
    join.along = values.text("along");
    join.key = values.text("key");
    join.history = values.text("history");
    join.drop_tracking_id = values.flag("drop_tracking_id");
    join.agreement = agreement;
    join.on_mismatch = mismatch;
    join.fill_missing = values.flag("fill_missing");
    join.monotonic = values.flag("monotonic");
    join.rebase_times = values.flag("rebase_times");
    join.choice = std::move(choice);
    return join;
  }
  nmb::Tiles tiles;
  tiles.agreement = agreement;
  tiles.skip_mismatches = mismatch == nmb::Mismatch::kSkip;
  tiles.fill_missing = values.flag("fill_missing");
  tiles.choice = std::move(choice);
  if (mismatch == nmb::Mismatch::kWiden)
    need(nmb::Status(nmb::Code::kUsage, "on_mismatch: values of tiles are not widened"));
  return tiles;
}

nb::list conflict_list(const nb::module_& reports, const std::vector<nmb::Conflict>& conflicts) {
  nb::list out;
  for (const nmb::Conflict& c : conflicts)
    out.append(reports.attr("Conflict")(to_text(c.kind), to_text(c.object), to_text(c.first_file),
                                        to_text(c.second_file), to_text(c.found),
                                        to_text(c.expected), to_text(c.text)));
  return out;
}

nb::object report_of(const nmb::MergeReport& report) {
  const nb::module_ reports = nb::module_::import_("nmb._reports");
  nb::list unreadable;
  for (const nmb::Status& status : report.unreadable) unreadable.append(exception_of(status));
  return reports.attr("MergeReport")(
      conflict_list(reports, report.conflicts), conflict_list(reports, report.differing),
      conflict_list(reports, report.left_out), conflict_list(reports, report.filled),
      conflict_list(reports, report.widened), conflict_list(reports, report.rebased),
      to_list(report.losses), unreadable, to_list(report.warnings), report.inputs, report.bytes_in,
      report.bytes_out, to_tuple(report.totals));
}

// Returns (failure or none, report).
nb::tuple merge_files(nb::list inputs, nb::handle output, nb::dict options, nb::object progress) {
  const OptionValues values(std::move(options));
  Background background(std::move(progress));
  nmb::MergeOptions all;
  all.mode = mode_of(values, background);
  all.to = kind_of(values, &all.netcdf);
  all.block_name = values.text("block_name");
  all.block_by = need(nmb::BlockRule::try_parse(values.text("block_by")));
  all.block_by.keep_unmatched = values.flag("keep_unmatched");
  all.samples = need(nmb::SampleRule::try_parse(values.text("samples")));
  for (const std::string& tag : values.texts("tags"))
    all.tags.push_back(need(nmb::TagRule::try_parse(tag)));
  all.tag_names = values.text("tag_names");
  all.sort_by = values.text("sort_by");
  all.storing = storing_of(values);
  all.hdf5_view = view_of(values);
  all.statistics = level_of(values);
  all.originals = values.flag("originals");
  all.replace = values.flag("replace");
  all.sync = values.flag("sync");
  all.dry_run = values.flag("dry_run");
  all.check = values.flag("check");
  all.strict = values.flag("strict");
  all.external = external_of(values);
  all.threads = values.number<unsigned>("threads");
  all.progress = background.progress();
  all.cancel = background.cancel();
  std::vector<std::string> files;
  for (nb::handle file : inputs) files.push_back(from_text(file));
  const std::string to = from_text(output);
  nmb::MergeReport report;
  nmb::Status status;
  background.run([&] { status = nmb::try_merge(files, to, all, &report); });
  return nb::make_tuple(status.ok() ? nb::none() : exception_of(status), report_of(report));
}

}  // namespace

void bind_merge(nb::module_& module) {
  module.def("merge", &merge_files, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace nmb_python
