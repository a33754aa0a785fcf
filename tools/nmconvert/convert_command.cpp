#include "nmconvert/convert_command.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "common/command_line/interrupt.h"
#include "common/options/block_name.h"
#include "common/options/digest_option.h"
#include "common/options/output_kind.h"
#include "common/options/ranks.h"
#include "common/options/statistics_option.h"
#include "common/original_files.h"
#include "common/printing/progress.h"
#include "common/printing/units.h"
#include "convert/convert.h"
#include "files/files.h"
#include "model/text.h"
#include "nmconvert/block_files.h"
#include "nmconvert/conversion_report.h"
#include "nmconvert/new_folders.h"
#include "nmconvert/series_command.h"
#include "reader/file_reader.h"
#include "view/hdf5_view.h"
#include "writer/file_writer.h"

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
  app.add_option("-o,--output", output_option_,
                 "output file; may be given in place of the argument OUTPUT")
      ->type_name("OUTPUT");
  offer_word(
      app, "--to", &batch_.to, "KIND", {"nmb", "cdf1", "cdf2", "cdf5", "nc4", "hdf5"},
      "kind of OUTPUT: nmb, cdf1, cdf2, cdf5, nc4 or hdf5 (default: by the ending of "
      "OUTPUT; for .nc, the kind of a classic INPUT or, if INPUT is an NMB file, of its block: "
      "nc4 for an HDF5 INPUT, for blocks that came from HDF5, and for several blocks, which become "
      "groups; with --files-from, nmb, or .nc for inputs that end in .nmb)");
  app.add_option(
         "--extract", batch_.block,
         "write only the blocks of an NMB input that match; --to or the ending of OUTPUT "
         "determines the kind. GLOB is a pattern as in nminspect ls; a backslash makes the next "
         "character literal, as in a\\[1] for block a[1]. If a glob matches several blocks, each "
         "block becomes a group of OUTPUT, which must be netCDF-4 or HDF5. With --out-dir DIR in "
         "place of OUTPUT, each block becomes a file DIR/BLOCK.nc (.h5 with --to hdf5); blocks "
         "below a group go with the group")
      ->type_name("GLOB");
  app.add_option(
         "--original", original_,
         "write the file that became BLOCK of an NMB input; every byte is the same. HDF5 and "
         "netCDF-4 "
         "files are stored whole by default, and the block of a classic file contains the whole "
         "file. BLOCK may also be the path of a stored file; the command \"nminspect files\" lists "
         "these paths. With --out-dir DIR in place of OUTPUT, BLOCK is a glob; each file that "
         "matches is written to its path below DIR, and the file of a classic block to "
         "DIR/BLOCK.nc")
      ->type_name("BLOCK");
  app.add_option(
         "--block-by", block_by_,
         "blocks of an NMB output: group (default), prefix:REGEX, vars:N or one. With --block-by "
         "group, each file, group or block of the input becomes a block. With --block-by "
         "prefix:REGEX, variables are divided by their names. With --block-by vars:N, each block "
         "gets N variables. With --block-by one, there is a single block")
      ->type_name("RULE");
  app.add_option("--regroup", regroup_,
                 "blocks of an NMB output by content: dim:NAME makes one block for each index "
                 "along a dimension; key:ATT makes one block for each value of an attribute")
      ->type_name("RULE");
  subset_.offer(app);
}

void ConvertCommand::offer_storage(CLI::App& app) {
  app.add_option(
         "--compress", compression_.codec,
         "compress values; applies to NMB outputs, and to values from HDF5 in HDF5 outputs: " +
             Compression::codec_choices() + " (default: as in INPUT)")
      ->type_name("CODEC[:LEVEL]");
  app.add_flag("--shuffle", compression_.shuffle,
               "values from HDF5: shuffle bytes before compression");
  app.add_option(
         "--chunk", compression_.chunk,
         "chunk lengths along dimensions, for all variables or for one variable, for example "
         "time:1,lat:180 or temp:lat:90; applies to values from HDF5 and to HDF5 outputs")
      ->type_name("[VAR:]DIM:LEN,...");
  app.add_option("--inline", inline_limit_,
                 "NMB outputs: store values of at most BYTES beside the metadata of their block (0 "
                 "to 65536, default: 4096)")
      ->type_name("BYTES")
      ->check(CLI::Range(0, 65536).description(""));
  offer_word(app, "--layout", &layout_, "LAYOUT", {"cmip7"},
             "layout of a netCDF-4 output that is made from a netCDF or HDF5 input. With --layout "
             "cmip7, all metadata is at the beginning, time is in one chunk, and other chunks have "
             "at least 4 MiB; the filters are shuffle, deflate and fletcher32");
  offer_hdf5_view(app, &view_);
  app.add_option("--add-hdf5-view", add_hdf5_view_,
                 "add an HDF5 view to the NMB file FILE, in place; nothing else changes")
      ->type_name("FILE");
  app.add_flag("--no-lock", no_lock_,
               "with --add-hdf5-view: write even if the file system has no locks; use it only if "
               "nothing else writes to FILE");
  offer_statistics(app, &batch_.statistics);
  app.add_flag("--repack", repack_,
               "copy an NMB file without dead space and old values; values in other files are "
               "copied into OUTPUT (see --external). Tags, statistics, provenance and an HDF5 view "
               "are kept. If "
               "something cannot be kept, nothing is written unless --lossy is given");
  app.add_flag("--no-originals", no_originals_,
               "NMB outputs: do not store an HDF5 or netCDF-4 input byte for byte");
  tool_.offer_external(app, ExternalPaths::kNone);
}

void ConvertCommand::offer_list(CLI::App& app) {
  tool_.offer_file_list(app);
  app.add_option("--out-dir", batch_.folder,
                 "folder for the outputs of a list: sub/a.nc becomes DIR/sub/a.nmb. Also the "
                 "folder for the files of --extract, --original and --one-file-per-variable")
      ->type_name("DIR");
  app.add_flag("--one-file-per-variable", by_variable_,
               "join the files of the list, or the blocks of the NMB file INPUT in the order of "
               "time, along their record dimension, and write each variable with its coordinates "
               "to its own file in --out-dir");
  app.add_option("--name", series_name_,
                 "with --one-file-per-variable: pattern for the name of an output; {first} and "
                 "{last} stand for the first and the last time (default: "
                 "{variable}_{first}-{last}.nc). The ending has the same meaning as in OUTPUT")
      ->type_name("TEMPLATE");
  app.add_flag("--no-history", no_history_,
               "with --one-file-per-variable: do not add a line about this command to the "
               "attribute history");
  app.add_flag("--keep-tracking-id", keep_tracking_id_,
               "with --one-file-per-variable: keep the first value of the attribute tracking_id "
               "(default: drop it, because it identifies a single file)");
  offer_choice<bool>(app, "--time-units", &rebase_times_, "WHAT",
                     {{"error", false}, {"rebase", true}},
                     "with --one-file-per-variable: what to do if times count from another day "
                     "than in the first input: error (default) or rebase (as nmcat does)");
  offer_word(app, "--sort", &batch_.sort, "ORDER", {"given", "name"},
             "order of the list: given (default) or name (numbers in names are in numeric order)");
  app.add_option("--report", batch_.report, "append a JSON line to FILE for each file of a list")
      ->type_name("FILE");
  app.add_flag("--resume", batch_.resume,
               "skip files that the report proves to be done (needs --report)");
}

void ConvertCommand::offer_run(CLI::App& app) {
  offer_digest(app, &digest_);
  app.add_flag("--lossy", lossy_,
               "leave out or change content that OUTPUT cannot hold; each loss is a warning, and "
               "JSON reports list all losses");
  app.add_flag("-f,--force", force_, "replace existing outputs");
  app.add_flag("--no-sync", no_sync_, "do not wait until the output is on the storage device");
  app.add_flag("--no-check", no_check_, "do not read the result back");
}

Status ConvertCommand::check_arguments() const {
  const auto usage = [](const std::string& text) { return Status(Code::kUsage, text); };
  const CommonOptions& common = tool_.options();
  NMB_TRY(check_block_by());
  NMB_TRY(check_layout());
  NMB_TRY(check_subset());
  if (common.json && common.jsonl) return usage("--json and --jsonl exclude each other");
  if (batch_.block && batch_.to == "nmb")
    return usage("--extract writes a classic, netCDF-4 or HDF5 file; OUTPUT is an NMB file");
  for (const char* option : {"--name", "--no-history", "--keep-tracking-id", "--time-units"})
    if (tool_.app().count(option) > 0 && !by_variable_)
      return usage(std::string(option) + " needs --one-file-per-variable");
  if (by_variable_) NMB_TRY(check_series());
  const bool takes_input = by_variable_ || writes_blocks();
  if (takes_input && !output_.empty())
    return usage("OUTPUT \"" + output_ + "\" and --out-dir exclude each other");
  if (takes_input && batch_.folder.empty()) return usage("--one-file-per-variable needs --out-dir");
  if (writes_blocks() && common.files_from.empty()) {
    if (tool_.app().count("--sort") > 0) return usage("--sort needs --files-from");
    if (common.json) return usage("--json and --out-dir exclude each other; use --jsonl");
    if (digest_ != RecordedDigests::kNone)
      return usage("--digest and --extract with --out-dir exclude each other");
    if (batch_.resume && batch_.report.empty()) return usage("--resume needs --report");
    return {};
  }
  if (by_variable_ && common.files_from.empty()) return {};
  if (common.files_from.empty()) {
    if (output_.empty())
      return usage(std::string(input_.empty() ? "INPUT" : "OUTPUT") +
                   " is missing; name INPUT and OUTPUT, or use --files-from LIST --out-dir DIR");
    for (const char* option : {"--out-dir", "--sort", "--report", "--resume"})
      if (tool_.app().count(option) > 0) return usage(std::string(option) + " needs --files-from");
    return {};
  }
  if (!input_.empty()) return usage("INPUT \"" + input_ + "\" and --files-from exclude each other");
  if (!output_.empty()) return usage("-o and --files-from exclude each other; use --out-dir");
  if (batch_.folder.empty()) return usage("--files-from needs --out-dir");
  if (common.json) return usage("--json and --files-from exclude each other; use --jsonl");
  if (batch_.resume && batch_.report.empty()) return usage("--resume needs --report");
  return {};
}

Status ConvertCommand::check_series() const {
  const auto usage = [](const std::string& text) { return Status(Code::kUsage, text); };
  if (tool_.options().files_from.empty() && input_.empty())
    return usage("--one-file-per-variable needs --files-from, or an NMB file as INPUT");
  if (batch_.to == "nmb" || batch_.to == "hdf5")
    return usage(
        "--one-file-per-variable writes netCDF files; use --to with cdf1, cdf2, cdf5 or nc4");
  for (const char* option :
       {"--layout", "--extract", "--block-by", "--regroup", "--inline", "--hdf5-view", "--stats",
        "--repack", "--lossy", "--no-originals", "--report", "--resume", "--digest"})
    if (tool_.app().count(option) > 0)
      return usage("--one-file-per-variable and " + std::string(option) + " exclude each other");
  return {};
}

Status ConvertCommand::check_layout() const {
  if (layout_.empty()) return {};
  for (const char* option :
       {"--extract", "--block-by", "--regroup", "--compress", "--shuffle", "--chunk", "--inline",
        "--hdf5-view", "--stats", "--repack", "--external", "--lossy", "--no-originals"})
    if (tool_.app().count(option) > 0)
      return Status(Code::kUsage, "--layout and " + std::string(option) + " exclude each other");
  return {};
}

Status ConvertCommand::check_subset() const {
  for (const char* subset : kSubsetOptions) {
    if (tool_.app().count(subset) == 0) continue;
    if (by_variable_)
      return Status(Code::kUsage,
                    "--one-file-per-variable and " + std::string(subset) +
                        " exclude each other; first join the subset with nmcat --mode join");
    for (const char* option : {"--layout", "--block-by", "--regroup", "--repack", "--lossy"})
      if (tool_.app().count(option) > 0)
        return Status(Code::kUsage, std::string(subset) + " and " + option + " exclude each other");
  }
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
  const Result<BlockRule> rule = BlockRule::try_parse(regroups ? regroup_ : block_by_);
  const bool names_object =
      rule.ok() && (rule->by == BlockRule::By::kDimension || rule->by == BlockRule::By::kAttribute);
  if (divides && (!rule.ok() || names_object))
    return usage("found --block-by " + block_by_ + ", expected group, prefix:REGEX, vars:N or one");
  if (regroups && !names_object)
    return usage("found --regroup " + regroup_ + ", expected dim:NAME or key:ATT");
  return {};
}

std::string ConvertCommand::deciding_options() const {
  std::string out;
  for (const char* const name :
       {"--layout", "--compress", "--shuffle", "--chunk", "--inline", "--hdf5-view", "--repack",
        "--external", "--lossy", "--no-originals"}) {
    const CLI::Option& option = *tool_.app().get_option(name);
    if (option.count() == 0) continue;
    out += (out.empty() ? "" : " ") + std::string(name);
    if (option.get_items_expected_max() > 0) out += "=" + option.as<std::string>();
  }
  for (const char* const name : kSubsetOptions)
    for (const std::string& text : tool_.app().get_option(name)->results())
      out += (out.empty() ? "" : " ") + std::string(name) + "=" + text;
  // The digests in the report show whether --digest sha256 was given.
  if (digest_ == RecordedDigests::kXxh3)
    out += (out.empty() ? "" : " ") + std::string("--digest=xxh128");
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
        !option->check_lname("strict") && !option->check_lname("no-progress") &&
        !option->check_lname("mpi") && !option->check_lname("mem") &&
        !option->check_lname("view-dimensions") && !option->check_lname("view-copies"))
      return Status(Code::kUsage,
                    "--add-hdf5-view and " + option->get_name() + " exclude each other");
  FileWriterOptions options;
  view_.set(&options);
  options.sync = !no_sync_;
  options.locking = no_lock_ ? Locking::kIfPossible : Locking::kRequired;
  options.cancel = catch_interrupts();
  options.on_repair = [this](const std::string& what) {
    tool_.diagnostics().warning(add_hdf5_view_, what);
  };
  const auto warn = [this](const std::vector<std::string>& lines) -> Status {
    for (const std::string& line : lines) tool_.diagnostics().warning(add_hdf5_view_, line);
    if (!tool_.options().strict || lines.empty()) return {};
    return Status(Code::kConflict, add_hdf5_view_, kNoOffset, "",
                  counted(lines.size(), "warning") + " with --strict; no view was added");
  };
  options.on_left_out = [&](const LeftOutList& left_out) { return warn(left_out.lines()); };
  options.on_view = [this](const ViewCost& cost) {
    if (const std::string text = cost.text(); !text.empty())
      tool_.diagnostics().note(add_hdf5_view_ + ": " + text, cost.is_large());
    return Status();
  };
  const auto add = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
               FileReader::open(add_hdf5_view_, {.external = ExternalPaths::kNone}));
    NMB_ASSIGN(const LostRecords lost, lost_records(*reader));
    if (lost.blocks > 0) NMB_TRY(warn({"the HDF5 view has no place for " + lost.text()}));
    return add_hdf5_view(add_hdf5_view_, options);
  };
  return run_on_ranks(tool_, tool_.app(), 1, Needs::kAnyRanks, [&](Communicator& ranks, unsigned) {
    return ranks.first([&] { return add(); });
  });
}

Status ConvertCommand::give_back(const ConversionOptions& options) {
  for (const CLI::Option* option : tool_.app().get_options())
    if (option->count() > 0 &&
        std::ranges::none_of(
            std::initializer_list<const char*>{"original", "INPUT", "OUTPUT", "output", "force",
                                               "no-sync", "external", "strict", "color", "quiet",
                                               "out-dir", "no-progress", "mpi", "mem"},
            [&](const char* name) {
              return option->check_name(name) || option->check_lname(name);
            }))
      return Status(Code::kUsage, "--original and " + option->get_name() + " exclude each other");
  const bool writes_all = !batch_.folder.empty();
  if (input_.empty() || output_.empty() != writes_all)
    return Status(Code::kUsage, "--original needs INPUT and either -o OUTPUT or --out-dir DIR");
  NMB_ASSIGN(const std::shared_ptr<const FileSource> file, FileSource::open(input_));
  NMB_TRY(options.outputs->check_input(input_, "input"));
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  if (kind != FileKind::kNmb)
    return Status(Code::kUsage, input_, kNoOffset, "", "--original needs an NMB file as INPUT");
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
             FileReader::open(file, {.external = options.external}));
  NMB_TRY(check_references(*options.outputs, *reader));
  if (writes_all) return give_back_all(*reader, options);
  NMB_ASSIGN(const std::optional<OriginalFile> original, find_original(*reader, *original_));
  if (!original) return give_back_block(*reader, *original_, output_, options);
  return write_back(output_, options,
                    [&](const auto& sink) { return reader->give_back(original->number, sink); });
}

// Writes the original files that match to --out-dir. Without -f, nothing is written if one of them
// exists.
Status ConvertCommand::give_back_all(const FileReader& reader, ConversionOptions options) {
  NMB_ASSIGN(const std::vector<BlockFile> files,
             files_of_originals(reader, *original_, batch_.folder));
  const auto outputs = std::make_shared<OutputSet>();
  for (const BlockFile& file : files) {
    NMB_TRY(outputs->add(file.output, "output"));
    std::error_code none;
    if (!options.overwrite && std::filesystem::exists(file.output, none))
      return Status(Code::kExists, file.output, kNoOffset, "", "the file exists");
  }
  options.outputs = outputs;
  NMB_TRY(outputs->check_input(input_, "input"));
  NMB_TRY(check_references(*outputs, reader));
  std::uint64_t bytes = 0;
  NewFolders folders;
  for (const BlockFile& file : files) {
    NMB_TRY(folders.make(std::filesystem::path(file.output).parent_path()));
    NMB_TRY(file.original ? write_back(file.output, options,
                                       [&](const auto& sink) {
                                         return reader.give_back(file.original->number, sink);
                                       })
                          : give_back_block(reader, file.block, file.output, options));
    bytes += file.bytes;
  }
  tool_.diagnostics().note(counted(files.size(), "file") + " in " + batch_.folder + ", " +
                           human_bytes(bytes));
  return {};
}

// Writes a file. give(sink) passes the bytes of the file to `sink`.
template <class Give>
Status ConvertCommand::write_back(const std::string& output, const ConversionOptions& options,
                                  const Give& give) {
  NMB_ASSIGN(const std::unique_ptr<OutputFile> out,
             create_output(output, {.overwrite = options.overwrite, .sync = options.sync}));
  std::uint64_t at = 0;
  NMB_TRY(give([&](std::span<const std::byte> bytes) -> Status {
    if (options.cancel && options.cancel->load()) return Status(Code::kIo, "interrupted");
    NMB_TRY(out->write_at(at, bytes));
    at += bytes.size();
    return {};
  }));
  return out->publish();
}

// Writes the classic file that became a block. The block contains the whole file.
Status ConvertCommand::give_back_block(const FileReader& reader, const std::string& block,
                                       const std::string& output,
                                       const ConversionOptions& options) {
  NMB_ASSIGN(const std::optional<BlockEntry> entry, reader.find(block));
  if (!entry)
    return Status(Code::kNotFound, input_, kNoOffset, "",
                  "found no original and no block \"" + printable(block) +
                      "\"; nminspect files lists the originals");
  if (entry->kind == static_cast<std::uint16_t>(Kind::kExtended))
    return Status(Code::kNotFound, input_, kNoOffset, "",
                  "found no original of block \"" + printable(block) +
                      "\", which came from HDF5; use --extract to write a new file from the block");
  if (entry->file_digests.has_xxh3() && entry->growth == 0)
    return write_back(output, options,
                      [&](const auto& sink) { return reader.give_back(*entry, sink); });
  Communicator alone;
  ConversionOptions whole = options;
  whole.block_is_name = true;
  const ConversionRecord record =
      convert({input_, output, "", block, batch_.block_by, batch_.statistics, {}}, whole, alone, 1);
  for (const std::string& warning : record.warnings) tool_.diagnostics().warning("", warning);
  for (const std::string& text : record.not_written) tool_.diagnostics().loss("", text);
  return record.status;
}

Status ConvertCommand::execute() {
  if (!output_option_.empty()) {
    if (!output_.empty())
      return Status(Code::kUsage, "OUTPUT \"" + output_ + "\" and -o exclude each other");
    output_ = output_option_;
  }
  for (const std::string* const output : {&output_, &batch_.report}) NMB_TRY(refuse_dash(*output));
  if (!add_hdf5_view_.empty()) return add_view();
  if (no_lock_) return Status(Code::kUsage, "--no-lock needs --add-hdf5-view");
  if (!original_) NMB_TRY(check_arguments());
  if (batch_.block) batch_.block = std::string(name_from_user(*batch_.block));
  batch_.block_by = regroup_.empty() ? block_by_ : regroup_;
  batch_.options = deciding_options();
  ConversionOptions options;
  NMB_ASSIGN(options.block_by, BlockRule::try_parse(batch_.block_by));
  options.overwrite = force_;
  options.sync = !no_sync_;
  options.check = !no_check_;
  options.strict = tool_.options().strict;
  options.lossy = lossy_;
  options.digest = digest_ == RecordedDigests::kSha256;
  options.digests = digest_;
  NMB_ASSIGN(options.compression, compression_.parse());
  NMB_ASSIGN(options.subset, subset_.parse());
  options.cmip7 = layout_ == "cmip7";
  options.repack = repack_;
  options.external = tool_.options().external;
  options.inline_limit = inline_limit_;
  options.hdf5_view = view_;
  options.keep_statistics = tool_.app().count("--stats") == 0;
  options.cancel = catch_interrupts();
  options.originals = !no_originals_;
  if (original_) {
    if (original_->starts_with('/')) original_->erase(0, 1);
    const auto outputs = std::make_shared<OutputSet>();
    if (!output_.empty()) NMB_TRY(outputs->add_output(output_, false));
    options.outputs = outputs;
    return run_on_ranks(tool_, tool_.app(), 1, Needs::kAnyRanks,
                        [&](Communicator& ranks, unsigned) {
                          return ranks.first([&] { return give_back(options); });
                        });
  }
  if (by_variable_)
    return run_series(tool_,
                      {input_, batch_.folder, batch_.to, batch_.sort, series_name_, no_history_,
                       keep_tracking_id_, rebase_times_},
                      options);
  if (writes_blocks()) batch_.input = input_;
  return tool_.options().files_from.empty() && batch_.input.empty()
             ? execute_one(options)
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
