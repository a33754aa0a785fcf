#include "nmcat/pack_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "common/command_line/interrupt.h"
#include "common/options/block_name.h"
#include "common/options/digest_option.h"
#include "common/options/file_list.h"
#include "common/options/output_kind.h"
#include "common/options/ranks.h"
#include "common/options/statistics_option.h"
#include "common/original_files.h"
#include "common/printing/history_line.h"
#include "common/printing/json_document.h"
#include "common/printing/not_written.h"
#include "common/printing/progress.h"
#include "common/printing/units.h"
#include "compare/compare.h"
#include "convert/convert.h"
#include "files/files.h"
#include "handles/glob.h"
#include "merge/reporting/pack_report.h"
#include "model/text.h"
#include "nmcat/plan_text.h"
#include "parallel/communicator.h"
#include "reader/file_reader.h"
#include "wire/bytes.h"
#include "wire/whole_number.h"

namespace nmb::tools {

PackCommand::PackCommand(Tool& tool) : tool_(tool), rules_(&options_) {
  CLI::App& app = tool.app();
  offer_files(app);
  rules_.offer_agreement(app);
  app.add_flag("--no-history", no_history_,
               "join: do not add a line about this command to the attribute history");
  rules_.offer_blocks(app);
  offer_tags(app);
  offer_choice_of_blocks(app);
  subset_.offer(app);
  offer_storage(app);
  offer_run(app);
  tool.offer_file_list(app);
  tool.offer_threads(app);
  tool.offer_memory(app);
  tool.offer_strict(app);
  tool.offer_json(app);
  offer_progress(tool, app);
}

void PackCommand::offer_files(CLI::App& app) {
  app.add_option("INPUT", options_.inputs, "files to merge, in this order");
  app.add_option("-o,--output", options_.output, "output file")->type_name("OUT")->required();
  offer_word(
      app, "--to", &to_, "KIND", {"nmb", "cdf1", "cdf2", "cdf5", "nc4", "hdf5"},
      "kind of OUT: nmb, cdf1, cdf2, cdf5, nc4 or hdf5 (default: by the ending of OUT; for .nc, "
      "the kind of the inputs: classic if all of them are classic files or blocks that came from "
      "classic files, otherwise nc4; nc4 with --mode pack, because blocks become groups; for a "
      "name without an ending, nmb)");
  rules_.offer_mode(app);
}

void PackCommand::offer_tags(CLI::App& app) {
  app.add_option(
         "--tag", tags_,
         "give blocks the tag NAME, by which nminspect find and --where find them. VALUE is "
         "text with the fields {stem}, {path}, {index}, {group} and {1}, {2}, ... (captures "
         "of --split-names or --tag-names), or @ATT, the global attribute ATT of the block. "
         "A tag is an integer or a number if all of its text is one; NAME:text=VALUE always "
         "makes text. The option may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option(
         "--tag-names", options_.tag_names,
         "search REGEX in the names of the blocks of OUT; its captures are {1}, {2}, ... of "
         "--tag")
      ->type_name("REGEX");
}

void PackCommand::offer_choice_of_blocks(CLI::App& app) {
  tool_.offer_list(app, "--blocks-from", &blocks_from_,
                   "take only the blocks that FILE lists (-: standard input), as nminspect "
                   "ls and find list them (with \\xHH, and \\\\ for a backslash; with -0, names as "
                   "they are); a classic input is one block with the name {stem}. Only "
                   "blocks that meet all of --blocks-from, --exclude, --where and --shard are "
                   "taken. With union, join and tiles, there must be one INPUT, an NMB file; "
                   "each of its blocks counts as an input");
  app.add_option("--exclude", excluded_,
                 "leave out blocks whose names match GLOB (see nminspect ls); the option may "
                 "be repeated")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--where", where_,
                 "take only blocks that match EXPR, an expression of nminspect find")
      ->type_name("EXPR");
  app.add_option("--shard", shard_,
                 "take part K of N. The blocks that meet all other conditions are dealt out "
                 "in turn to the N parts, in the order of the inputs and, in each input, of the "
                 "names: part 1 gets blocks 1, N+1, 2N+1, ... The N parts have no block in common; "
                 "together, they have all blocks. Sets with names and shares are also possible: "
                 "train/train:80,val:10,test:10 takes the set train")
      ->type_name("K/N");
  app.add_option("--seed", seed_,
                 "with --shard: deal out blocks at random. The seed and the name of a block decide "
                 "its part, whatever the other blocks are, so the parts have about their shares")
      ->type_name("SEED");
}

void PackCommand::offer_storage(CLI::App& app) {
  offer_choice<MetadataCodec>(
      app, "--metadata-codec", &options_.writer.metadata_codec, "CODEC",
      {{"none", MetadataCodec::kNone},
       {"zstd", MetadataCodec::kZstd},
       {"zstd-dictionary", MetadataCodec::kZstdDictionary}},
      "compression of metadata: none, zstd or zstd-dictionary (default: zstd-dictionary "
      "if blocks are many and small)");
  app.add_option("--compress", compression_.codec,
                 "compression of values: " + Compression::codec_choices() +
                     " (default: unchanged; values that are compressed in an NMB or HDF5 input "
                     "stay compressed). If HDF5 files are united, small coordinates stay unchanged "
                     "unless --chunk names them")
      ->type_name("CODEC[:LEVEL]");
  app.add_flag(
      "--shuffle", compression_.shuffle,
      "shuffle bytes before compression; applies to values from HDF5 and to united values");
  app.add_option("--chunk", compression_.chunk,
                 "chunk lengths along dimensions, for all variables or for one variable, for "
                 "example time:1,lat:180 or temp:lat:90; applies to values from HDF5 and to united "
                 "values (default: values from HDF5 keep their chunks)")
      ->type_name("[VAR:]DIM:LEN,...");
  offer_statistics(app, &statistics_);
  offer_size(
      app, "--inline",
      [this](std::uint64_t limit) {
        options_.writer.inline_limit = static_cast<std::uint32_t>(limit);
      },
      0, 65536,
      "store values of at most BYTES beside the metadata of their block (default: 4096, at most "
      "65536)");
  app.add_option(
         "--aggregators", options_.writer.aggregators,
         "number of ranks that write metadata and index (default: depends on the file system)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""));
  offer_size(
      app, "--align", [this](std::uint64_t size) { options_.writer.alignment = size; }, 4096,
      1 << 30,
      "stripe size of the file, for example 1M; a power of 2 from 4096 to 1G. Values of at least "
      "this size begin at a multiple of the stripe size, and the metadata of each stripe is "
      "written "
      "by one rank (default: depends on the file system)");
  offer_choice<Io>(app, "--io", &options_.writer.io, "HOW",
                   {{"posix", Io::kPosix}, {"mpiio", Io::kMpiIo}},
                   "how to write OUT: posix (default) or mpiio (needs mpiexec)");
  app.add_option("--hint", hints_,
                 "with --io mpiio: a hint for the MPI library, for example striping_factor=8; the "
                 "option may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag(
      "--link", pack_.link,
      "pack: leave values in the inputs; OUT refers to these values and contains "
      "everything else. The inputs must be in the folder of OUT or in folders below it, unless "
      "--external is given (default with --link: beneath)");
  tool_.offer_external(app, ExternalPaths::kNone);
  app.add_flag("--no-originals", no_originals_,
               "pack: do not store HDF5 and netCDF-4 inputs byte for byte, and do not copy the "
               "originals of NMB inputs (default: OUT contains both as originals, and nmconvert "
               "--original can write them as files)");
  offer_hdf5_view(app, &view_);
}

void PackCommand::offer_run(CLI::App& app) {
  app.add_flag("--append", pack_.append,
               "pack: add blocks to OUT, an existing NMB file; its contents do not change");
  app.add_flag("--replace", pack_.replace,
               "with --append: replace blocks of OUT that have the name of a new block");
  app.add_flag("--no-lock", no_lock_,
               "with --append: write even if the file system has no locks; use it only if nothing "
               "else writes to OUT");
  app.add_flag("-f,--force", options_.writer.overwrite, "replace an existing OUT");
  app.add_flag(
      "--dry-run", options_.writer.dry_run,
      "write nothing; report all errors that the run would have. If there are no errors, "
      "report the blocks, bytes, peak memory and Lustre striping of OUT. Excludes --stats and "
      "--hdf5-view, which depend on the values");
  app.add_flag("--resume", resume_,
               "if the run ends early, keep the finished work; if an earlier run of the same "
               "command ended early, continue from its work");
  app.add_option("--report", report_path_,
                 "write the JSON report to FILE; also when the run fails; an existing report is "
                 "replaced, but any other existing file is replaced only with -f")
      ->type_name("FILE");
  offer_digest(app, &digest_);
  app.add_flag("--no-provenance", no_provenance_,
               "do not record the options and the inputs' names and sizes in OUT (see nminspect "
               "provenance)");
  app.add_flag("--lossy", lossy_,
               "write OUT without values that only an original has, and which OUT does not keep, "
               "and without content that an HDF5 or netCDF-4 OUT cannot hold (user blocks of "
               "several inputs); each loss is a warning");
  app.add_flag("--no-sync", no_sync_, "do not wait until OUT is on the storage device");
}

// Determines the kind of OUT from --to or from the ending of its name.
Status PackCommand::take_output() {
  NMB_TRY(refuse_dash(options_.output));
  NMB_TRY(refuse_dash(report_path_));
  if (to_.empty()) {
    const std::string_view kind = kind_by_ending(options_.output);
    if (kind.empty() && has_ending(options_.output))
      return Status(Code::kUsage, options_.output, kNoOffset, "", unknown_ending());
    // With mode pack, blocks become groups, and classic netCDF has no groups. In the other modes,
    // pack() determines the kind from the inputs.
    options_.kind_of_inputs = kind == "netcdf";
    if (kind == "netcdf")
      to_ = packs() ? "nc4" : "netcdf";
    else if (kind == "classic")
      to_ = "cdf5";
    else
      to_ = kind.empty() ? "nmb" : kind;
  }
  if (lossy_ && to_.starts_with("cdf"))
    return Status(Code::kUsage,
                  fmt::format("--lossy needs an output of kind nmb, nc4 or hdf5; OUT is {}", to_));
  if (to_ == "nmb") return {};
  for (const char* option : {"--metadata-codec", "--inline", "--aggregators", "--align", "--io",
                             "--hint", "--no-provenance", "--no-originals", "--hdf5-view"})
    if (tool_.app().count(option) > 0)
      return Status(Code::kUsage,
                    fmt::format("{} needs an output of kind nmb; OUT is {}", option, to_));
  if (!to_.starts_with("cdf")) {
    options_.hdf5.emplace().plain = to_ == "hdf5";
    return {};
  }
  options_.classic = to_ == "cdf1" ? Kind::kCdf1 : to_ == "cdf2" ? Kind::kCdf2 : Kind::kCdf5;
  return {};
}

// Records content that the HDF5 output cannot keep. `between` is the NMB file that is converted to
// the output. It still contains all tags and records.
Status PackCommand::accept_losses(const FileReader& between, const Hdf5Losses& lost,
                                  PackReport* report) {
  NMB_ASSIGN(const TagCounts counts, between.tag_counts());
  for (const Loss& change : lost.changes) report->warnings.push_back(change.line());
  if (counts.tags > 0) not_written_.push_back(options_.output + ": " + no_place_for_tags(counts));
  if (lost.records.blocks > 0)
    not_written_.push_back(options_.output + ": " + no_place_for_records(lost.records));
  for (const Loss& loss : lost.losses) losses_.push_back(loss.line());
  const std::size_t warnings =
      lost.changes.size() + not_written_.size() + (lossy_ ? losses_.size() : 0);
  if (options_.strict && warnings > 0)
    return Status(Code::kConflict, options_.output, kNoOffset, "",
                  counted(warnings, "warning") + " with --strict; nothing was written");
  if (losses_.empty() || lossy_) return {};
  return Status(
      Code::kConflict, options_.output, kNoOffset, "",
      fmt::format("an HDF5 file cannot hold {}; use --lossy to write the rest; nothing was written",
                  counted(losses_.size(), "thing")));
}

// Returns all options that determine the bytes of OUT, as the user gave them.
Json PackCommand::decisive_options() const {
  constexpr std::string_view kOthers[] = {
      "-h",         "--help",        "--version",    "-o",
      "INPUT",      "--files-from",  "-0",           "-j",
      "-f",         "--resume",      "--io",         "--hint",
      "--no-sync",  "--mpi",         "--report",     "--to",
      "--no-lock",  "--strict",      "--json",       "-q",
      "--color",    "--mem",         "--dry-run",    "--aggregators",
      "--progress", "--no-progress", "--blocks-from"};
  // The blocks of packed inputs are listed in their order.
  const auto is_other = [&](const CLI::Option& option) {
    return (packs() && option.check_lname("sort")) ||
           std::ranges::any_of(kOthers, [&](std::string_view name) {
             return option.check_name(std::string(name));
           });
  };
  Json json = Json::object();
  for (const CLI::Option* option : tool_.app().get_options()) {
    if (option->count() == 0 || is_other(*option)) continue;
    const std::vector<std::string> values = option->results();
    json[option->get_lnames().front()] = option->get_expected_max() == 0 ? Json(true)
                                         : values.size() == 1 ? Json(json_text(values.front()))
                                                              : json_texts(values);
  }
  if (!block_list_.empty()) json["blocks-from"] = block_list_;
  return json;
}

std::string PackCommand::resume_text() const {
  return "nmcat " NMB_VERSION " " + to_ + " " + decisive_options().dump(-1, ' ', true);
}

// Returns the provenance of OUT, which does not depend on the folder, the time or the number of
// processes. If it would be too long, the inputs' own provenance is left out and then, if
// necessary, the list of inputs.
std::string PackCommand::provenance(const std::vector<PackSource>& sources) const {
  constexpr int kMostDepth = 128;
  constexpr std::size_t kMostBytes = 4 << 20;
  Json json = json_document("provenance");
  json["tool"] = "nmcat";
  json["format"] = "1.0";
  json["options"] = decisive_options();
  std::size_t nested = 0;
  for (const PackSource& source : sources)
    for (const std::string& text : source.provenance) nested += text.size();
  Json inputs = Json::array();
  std::uint64_t left_out = 0, bytes = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const PackSource& source = sources[i];
    // All blocks that count as inputs are in one file.
    if (i > 0 && source.path == sources.front().path && !packs() && options_.inputs.size() == 1)
      continue;
    const std::filesystem::path path = source.path;
    Json input{{"name", json_text(path.filename().string())}, {"bytes", source.bytes}};
    bytes += source.bytes;
    if (nested > kMostBytes)
      left_out += source.provenance.size();
    else
      for (const std::string& text : source.provenance) {
        std::optional<Json> parsed = parse_object(text, kMostDepth);
        input["provenance"].push_back(parsed ? std::move(*parsed) : Json(json_text(text)));
      }
    inputs.push_back(std::move(input));
  }
  if (left_out > 0) json["runs_left_out"] = left_out;
  json["inputs"] = std::move(inputs);
  std::string text = json.dump(-1, ' ', true);
  if (text.size() <= 2 * kMostBytes) return text;
  json["inputs"] = Json::array();
  json["inputs_left_out"] = Json{{"count", sources.size()}, {"bytes", bytes}};
  return json.dump(-1, ' ', true);
}

// Reports the files that remain from a run that ended early.
void PackCommand::report_what_stays(const PackReport& report) {
  if (!resume_) return;
  const bool is_hdf5 = options_.hdf5 && !report.classic;
  std::error_code none;
  const std::string between = between_name(options_.output);
  const std::string hidden = resumable_name(is_hdf5 ? between : options_.output);
  const char* const then = "; the same call continues from there";
  if (is_hdf5 && std::filesystem::exists(between, none))
    tool_.diagnostics().note(options_.output + ": the merged values are kept in " + between + then);
  else if (std::filesystem::exists(hidden, none))
    tool_.diagnostics().note(options_.output + ": finished work is kept in " + hidden +
                             " and its journal" + then);
}

// Call this after all other options are known.
Status PackCommand::gather_inputs() {
  NMB_TRY(rules_.gather_inputs(tool_.options()));
  NMB_TRY(read_block_list());
  const Status status = check_options(options_);
  if (status.message().find("Pack::digests") == std::string::npos) return status;
  return Status(status.code(), status.message() + hint_of_digest());
}

std::string PackCommand::needs_pack(const char* option) const {
  return fmt::format("{} needs --mode pack; the mode is {}", option, rules_.mode());
}

// Returns a hint on how --digest is useful if OUT records no digests.
std::string PackCommand::hint_of_digest() const {
  return digest_ == RecordedDigests::kSha256
             ? "; with --json or --report FILE, --digest sha256 adds the SHA-256 of inputs and OUT "
               "to the report"
             : "";
}

// Checks that options of mode pack are given only with this mode.
Status PackCommand::check_mode() const {
  if (packs()) return {};
  for (const char* option : {"--append", "--replace", "--link"})
    if (tool_.app().count(option) > 0) return Status(Code::kUsage, needs_pack(option));
  return {};
}

std::optional<BlockChoice>& PackCommand::choice() {
  return std::visit(
      [](auto& rules) -> auto& { return rules.choice; }, options_.mode);
}

Status PackCommand::read_block_list() {
  if (blocks_from_.empty()) return {};
  const bool is_split_at_nul = tool_.options().nul_separated;
  NMB_ASSIGN(std::vector<std::string> names, read_list(blocks_from_, is_split_at_nul));
  for (std::string& name : names) {
    if (name.find('\0') != name.npos)
      return Status(Code::kUsage, blocks_from_, kNoOffset, "",
                    "found a NUL in a name; use -0 if names end with NUL");
    if (!is_split_at_nul) {
      std::optional<std::string> bytes = bytes_of_printable(name);
      if (!bytes)
        return Status(Code::kUsage, blocks_from_, kNoOffset, "",
                      "found the name \"" + name +
                          "\" with a backslash that nminspect ls would write in another way; use "
                          "-0 for a list of names as they are, each with a NUL at its end");
      name = *std::move(bytes);
    }
    name = name_from_user(name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string all;  // a NUL follows each name
  for (const std::string& name : names) all.append(name).push_back('\0');
  NMB_ASSIGN(const Sha256 digest, sha256(MemorySource(std::as_bytes(std::span(all)))));
  block_list_ = fmt::format("{} names, SHA-256 {}", names.size(), digest_text(digest));
  choice()->names = std::move(names);
  if (resume_) options_.resume = resume_text();
  return {};
}

// Determines the inputs on the first process, which alone has standard input, and sends them to the
// other processes. Collective.
Status PackCommand::gather_inputs_of_first(Communicator& ranks) {
  NMB_TRY(ranks.first([&] { return gather_inputs(); }));
  NMB_TRY(send_names(ranks, &options_.inputs));
  if (blocks_from_.empty()) return {};
  std::optional<std::vector<std::string>>& blocks = choice()->names;
  if (!blocks) blocks.emplace();
  return send_names(ranks, &*blocks);
}

Status PackCommand::add_outputs() {
  const auto outputs = std::make_shared<OutputSet>();
  options_.outputs = outputs;
  NMB_TRY(nmb::add_outputs(options_, outputs.get()));
  return report_path_.empty() ? Status() : outputs->add(report_path_, "report");
}

// Checks that no output is also an input, and that the report can be written. Called before
// anything is written. pack() itself checks the files to which inputs refer.
Status PackCommand::check_files() {
  for (const std::string& input : options_.inputs)
    NMB_TRY(options_.outputs->check_input(input, "input"));
  NMB_TRY(check_file_list(*options_.outputs, tool_.options().files_from));
  NMB_TRY(check_file_list(*options_.outputs, blocks_from_, "list of blocks"));
  if (report_path_.empty()) return {};
  if (!pack_.append) return start_report();
  // With --append, OUT is also an input, so the report must not be a file to which OUT refers.
  OutputSet report;
  NMB_TRY(report.add(report_path_, "report"));
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
             FileReader::open(options_.output, {.external = ExternalPaths::kNone}));
  NMB_TRY(check_references(report, *reader));
  return start_report();
}

// Creates the report as a file without a name. If this is not possible, the run fails before the
// output changes.
Status PackCommand::start_report() {
  constexpr std::string_view kBegin = "{\n \"schema\": \"nmb/cat/";
  std::error_code none;
  if (!options_.writer.overwrite && std::filesystem::is_regular_file(report_path_, none)) {
    std::ifstream old(report_path_, std::ios::binary);
    std::string begin(kBegin.size(), '\0');
    old.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (old.gcount() > 0 && begin != kBegin)
      return Status(Code::kExists, report_path_, kNoOffset, "",
                    "the file exists and is not a report of nmcat; use -f to replace it");
  }
  NMB_ASSIGN(report_file_, create_output(report_path_, {.overwrite = true, .sync = false}));
  return {};
}

Status PackCommand::take_io() {
  for (const std::string& hint : hints_) {
    if (options_.writer.io != Io::kMpiIo) return Status(Code::kUsage, "--hint needs --io mpiio");
    const std::size_t equals = hint.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == hint.size())
      return Status(Code::kUsage, "found --hint " + hint + ", expected KEY=VALUE");
    options_.writer.hints.emplace_back(hint.substr(0, equals), hint.substr(equals + 1));
  }
  return {};
}

// Returns which HDF5 view to make. Without --hdf5-view, the default depends on the output: with
// --append, a file that has a view gets a new one; any other NMB output gets a view only if the
// view is small.
Result<Hdf5View> PackCommand::view_to_make() const {
  NMB_TRY(view_.check(to_ == "nmb" && !pack_.link));
  if (view_.view) return *view_.view;
  if (view_.has_options()) return Hdf5View::kAuto;
  if (to_ != "nmb" || pack_.link) return Hdf5View::kOff;
  // A view is made from the written file.
  if (!pack_.append || options_.writer.dry_run) return Hdf5View::kSmall;
  const Result<std::unique_ptr<FileReader>> reader =
      FileReader::open(options_.output, {.external = ExternalPaths::kNone});
  // If the file cannot be opened, the merge reports this later.
  return reader.ok() && (*reader)->has_hdf5_view() ? Hdf5View::kAuto : Hdf5View::kSmall;
}

Status PackCommand::take_storage() {
  options_.writer.statistics = statistics_level(statistics_);
  options_.keep_statistics = to_ == "nmb" && tool_.app().count("--stats") == 0;
  NMB_ASSIGN(options_.compression, compression_.parse());
  NMB_ASSIGN(options_.subset, subset_.parse());
  options_.external = tool_.options().external;
  if (pack_.link && tool_.app().count("--external") == 0)
    options_.external = ExternalPaths::kBeneath;
  if (pack_.link && tool_.app().count("--inline") > 0)
    return Status(Code::kUsage, "--link and --inline exclude each other");
  NMB_ASSIGN(options_.writer.hdf5_view, view_to_make());
  view_.set(&options_.writer);
  return take_io();
}

namespace {

std::optional<std::uint64_t> share_of(std::string_view digits) {
  constexpr std::uint64_t kMost = 1'000'000'000'000;
  const std::optional<std::uint64_t> value = nmb::whole_number(digits);
  return value && *value > 0 && *value <= kMost ? value : std::nullopt;
}

// Returns the part of --shard K/N. number, count: the texts of K and N.
std::optional<BlockShard> numbered_shard(std::string_view number, std::string_view count) {
  const auto first = share_of(number), all = share_of(count);
  if (!first || !all || *first > *all) return std::nullopt;
  return BlockShard{*first, *all};
}

// Returns the part of --shard NAME/SETS. sets: NAME:SHARE,NAME:SHARE,...
std::optional<BlockShard> named_shard(std::string_view name, std::string_view sets) {
  constexpr std::size_t kMostSets = 1000;
  std::vector<std::string_view> names;
  std::uint64_t before = 0, divisor = 0;
  BlockShard out{0};
  while (!sets.empty()) {
    const std::size_t comma = std::min(sets.find(','), sets.size());
    const std::string_view set = sets.substr(0, comma);
    const std::size_t colon = std::min(set.rfind(':'), set.size());
    const auto share = share_of(set.substr(std::min(colon + 1, set.size())));
    const std::string_view own = set.substr(0, colon);
    if (!share || own.empty() || std::ranges::find(names, own) != names.end() ||
        comma + 1 == sets.size() || names.size() == kMostSets)
      return std::nullopt;
    names.push_back(own);
    divisor = std::gcd(divisor, *share);
    if (own == name) {
      out.first = before + 1;
      out.width = *share;
    }
    before += *share;
    sets.remove_prefix(std::min(comma + 1, sets.size()));
  }
  if (out.first == 0) return std::nullopt;
  out.first = (out.first - 1) / divisor + 1;
  out.width /= divisor;
  out.count = before / divisor;
  return out;
}

// Parses the value of --shard.
Result<BlockShard> shard_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  std::optional<BlockShard> out;
  if (slash != text.npos) {
    const std::string_view part = std::string_view(text).substr(0, slash);
    const std::string_view rest = std::string_view(text).substr(slash + 1);
    out = rest.find(':') == rest.npos ? numbered_shard(part, rest) : named_shard(part, rest);
  }
  if (out) return *out;
  return Status(Code::kUsage,
                fmt::format("found --shard {}, expected K/N with K from 1 to N, or a name and all "
                            "sets with their shares, for example train/train:80,val:10,test:10",
                            text));
}

}  // namespace

// Sets the conditions for blocks, except the list of --blocks-from, which only the first process
// reads. Called after the mode is set.
Status PackCommand::take_choice() {
  const CLI::App& app = tool_.app();
  BlockChoice wanted;
  if (blocks_from_ == "-" && tool_.options().files_from == "-")
    return Status(Code::kUsage,
                  "--files-from and --blocks-from cannot both read from standard input");
  if (app.count("--where") > 0) wanted.where = where_;
  if (!excluded_.empty()) {
    std::vector<NamePattern> patterns;
    for (const std::string& glob : excluded_) {
      NMB_ASSIGN(patterns.emplace_back(), NamePattern::glob(name_from_user(glob)));
    }
    wanted.excludes = [patterns = std::move(patterns)](std::string_view block) -> Result<bool> {
      for (const NamePattern& pattern : patterns) {
        NMB_ASSIGN(const bool matches, pattern.matches(block));
        if (matches) return true;
      }
      return false;
    };
  }
  if (app.count("--shard") > 0) NMB_ASSIGN(wanted.shard, shard_of(shard_));
  if (app.count("--seed") > 0) {
    if (shard_.empty()) return Status(Code::kUsage, "--seed needs --shard");
    wanted.shard->seed = seed_;
  }
  if (!blocks_from_.empty() || wanted.where || wanted.excludes || !shard_.empty())
    choice() = std::move(wanted);
  return {};
}

Status PackCommand::take_run() {
  const CommonOptions& common = tool_.options();
  if (to_ == "nmb")
    options_.originals = no_originals_ ? Originals::kDrop : Originals::kStoreIfPossible;
  if (packs()) options_.mode = pack_;
  // With a report, --digest sha256 also serves outputs that record no digests.
  const bool reports =
      digest_ == RecordedDigests::kSha256 && (common.json || !report_path_.empty());
  if (!packs() && digest_ != RecordedDigests::kNone && !reports)
    return Status(Code::kUsage, needs_pack("--digest") + hint_of_digest());
  if (packs() && (!reports || stores_originals(options_)))
    std::get<Pack>(options_.mode).digests = digest_;
  // An existing file keeps its limit for inline values.
  if (pack_.append && tool_.app().count("--inline") > 0)
    return Status(Code::kUsage, "--append and --inline exclude each other");
  if (no_lock_ && !pack_.append) return Status(Code::kUsage, "--no-lock needs --append");
  if (no_lock_) options_.writer.locking = Locking::kIfPossible;
  if (resume_) options_.resume = resume_text();
  if (!no_provenance_ && to_ == "nmb")
    options_.provenance = [this](const std::vector<PackSource>& sources) {
      return std::vector<std::string>{provenance(sources)};
    };
  options_.strict = common.strict;
  if (lossy_) options_.refused_losses = RefusedLosses::kNone;
  options_.writer.sync = !no_sync_;
  options_.writer.cancel = catch_interrupts();
  return {};
}

Status PackCommand::execute() {
  NMB_TRY(rules_.take());
  NMB_TRY(check_mode());
  for (const std::string& text : tags_) {
    NMB_ASSIGN(options_.tags.emplace_back(), TagRule::try_parse(text));
  }
  if (no_history_ && rules_.mode() != "join")
    return Status(Code::kUsage, "--no-history needs --mode join");
  NMB_TRY(take_output());
  NMB_TRY(take_storage());
  NMB_TRY(take_run());
  NMB_TRY(take_choice());
  if (launched_ranks() <= 1) NMB_TRY(gather_inputs());
  PackReport report;
  bool tells = true;
  const Status status = merge(&report, &tells);
  return tells ? conclude(report, status) : status;
}

// Returns whether the run selects blocks from one NMB file. They then keep their names.
Result<bool> PackCommand::selects_from_one_archive(const PackOptions& options) const {
  if (!packs() || !options_.choice() || options.inputs.size() != 1 || !options.block_name.empty())
    return false;
  NMB_ASSIGN(const std::unique_ptr<FileSource> file, FileSource::open(options.inputs.front()));
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  return kind == FileKind::kNmb;
}

// Returns whether the first input is an HDF5 file. Problems of an input are reported later.
bool PackCommand::begins_with_hdf5() const {
  if (options_.inputs.empty()) return false;
  const Result<std::unique_ptr<FileSource>> file = FileSource::open(options_.inputs.front());
  if (!file.ok()) return false;
  const Result<FileKind> kind = kind_of(**file);
  return kind.ok() && *kind == FileKind::kHdf5;
}

// Sets *tells to false in each process that prints no messages. Only one process prints them.
Status PackCommand::merge(PackReport* report, bool* tells) {
  const Status added = add_outputs();
  Progress progress(tool_, "moving values");
  const Needs needs = options_.writer.io == Io::kMpiIo ? Needs::kMpi : Needs::kAnyRanks;
  // Except with mode pack, inputs share blocks, so one rank plans all blocks. In a single process,
  // the threads of this rank move the values. HDF5 files take long to read, so ranks share them.
  const bool has_shares = packs() || begins_with_hdf5();
  const std::size_t parts = has_shares && !options_.subset ? options_.inputs.size() : 1;
  if (options_.hdf5)
    options_.hdf5->on_losses = [&](const FileReader& between, const Hdf5Losses& lost) {
      return accept_losses(between, lost, report);
    };
  const Status status =
      run_on_ranks(tool_, tool_.app(), parts, needs, [&](Communicator& ranks, unsigned threads) {
        NMB_TRY(added);
        const auto begin = std::chrono::steady_clock::now();
        if (launched_ranks() > 1) NMB_TRY(gather_inputs_of_first(ranks));
        NMB_TRY(ranks.first([&] { return check_files(); }));
        PackOptions options = options_;
        options.writer.threads = threads;
        NMB_ASSIGN(const bool keeps_names, selects_from_one_archive(options));
        if (keeps_names) options.block_name = "{group}";
        if (auto* const join = std::get_if<Join>(&options.mode); join && !no_history_)
          join->history = history_line("nmcat", decisive_options(), options_.inputs);
        if (ranks.rank() == 0) {
          options.writer.progress = progress.callback();
          Status packed = pack(options, report, ranks);
          seconds_ =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
          return packed;
        }
        if (!ranks.shares_memory()) *tells = false;
        PackReport other;
        return pack(options, &other, ranks);
      });
  progress.finish();
  return status;
}

Status PackCommand::conclude(const PackReport& report, const Status& status) {
  const auto names_report = [&](const Status& failure) {
    return failure.code() == Code::kUsage && failure.file() == report_path_;
  };
  if (names_report(status) || std::ranges::any_of(report.unreadable, names_report))
    report_file_.reset();
  tell(report);
  if (!status.ok()) report_what_stays(report);
  const Status reported = report_result(report, status);
  if (!reported.ok() && status.ok() && !options_.writer.dry_run)
    return reported.with(options_.output + " was written");
  NMB_TRY(reported);
  const std::uint64_t memory = tool_.options().memory;
  if (status.ok() && memory > 0 && report.plan && report.plan->peak_memory > memory)
    return Status(Code::kLimit, "the run would take " + human_bytes(report.plan->peak_memory) +
                                    " of memory; --mem allows " + human_bytes(memory));
  // tell() has already reported each input that cannot be used.
  return report.unreadable.empty() ? status : Status();
}

Status PackCommand::report_result(const PackReport& report, const Status& status) {
  const bool tells_json = tool_.options().json;
  if (tells_json || !report_path_.empty()) {
    NMB_ASSIGN(const Json json, report_json(report, status));
    if (report_file_) NMB_TRY(write_report(json));
    if (tells_json) return write_json(tool_.out(), json);
  }
  return report.plan ? write_plan(tool_.out(), options_, report) : Status();
}

// Returns one message, with the path of the input and a text, for each part of an input that OUT
// does not contain.
std::vector<std::pair<std::string, std::string>> PackCommand::loss_lines(
    const std::vector<PackLoss>& losses) const {
  if (to_ != "nmb") return not_written_lines(losses);
  std::vector<std::pair<std::string, std::string>> lines;
  for (const PackLoss& loss : losses) lines.emplace_back(loss.path, loss.line());
  return lines;
}

// Returns a note about blocks without the tag of rule `number`.
std::string PackCommand::without_tag_text(std::size_t number, std::uint64_t blocks) const {
  const TagRule& rule = options_.tags[number];
  return fmt::format(
      "{}: {} no tag {}, because {}", options_.output,
      counted(blocks, "block") + (blocks == 1 ? " has" : " have"), printable(rule.name),
      rule.from == TagRule::From::kAttribute
          ? fmt::format("{} no global attribute {}", blocks == 1 ? "it has" : "they have",
                        printable(rule.value))
          : fmt::format("{} lacks the captures of {}", blocks == 1 ? "its name" : "each name",
                        printable(rule.value)));
}

void PackCommand::tell(const PackReport& report) {
  Diagnostics& diagnostics = tool_.diagnostics();
  for (const std::string& warning : report.warnings) diagnostics.warning("", warning);
  for (const std::string& text : not_written_) diagnostics.loss("", text);
  std::vector<PackLoss> losses = report.losses, refused;
  if (!lossy_) {
    const auto first = std::stable_partition(losses.begin(), losses.end(), [](const auto& loss) {
      return loss.kind != PackLoss::Kind::kValues;
    });
    refused.assign(first, losses.end());
    losses.erase(first, losses.end());
  }
  report_losses(loss_lines(refused), false, diagnostics);
  report_losses(loss_lines(losses), true, diagnostics);
  if (report.replaced > 0)
    diagnostics.note(
        fmt::format("replaced {} of {}", counted(report.replaced, "block"), options_.output));
  for (std::size_t i = 0; i < report.without_tag.size(); ++i)
    if (report.without_tag[i] > 0) diagnostics.note(without_tag_text(i, report.without_tag[i]));
  if (report.replaced_tags > 0)
    diagnostics.note("--tag replaced " + counted(report.replaced_tags, "tag") + " of the inputs");
  if (report.outside > 0) diagnostics.note(outside_text(options_.output, report.outside));
  rules_.report_differing(report, options_.inputs.size(), diagnostics);
  if (report.without_statistics > 0)
    diagnostics.note(without_statistics_text(options_.output, report.without_statistics));
  if (!report.view_note.empty())
    diagnostics.note(options_.output + ": " + report.view_note, report.has_large_view);
  const bool has_report = tool_.options().json || !report_path_.empty();
  if (digest_ != RecordedDigests::kNone &&
      report.originals + report.without_original + report.digested == 0 &&
      report.totals.blocks > 0 && (digest_ == RecordedDigests::kXxh3 || !has_report))
    diagnostics.note(options_.output +
                     ": --digest recorded nothing, because no input is a classic or HDF5 file" +
                     (digest_ == RecordedDigests::kXxh3
                          ? ""
                          : "; use --json or --report for the SHA-256 of all inputs"));
  if (report.without_original > 0)
    diagnostics.note(without_original_text(options_.output, report.without_original,
                                           !options_.compression         ? "--split-names"
                                           : !compression_.codec.empty() ? "--compress"
                                           : !compression_.chunk.empty() ? "--chunk"
                                                                         : "--shuffle"));
  if (report.parted_originals > 0)
    diagnostics.note(parted_originals_text(options_.output, report.parted_originals));
  if (const auto text =
          stored_twice_text(options_.output, report.stored_twice, report.original_bytes))
    diagnostics.note(*text);
  if (report.decompressed > 0)
    diagnostics.note(
        fmt::format("{}: the values of {} are compressed in the inputs, but not in OUT, because a "
                    "classic netCDF file cannot have compressed values; to keep chunks and "
                    "compression, give OUT the ending .nc4 or use --to nc4",
                    options_.output, counted(report.decompressed, "variable")));
  note_archive(tool_, report, options_.inputs);
  if (!report.join_note.empty())
    diagnostics.note(options_.output + ": " + report.join_note + "; --along chooses a dimension");
  if (!report.kind_note.empty())
    diagnostics.note(options_.output + " is " + report.kind_note + "; --to chooses another kind");
  report_unreadable(tool_, report);
  std::vector<std::pair<std::string, std::string>> of_output;
  for (const std::string& loss : losses_) of_output.emplace_back(options_.output, loss);
  report_losses(of_output, lossy_, diagnostics);
  report_conflicts(tool_, report, options_.inputs.size());
}

Result<std::string> PackCommand::digest_of_file(const std::string& path) const {
  NMB_ASSIGN(const std::unique_ptr<FileSource> file, FileSource::open(path));
  NMB_ASSIGN(const Sha256 digest, sha256(*file));
  return digest_text(digest);  // not interruptible, because OUT is already complete
}

Status PackCommand::write_report(const Json& json) {
  const std::unique_ptr<OutputFile> file = std::move(report_file_);
  const std::string text = json.dump(1, ' ', true) + "\n";
  NMB_TRY(file->write_at(0, std::as_bytes(std::span(text))));
  return file->publish();
}

Result<Json> PackCommand::report_json(const PackReport& report, const Status& status) const {
  Json json = json_document("cat");
  json.update({{"output", json_text(options_.output)},
               {"done", status.ok() && !options_.writer.dry_run},
               {"inputs", report.inputs},
               {"bytes_in", report.bytes_in},
               {"bytes_out", report.bytes_out},
               {"value_bytes", report.value_bytes},
               {"linked_bytes", report.linked_bytes},
               {"seconds", std::round(seconds_ * 1e6) / 1e6}});
  json.update(totals_json(report.totals));
  json.update({{"without_statistics", report.without_statistics},
               {"decompressed", report.decompressed},
               {"stored_twice", report.stored_twice}});
  if (pack_.replace) json["replaced"] = report.replaced;
  if (options_.choice()) json["not_chosen"] = report.not_chosen;
  if (!options_.tags.empty()) {
    json["replaced_tags"] = report.replaced_tags;
    json["without_tag"] = Json::object();
    for (std::size_t i = 0; i < report.without_tag.size(); ++i)
      json["without_tag"][json_text(options_.tags[i].name)] = report.without_tag[i];
  }
  json["view_note"] = report.view_note.empty() ? Json() : Json(json_text(report.view_note));
  if (report.plan) json["plan"] = plan_json(options_, report);
  std::vector<std::string> losses = losses_;
  std::ranges::transform(loss_lines(report.losses), std::inserter(losses, losses.begin()),
                         [](const auto& line) { return line.first + ": " + line.second; });
  Json originals = Json::array();
  if (status.ok() && report.originals + report.digested > 0 && !options_.writer.dry_run) {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
               FileReader::open(options_.output, {.external = ExternalPaths::kNone}));
    NMB_ASSIGN(const std::vector<OriginalFile> files, originals_of(*reader));
    for (const OriginalFile& original : files) originals.push_back(original_json(original));
  }
  Json linked = Json::array();
  for (const ExternalFile& file : report.external_files)
    linked.push_back({{"file", json_text(file.path)}, {"bytes", file.size}});
  json.update(agreement_json(report));
  json.update({{"losses", json_messages(losses)},
               {"linked", std::move(linked)},
               {"originals", std::move(originals)},
               {"errors", errors_json(report, status)}});
  std::vector<std::string> warnings = report.warnings;
  warnings.insert(warnings.end(), not_written_.begin(), not_written_.end());
  json["warnings"] = json_messages(warnings);
  if (digest_ != RecordedDigests::kSha256 || !status.ok() || options_.writer.dry_run) return json;
  json["sources"] = Json::array();
  for (const std::string& input : options_.inputs) {
    NMB_ASSIGN(const std::string digest, digest_of_file(input));
    json["sources"].push_back({{"file", json_text(input)}, {"sha256", digest}});
  }
  NMB_ASSIGN(json["sha256_out"], digest_of_file(options_.output));
  return json;
}

}  // namespace nmb::tools
