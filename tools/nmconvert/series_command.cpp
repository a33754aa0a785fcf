#include "nmconvert/series_command.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "common/options/file_list.h"
#include "common/options/merge_rules.h"
#include "common/options/output_kind.h"
#include "common/options/ranks.h"
#include "common/printing/history_line.h"
#include "common/printing/json_document.h"
#include "common/printing/not_written.h"
#include "common/printing/units.h"
#include "files/files.h"
#include "merge/input_kinds.h"
#include "nmconvert/new_folders.h"
#include "nmconvert/series.h"
#include "reader/file_reader.h"
#include "wire/natural_order.h"

namespace nmb::tools {

namespace {

// Sets the kind of the outputs: the value of --to, or the kind that the ending of --name means, or
// else the kind of the inputs.
Status set_kind(const SeriesArguments& arguments, SeriesOptions* options) {
  static const std::map<std::string_view, Kind> kKinds{
      {"cdf1", Kind::kCdf1}, {"cdf2", Kind::kCdf2}, {"cdf5", Kind::kCdf5}};
  const std::string_view ending = kind_by_ending(options->name);
  const std::string_view to = arguments.to.empty() ? ending : arguments.to;
  if (to == "nmb" || to == "hdf5")
    return Status(Code::kUsage,
                  "--one-file-per-variable writes netCDF files; end --name with .nc, .nc3, .cdf or "
                  ".nc4, or use --to with cdf1, cdf2, cdf5 or nc4");
  if (to == "nc4") return {};
  if (const auto known = kKinds.find(to); known != kKinds.end()) {
    options->classic = known->second;
    return {};
  }
  PackOptions all;
  all.inputs = options->inputs;
  all.external = options->external;
  NMB_ASSIGN(const InputKinds kinds, kinds_of_inputs(all));
  options->classic = kinds.output();
  if (!kinds.hdf5 || to != "classic") return {};
  return Status(Code::kUsage, options->inputs[*kinds.hdf5], kNoOffset, "",
                "the ending of --name does not determine the kind of the outputs for a netCDF-4 "
                "input; use --to with cdf1, cdf2, cdf5 or nc4");
}

// Returns the options that affect the bytes of the outputs.
Json deciding_options(Tool& tool) {
  Json json = Json::object();
  for (const char* const name : {"one-file-per-variable", "to", "sort", "compress", "shuffle",
                                 "chunk", "keep-tracking-id", "time-units"}) {
    const CLI::Option& option = *tool.app().get_option("--" + std::string(name));
    if (option.count() == 0) continue;
    json[name] = option.get_items_expected_max() == 0 ? Json(true)
                                                      : Json(json_text(option.results().front()));
  }
  return json;
}

void tell(Tool& tool, const PackReport& report) {
  for (const std::string& warning : report.warnings) tool.diagnostics().warning("", warning);
  for (const auto& [path, text] : not_written_lines(report.losses))
    tool.diagnostics().loss(path, text);
  for (const Status& unreadable : report.unreadable) tool.diagnostics().error(unreadable);
  for (const PackConflict& conflict : report.conflicts)
    tool.diagnostics().error(Status(Code::kConflict, conflict.text()));
}

Status make_series(Tool& tool, const SeriesArguments& arguments, const ConversionOptions& given,
                   unsigned threads) {
  const CommonOptions& common = tool.options();
  SeriesOptions options;
  if (arguments.input.empty())
    NMB_ASSIGN(options.inputs, read_file_list(common.files_from, common.nul_separated));
  else
    options.inputs = {arguments.input};
  options.external = given.external;
  options.sorts_blocks_by_name = arguments.sort == "name";
  if (options.inputs.empty()) return Status(Code::kUsage, "the list of inputs is empty");
  if (arguments.sort == "name")
    std::stable_sort(options.inputs.begin(), options.inputs.end(), natural_less);
  options.folder = arguments.folder;
  if (!arguments.name.empty()) options.name = arguments.name;
  NMB_TRY(set_kind(arguments, &options));
  if (given.compression && options.classic)
    return Status(Code::kUsage,
                  "--compress, --shuffle and --chunk need netCDF-4 outputs; use --to nc4");
  options.compression = given.compression;
  if (!arguments.no_history)
    options.history = history_line("nmconvert", deciding_options(tool), options.inputs);
  options.drop_tracking_id = !arguments.keep_tracking_id;
  options.rebase_times = arguments.rebase_times;
  static_cast<OutputOptions&>(options.write) = static_cast<const OutputOptions&>(given);
  options.write.check = given.check;
  options.write.threads = threads;
  options.strict = given.strict;
  NewFolders folders;
  NMB_TRY(folders.make(options.folder));

  PackReport report;
  std::vector<SeriesFile> files;
  const Status status = write_series(options, &report, &files);
  tell(tool, report);
  note_archive(tool, report, options.inputs);
  // tell() has already reported each input that cannot be used.
  if (!report.unreadable.empty()) return {};
  NMB_TRY(status);
  std::uint64_t bytes = 0;
  for (const SeriesFile& file : files) {
    bytes += file.bytes;
    if (!common.jsonl) continue;
    Json line = json_document("series");
    line["variable"] = json_text(file.variable);
    line["output"] = json_text(file.path);
    line["first"] = file.first;
    line["last"] = file.last;
    line["bytes_out"] = file.bytes;
    NMB_TRY(write_json(tool.out(), line, JsonLayout::kLine));
  }
  const std::size_t blocks = report.archive_inputs.size();
  tool.diagnostics().note(
      (blocks > 0 ? counted(blocks, "block") : counted(options.inputs.size(), "file")) + " to " +
      std::to_string(files.size()) + " of one variable each, " + human_bytes(bytes));
  return {};
}

}  // namespace

Status run_series(Tool& tool, const SeriesArguments& arguments, const ConversionOptions& options) {
  return run_on_ranks(
      tool, tool.app(), 1, Needs::kAnyRanks, [&](Communicator& ranks, unsigned threads) {
        return ranks.first([&] { return make_series(tool, arguments, options, threads); });
      });
}

}  // namespace nmb::tools
