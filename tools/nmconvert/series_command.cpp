// Writes time series (see series_command.h).
#include "nmconvert/series_command.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "common/file_list.h"
#include "common/json_document.h"
#include "common/natural_order.h"
#include "common/ranks.h"
#include "common/units.h"
#include "nmb/files.h"
#include "nmb/reader.h"
#include "nmb/series.h"

namespace nmb::tools {

namespace {

namespace fs = std::filesystem;

// Sets the kind of the outputs: the value of --to, or the kind of the first input.
Status set_kind(const std::string& to, SeriesOptions* options) {
  static const std::map<std::string, Kind> kKinds{
      {"cdf1", Kind::kCdf1}, {"cdf2", Kind::kCdf2}, {"cdf5", Kind::kCdf5}};
  if (to == "nc4") return {};
  if (const auto known = kKinds.find(to); known != kKinds.end()) {
    options->classic = known->second;
    return {};
  }
  NMB_ASSIGN(const std::unique_ptr<FileSource> first, FileSource::open(options->inputs.front()));
  NMB_ASSIGN(const FileKind kind, kind_of(*first));
  if (kind == FileKind::kHdf5) return {};
  if (kind == FileKind::kUnknown) return refused_kind(*first, kind);
  options->classic = kind == FileKind::kCdf1   ? Kind::kCdf1
                     : kind == FileKind::kCdf2 ? Kind::kCdf2
                                               : Kind::kCdf5;
  return {};
}

Status set_compression(const ConversionOptions& given, SeriesOptions* options) {
  if (!given.compression) return {};
  if (options->classic)
    return Status(Code::kUsage, "--compress and --shuffle need netCDF-4 outputs; use --to nc4");
  if (given.compression->codec != PieceCodec::kDeflate)
    return Status(Code::kUsage, "--one-file-per-variable supports only --compress deflate[:1-9]");
  options->write.deflate = given.compression->level;
  options->write.shuffle = given.compression->shuffle;
  return {};
}

Status make_series(Tool& tool, const SeriesArguments& arguments, const ConversionOptions& given,
                   unsigned threads) {
  const CommonOptions& common = tool.options();
  SeriesOptions options;
  NMB_ASSIGN(options.inputs, read_file_list(common.files_from, common.nul_separated));
  if (options.inputs.empty()) return Status(Code::kUsage, "the list of inputs is empty");
  if (arguments.sort == "name")
    std::stable_sort(options.inputs.begin(), options.inputs.end(), natural_less);
  options.folder = arguments.folder;
  if (!arguments.name.empty()) options.name = arguments.name;
  NMB_TRY(set_kind(arguments.to, &options));
  options.write.overwrite = given.overwrite;
  options.write.sync = given.sync;
  options.write.check = given.check;
  options.write.cancel = given.cancel;
  options.write.threads = threads;
  options.strict = given.strict;
  NMB_TRY(set_compression(given, &options));
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error)
    return Status(Code::kIo, options.folder, kNoOffset, "",
                  "cannot make the folder: " + error.message());

  PackReport report;
  std::vector<SeriesFile> files;
  const Status status = write_series(options, &report, &files);
  for (const std::string& warning : report.warnings) tool.diagnostics().warning("", warning);
  for (const Status& unreadable : report.unreadable) tool.diagnostics().error(unreadable);
  for (const PackConflict& conflict : report.conflicts)
    tool.diagnostics().error(Status(Code::kConflict, conflict.text()));
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
  tool.diagnostics().note(std::to_string(options.inputs.size()) + " files to " +
                          std::to_string(files.size()) + " of one variable each, " +
                          human_bytes(bytes));
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
