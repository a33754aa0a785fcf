// Implements nmconvert (see convert_command.h).
#include "nmconvert/convert_command.h"

#include "common/hdf5_view_option.h"
#include "common/interrupt.h"
#include "common/output_kind.h"
#include "common/progress.h"
#include "common/ranks.h"
#include "common/statistics_option.h"
#include "nmb/reader.h"
#include "nmb/writer.h"
#include "nmconvert/conversion_report.h"

namespace nmb::tools {

ConvertCommand::ConvertCommand(Tool& tool) : tool_(tool) {
  CLI::App& app = tool.app();
  offer_files(app);
  offer_storage(app);
  offer_list(app);
  offer_run(app);
  tool.offer_threads(app);
  tool.offer_memory(app);
  tool.offer_strict(app);
  tool.offer_json(app);
  tool.offer_jsonl(app);
  tool.offer_bytes(app);
  offer_progress(tool, app);
}

void ConvertCommand::offer_files(CLI::App& app) {
  app.add_option("INPUT", input_, "the file to convert");
  app.add_option("OUTPUT", output_, "output file");
  offer_word(
      app, "--to", &batch_.to, "KIND", {"nmb", "cdf1", "cdf2", "cdf5", "nc4", "hdf5"},
      "kind of OUTPUT: nmb, cdf1, cdf2, cdf5, nc4 or hdf5 (default: by the ending of "
      "OUTPUT; .nc means the kind of file that INPUT is or was made from; with --files-from: nmb, "
      "or .nc for inputs that end in .nmb)");
  app.add_option("--extract", batch_.block,
                 "write only this block of an NMB input; --to or the ending of OUTPUT determines "
                 "the kind. .nc without --to means the classic kind of the block, and CDF-5 if the "
                 "block came from HDF5")
      ->type_name("BLOCK");
  app.add_option("--block-by", block_by_,
                 "blocks of an NMB output: group (default): one for each file, group or block of "
                 "the input; prefix:REGEX: by the names of variables; vars:N: N variables in each; "
                 "one: a single block")
      ->type_name("RULE");
  app.add_option("--regroup", regroup_,
                 "blocks of an NMB output by content: dim:NAME: one block for each index along a "
                 "dimension; key:ATT: one for each value of an attribute")
      ->type_name("RULE");
}

void ConvertCommand::offer_storage(CLI::App& app) {
  app.add_option("--compress", compress_,
                 "compress values of an NMB output, or values from HDF5 in an HDF5 output: none, "
                 "deflate[:1-9] or zstd[:1-19] (default: as in INPUT); HDF5 programs read zstd "
                 "only with a plug-in")
      ->type_name("CODEC[:LEVEL]");
  app.add_flag("--shuffle", shuffle_, "values from HDF5: shuffle bytes before compression");
  app.add_option("--chunk", chunk_,
                 "values from HDF5, and HDF5 outputs: chunk lengths along dimensions, for example "
                 "time:1,lat:180")
      ->type_name("DIM:LEN,...");
  app.add_option("--inline", inline_limit_,
                 "NMB outputs: store values of at most BYTES beside the metadata of their block (0 "
                 "to 65536, default: 4096)")
      ->type_name("BYTES")
      ->check(CLI::Range(0, 65536).description(""));
  offer_hdf5_view(app, &hdf5_view_);
  app.add_option("--add-hdf5-view", add_hdf5_view_,
                 "add an HDF5 view to the NMB file FILE, in place; nothing else changes")
      ->type_name("FILE");
  app.add_flag("--no-lock", no_lock_,
               "with --add-hdf5-view: write even if the file system has no locks; use it only if "
               "nothing else writes to FILE");
  offer_statistics(app, &batch_.statistics);
  app.add_flag("--repack", repack_,
               "copy an NMB file without dead space and old values; values in other files are "
               "copied into OUTPUT; tags, statistics, provenance and an HDF5 view are kept. If "
               "something cannot be kept, nothing is written unless --lossy is given");
  app.add_flag("--materialise", materialise_,
               "copy the values of external and virtual data sets of an HDF5 input into OUTPUT; "
               "all files that these data sets name are opened");
  tool_.offer_external(app);
}

void ConvertCommand::offer_list(CLI::App& app) {
  tool_.offer_file_list(app);
  app.add_option("--out-dir", batch_.folder,
                 "folder for the outputs of a list: sub/a.nc becomes DIR/sub/a.nmb")
      ->type_name("DIR");
  offer_word(app, "--sort", &batch_.sort, "ORDER", {"given", "name"},
             "order of the list: given (default) or name (numbers in names in numeric order)");
  app.add_option("--report", batch_.report,
                 "append one line of JSON to FILE for each file of a list")
      ->type_name("FILE");
  app.add_flag("--resume", batch_.resume,
               "skip files that the report (--report) proves to be done");
}

void ConvertCommand::offer_run(CLI::App& app) {
  offer_choice<bool>(app, "--digest", &digest_, "KIND", {{"sha256", true}},
                     "sha256: report the SHA-256 of input and output; both are read once more");
  app.add_flag("--lossy", lossy_,
               "leave out or change content that OUTPUT cannot hold; the number of losses is "
               "printed, and JSON reports list them");
  app.add_flag("-f,--force", force_, "replace existing outputs");
  app.add_flag("--no-sync", no_sync_, "do not wait until the output is on the storage device");
  app.add_flag("--no-check", no_check_, "do not read the result back");
}

Status ConvertCommand::check_arguments() const {
  const auto usage = [](const std::string& text) { return Status(Code::kUsage, text); };
  const CommonOptions& common = tool_.options();
  NMB_TRY(check_block_by());
  if (common.json && common.jsonl) return usage("--json and --jsonl exclude each other");
  if (batch_.block && batch_.to == "nmb")
    return usage("--extract writes a classic, netCDF-4 or HDF5 file; OUTPUT is an NMB file");
  if (common.files_from.empty()) {
    if (output_.empty())
      return usage(std::string(input_.empty() ? "INPUT" : "OUTPUT") +
                   " is missing; name INPUT and OUTPUT, or use --files-from LIST --out-dir DIR");
    for (const char* option : {"--out-dir", "--sort", "--report", "--resume"})
      if (tool_.app().count(option) > 0) return usage(std::string(option) + " needs --files-from");
    return {};
  }
  if (!input_.empty()) return usage("INPUT \"" + input_ + "\" and --files-from exclude each other");
  if (batch_.folder.empty()) return usage("--files-from needs --out-dir");
  if (common.json) return usage("--json and --files-from exclude each other; use --jsonl");
  if (batch_.resume && batch_.report.empty()) return usage("--resume needs --report");
  return {};
}

Status ConvertCommand::check_block_by() const {
  const auto usage = [](const std::string& text) { return Status(Code::kUsage, text); };
  const bool divides = tool_.app().count("--block-by") > 0;
  const bool regroups = tool_.app().count("--regroup") > 0;
  if (divides && regroups) return usage("--block-by and --regroup exclude each other");
  if ((divides || regroups) && batch_.block)
    return usage("--extract and " + std::string(divides ? "--block-by" : "--regroup") +
                 " exclude each other");
  const Result<BlockRule> rule = BlockRule::parse(regroups ? regroup_ : block_by_);
  const bool names_object =
      rule.ok() && (rule->by == BlockRule::By::kDimension || rule->by == BlockRule::By::kAttribute);
  if (divides && (!rule.ok() || names_object))
    return usage("found --block-by " + block_by_ + ", expected group, prefix:REGEX, vars:N or one");
  if (regroups && !names_object)
    return usage("found --regroup " + regroup_ + ", expected dim:NAME or key:ATT");
  return {};
}

Result<std::optional<Compression>> ConvertCommand::compression() const {
  std::optional<Compression> out;
  if (compress_.empty() && chunk_.empty() && !shuffle_) return out;
  out.emplace();
  out->shuffle = shuffle_;
  if (!compress_.empty()) NMB_TRY(out->set_codec(compress_));
  if (shuffle_ && compress_ == "none")
    return Status(
        Code::kUsage,
        "--shuffle and --compress none exclude each other: shuffle has no effect without a codec");
  if (!chunk_.empty()) NMB_TRY(out->set_chunk(chunk_));
  return out;
}

std::string ConvertCommand::deciding_options() const {
  std::string out;
  for (const char* const name : {"--compress", "--shuffle", "--chunk", "--inline", "--hdf5-view",
                                 "--repack", "--materialise", "--lossy"}) {
    const CLI::Option& option = *tool_.app().get_option(name);
    if (option.count() == 0) continue;
    out += (out.empty() ? "" : " ") + std::string(name);
    if (option.get_items_expected_max() > 0) out += "=" + option.as<std::string>();
  }
  // Without --stats, statistics of an NMB input are kept.
  if (tool_.app().count("--stats") > 0 && batch_.statistics == "none")
    out += std::string(out.empty() ? "" : " ") + "--stats=none";
  return out;
}

// Adds the view in place, on one rank.
Status ConvertCommand::add_view() {
  for (const CLI::Option* option : tool_.app().get_options())
    if (option->count() > 0 && !option->check_lname("add-hdf5-view") &&
        !option->check_lname("no-sync") && !option->check_lname("no-lock") &&
        !option->check_lname("color") && !option->check_lname("quiet") &&
        !option->check_lname("no-progress") && !option->check_lname("mpi") &&
        !option->check_lname("mem"))
      return Status(Code::kUsage,
                    "--add-hdf5-view and " + option->get_name() + " exclude each other");
  WriterOptions options;
  options.sync = !no_sync_;
  options.locking = no_lock_ ? Locking::kIfPossible : Locking::kRequired;
  options.cancel = catch_interrupts();
  options.on_repair = [this](const std::string& what) {
    tool_.diagnostics().warning(add_hdf5_view_, what);
  };
  const auto add = [&]() -> Status {
    NMB_TRY(add_hdf5_view(add_hdf5_view_, options));
    NMB_ASSIGN(const std::unique_ptr<Reader> reader,
               Reader::open(add_hdf5_view_, {.external = ExternalPaths::kNone}));
    NMB_ASSIGN(const LostRecords lost, lost_records(*reader));
    if (lost.blocks > 0)
      tool_.diagnostics().warning(add_hdf5_view_, "the HDF5 view has no place for " + lost.text());
    return {};
  };
  return run_on_ranks(tool_, tool_.app(), 1, Needs::kAnyRanks, [&](Communicator& ranks, unsigned) {
    return ranks.first([&] { return add(); });
  });
}

Status ConvertCommand::execute() {
  if (!add_hdf5_view_.empty()) return add_view();
  if (no_lock_) return Status(Code::kUsage, "--no-lock needs --add-hdf5-view");
  NMB_TRY(check_arguments());
  batch_.block_by = regroup_.empty() ? block_by_ : regroup_;
  batch_.options = deciding_options();
  ConversionOptions options;
  NMB_ASSIGN(options.block_by, BlockRule::parse(batch_.block_by));
  options.overwrite = force_;
  options.sync = !no_sync_;
  options.check = !no_check_;
  options.strict = tool_.options().strict;
  options.lossy = lossy_;
  options.digest = digest_;
  NMB_ASSIGN(options.compression, compression());
  options.materialise = materialise_;
  options.repack = repack_;
  options.external = tool_.options().external;
  options.inline_limit = inline_limit_;
  options.hdf5_view = hdf5_view_;
  options.keep_statistics = tool_.app().count("--stats") == 0;
  options.cancel = catch_interrupts();
  return tool_.options().files_from.empty() ? execute_one(options)
                                            : run_batch(tool_, batch_, options);
}

Status ConvertCommand::execute_one(const ConversionOptions& options) {
  Conversion what{input_,          output_,           batch_.to,     batch_.block,
                  batch_.block_by, batch_.statistics, batch_.options};
  if (what.to.empty()) {
    const std::string_view kind = kind_by_ending(output_);
    if (kind.empty()) return Status(Code::kUsage, output_, kNoOffset, "", unknown_ending());
    // For the endings .nc and .cdf, the kind also depends on the input.
    if (kind != "netcdf" && kind != "classic") what.to = kind;
  }
  if (what.block && what.to == "nmb")
    return Status(Code::kUsage,
                  "--extract writes a classic, netCDF-4 or HDF5 file; OUTPUT is an NMB file");
  const bool tells = tool_.options().json || tool_.options().jsonl || options.digest;
  const auto outputs = std::make_shared<OutputSet>();
  NMB_TRY(outputs->add_output(output_, false));
  ConversionOptions checked = options;
  checked.outputs = outputs;
  return run_on_ranks(tool_, tool_.app(), 1, Needs::kAnyRanks,
                      [&](Communicator& ranks, unsigned threads) {
                        const ConversionRecord record = convert(what, checked, ranks, threads);
                        if (ranks.rank() != 0) return record.status;
                        ConversionReport report(tool_, options.digest);
                        report.diagnose(record, false);
                        if (tells) report.tell(record);
                        report.finish();
                        return record.status;
                      });
}

}  // namespace nmb::tools
