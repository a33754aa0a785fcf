#include "nmconvert/conversion.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "client/hdf5.h"
#include "common/options/output_kind.h"
#include "common/options/statistics_option.h"
#include "common/printing/units.h"
#include "convert/convert.h"
#include "convert/write_cmip7.h"
#include "files/files.h"
#include "handles/glob.h"
#include "merge/reporting/merge.h"
#include "merge/reporting/pack_report.h"
#include "model/text.h"
#include "netcdf/netcdf_view.h"
#include "nmconvert/block_files.h"
#include "nmconvert/conversion_notes.h"
#include "nmconvert/handed_over.h"
#include "reader/file_reader.h"
#include "verify/verify.h"

namespace nmb::tools {

namespace {

using Outcome = ConversionRecord::Outcome;

namespace fs = std::filesystem;

std::optional<Kind> classic_kind(const std::string& to) {
  static const std::map<std::string, Kind> kKinds{
      {"cdf1", Kind::kCdf1}, {"cdf2", Kind::kCdf2}, {"cdf5", Kind::kCdf5}};
  const auto it = kKinds.find(to);
  return it == kKinds.end() ? std::nullopt : std::optional(it->second);
}

std::string classic_word(Kind kind) {
  return kind == Kind::kCdf1 ? "cdf1" : kind == Kind::kCdf2 ? "cdf2" : "cdf5";
}

class Converter {
 public:
  Converter(const ConversionOptions& options, Communicator& ranks, unsigned threads,
            ConversionRecord* record)
      : options_(options),
        ranks_(ranks),
        threads_(threads),
        record_(*record),
        to_(record->of.to),
        notes_(options, record) {}

  Status run() {
    const Conversion& what = record_.of;
    NMB_ASSIGN(file_, FileSource::open(what.input));
    record_.bytes_in = file_->size();
    record_.modified_in = file_->stamp().modified_ns;
    NMB_TRY(options_.outputs->check_input(what.input, "input"));
    NMB_ASSIGN(const FileKind kind, kind_of(*file_));
    if (kind == FileKind::kUnknown) return refused_kind(*file_, kind);
    if (kind == FileKind::kHdf5 && may_be_hdf5()) to_ = "nc4";
    if (kind == FileKind::kHdf5 && to_.empty() && !options_.cmip7)
      return Status(Code::kUsage, file_->name(), kNoOffset, "",
                    "the ending of OUTPUT does not determine its kind for an HDF5 input; use --to "
                    "with nc4, hdf5, cdf1, cdf2 or cdf5");
    NMB_TRY(check_options(kind));
    // With --digest, the input must not change during the conversion: the digest of changing bytes
    // would match no file.
    if (kind == FileKind::kNmb && !options_.digest) watch_generation();
    if (options_.folders) NMB_TRY(make_folders());
    std::error_code none;
    compare_ = options_.accept_equal && !options_.overwrite &&
               fs::is_regular_file(fs::symlink_status(what.output, none));
    if (options_.cmip7) return to_cmip7();
    if (options_.subset) return write_subset(kind);
    if (to_ == "nmb") return to_nmb(kind);
    if (kind == FileKind::kNmb) return from_nmb();
    if (what.block) return refused_extract(kind);
    if (to_ == "hdf5" || to_ == "nc4") return through_nmb();
    return kind == FileKind::kHdf5 ? from_hdf5() : from_classic();
  }

 private:
  // Allows other programs to add data to the NMB input while it is read.
  void watch_generation() {
    const Result<std::unique_ptr<FileReader>> reader = FileReader::open(file_);
    if (reader.ok()) unchanged_ = (*reader)->generation_check();
    // If this fails, the failure is reported later, when the file is read.
  }

  Status make_folders() {
    const fs::path folder = fs::path(record_.of.output).parent_path();
    std::error_code error;
    if (!folder.empty()) fs::create_directories(folder, error);
    if (!error) return {};
    return Status(error == std::errc::no_space_on_device ? Code::kNoSpace : Code::kIo,
                  folder.string(), kNoOffset, "", "cannot make the folder: " + error.message());
  }

  // Refuses options that have no effect for the kinds of input and output.
  Status check_options(FileKind kind) const {
    const std::string& to = to_;
    const auto usage = [&](const std::string& options, const char* needed) {
      return Status(Code::kUsage, file_->name(), kNoOffset, "",
                    options + needed + "; the kind of the input is " +
                        std::string(kind_name(kind)) + ", that of the output is " +
                        (to.empty() ? "the same" : to));
    };
    if (options_.repack && (kind != FileKind::kNmb || to != "nmb"))
      return usage("--repack", " needs an NMB input and an NMB output");
    if (options_.cmip7 && (kind == FileKind::kNmb || (!to.empty() && to != "nc4")))
      return usage("--layout", " needs a netCDF or HDF5 input and a netCDF-4 output");
    if (options_.compression && to != "nmb" && to != "hdf5" && to != "nc4")
      return usage("--compress, --shuffle and --chunk", " need an NMB or HDF5 output");
    const bool keeps_all =
        is_classic(kind) || (kind == FileKind::kHdf5 && options_.originals &&
                             !options_.compression && record_.of.block_by.empty());
    if (options_.lossy && to == "nmb" && keeps_all)
      return usage("--lossy", " has no effect here, because nothing can be lost");
    if (!options_.originals && to != "nmb") return usage("--no-originals", " needs an NMB output");
    if (options_.inline_limit && to != "nmb") return usage("--inline", " needs an NMB output");
    if (options_.digests == RecordedDigests::kXxh3 &&
        (to != "nmb" || kind == FileKind::kNmb || options_.compression || !options_.originals ||
         !record_.of.block_by.empty()))
      return usage("--digest xxh128",
                   " needs a classic or HDF5 input that is stored whole in an NMB output");
    if (options_.hdf5_view.view.value_or(Hdf5View::kOff) != Hdf5View::kOff && to != "nmb")
      return usage("--hdf5-view", " needs an NMB output");
    NMB_TRY(options_.hdf5_view.check(to == "nmb"));
    if (record_.of.statistics != "none" && to != "nmb")
      return usage("--stats", " needs an NMB output");
    if (!record_.of.block_by.empty() && to != "nmb")
      return usage("--block-by and --regroup", " need an NMB output");
    return {};
  }

  OutputOptions output_options() {
    auto options = static_cast<const OutputOptions&>(options_);
    options.overwrite = may_replace();
    options.threads = threads_;
    options.layer = [this](std::unique_ptr<OutputFile> file) {
      return hand_over(std::move(file), {file_.get(), unchanged_, options_.digest, compare_,
                                         threads_, options_.cancel, &record_});
    };
    return options;
  }

  bool may_replace() const { return options_.overwrite || compare_; }

  Status to_nmb(FileKind kind) {
    const ViewChoice& view = options_.hdf5_view;
    bool has_view = false;
    ViewOptions shown;
    if (kind == FileKind::kNmb && view.view.value_or(Hdf5View::kOn) != Hdf5View::kOff) {
      NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
                 FileReader::open(file_, {.external = ExternalPaths::kNone}));
      has_view = !view.view && reader->has_hdf5_view();
      NMB_ASSIGN(shown, reader->hdf5_view_options());
    }
    PackOptions options = pack_options();
    options.keep_statistics = options_.keep_statistics;
    options.refused_losses = options_.lossy ? RefusedLosses::kNone : RefusedLosses::kAll;
    options.originals = options_.originals ? Originals::kStoreIfPossible : Originals::kDrop;
    if (stores_originals(options)) std::get<Pack>(options.mode).digests = options_.digests;
    // If an NMB input has no view, its copy gets no view.
    const Hdf5View usual = view.has_options()       ? Hdf5View::kAuto
                           : kind == FileKind::kNmb ? Hdf5View::kOff
                                                    : Hdf5View::kSmall;
    options.writer.hdf5_view = has_view ? Hdf5View::kOn : view.view.value_or(usual);
    options.writer.view_dimensions = view.dimensions.value_or(shown.dimensions);
    options.writer.view_copies = view.copies.value_or(shown.copies);
    options.writer.statistics = statistics_level(record_.of.statistics);
    PackReport report;
    const Status packed = pack(options, &report, ranks_);
    notes_.take_report(&report);
    const Status status = notes_.take_losses(report, packed);
    if (!has_view || status.code() != Code::kUnsupported || status.file() != record_.of.output)
      return status;
    return status.with("INPUT has a view; use --hdf5-view off to write OUTPUT without a view");
  }

  // First writes a temporary NMB file, and then converts it to the HDF5 output. Used if the input
  // is not an NMB file, if only one block is written, or if the compression of values changes.
  Status through_nmb() {
    PackOptions options = pack_options();
    PackReport report;
    bool is_packed = false;
    Hdf5Output& hdf5 = options.hdf5.emplace();
    hdf5.plain = to_ == "hdf5";
    hdf5.check = options_.check;
    hdf5.source = record_.of.input;
    hdf5.on_losses = [&](const FileReader& between, const Hdf5Losses& lost) -> Status {
      is_packed = true;
      notes_.take_report(&report);
      // For a whole NMB file, from_nmb() has already given these warnings.
      if (record_.of.block) {
        for (const PackLoss& loss : report.losses) notes_.lose(loss.line());
        NMB_TRY(notes_.warn_of_tags(between.tag_counts()));
        NMB_TRY(notes_.check_warnings());
      }
      return notes_.accept_losses(lost);
    };
    const Status written = pack(options, &report, ranks_);
    notes_.take_report(&report);
    if (!is_packed || !record_.of.block || written.file() != record_.of.input ||
        (written.code() != Code::kDamaged && written.code() != Code::kUnsupported))
      return written;
    return Status(Code::kConflict, written.file(), kNoOffset, written.rule(),
                  "block \"" + printable(*record_.of.block) +
                      "\" cannot be written alone: " + written.message() +
                      "; if it refers to objects of other blocks, extract a block above all of "
                      "them, or convert the whole file");
  }

  // Writes the part of the input that options_.subset describes.
  Status write_subset(FileKind kind) {
    if (kind == FileKind::kNmb) {
      NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
                 FileReader::open(
                     file_, {.cache_bytes = options_.cache_bytes, .external = options_.external}));
      NMB_TRY(ranks_.agree(find_blocks(*reader)));
      NMB_TRY(ranks_.agree(settle_kind(*reader)));
      if (to_.empty()) {
        NMB_ASSIGN(const BlockEntry entry, chosen_block(*reader));
        to_ = classic_word(static_cast<Kind>(entry.kind));
      }
    } else if (record_.of.block) {
      return refused_extract(kind);
    } else if (to_.empty()) {
      to_ = kind == FileKind::kCdf1 ? "cdf1" : kind == FileKind::kCdf2 ? "cdf2" : "cdf5";
    }
    if (to_ == "nmb") return to_nmb(kind);
    if (wants_hdf5()) return through_nmb();
    PackOptions options = pack_options();
    options.classic = classic_kind(to_);
    PackReport report;
    const Status written = pack(options, &report, ranks_);
    notes_.take_report(&report);
    return written;
  }

  Status refused_extract(FileKind kind) const {
    return Status(
        Code::kUsage, file_->name(), kNoOffset, "",
        "--extract needs an NMB input; this is a " + std::string(kind_name(kind)) + " file");
  }

  Status to_cmip7() {
    NMB_TRY(ranks_.first([&] { return check_references(*options_.outputs, file_); }));
    return write_cmip7(file_, record_.of.output, {extract_options()}, ranks_,
                       [this](const Hdf5Losses& lost) { return notes_.accept_losses(lost); });
  }

  Status to_hdf5(const FileReader& reader) {
    ExtractOptions options = extract_options();
    options.plain = to_ == "hdf5";
    options.on_losses = [this](const FileReader&, const Hdf5Losses& lost) {
      return notes_.accept_losses(lost);
    };
    return write_hdf5(reader, record_.of.input, record_.of.output, options, ranks_);
  }

  PackOptions pack_options() {
    PackOptions options;
    options.inputs = {record_.of.input};
    options.output = record_.of.output;
    // A classic file becomes the root block; the blocks of an NMB file keep their names.
    options.block_name = "{group}";
    options.block_by = options_.block_by;
    if (pattern_)
      options.wants_block = [this](std::string_view name) { return pattern_->matches(name); };
    else
      options.only_block = record_.of.block;
    options.block_by.keep_unmatched = options.block_by.by == BlockRule::By::kPrefix;
    options.subset = options_.subset;
    options.compression = options_.compression;
    options.external = options_.external;
    options.outputs = options_.outputs;
    // The output keeps the provenance of an NMB input.
    options.provenance = [](const std::vector<PackSource>& sources) {
      return sources.front().provenance;
    };
    if (options_.inline_limit) options.writer.inline_limit = *options_.inline_limit;
    static_cast<OutputOptions&>(options.writer) = output_options();
    options.check = options_.check;
    options.strict = options_.strict;
    return options;
  }

  Status from_nmb() {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
               FileReader::open(
                   file_, {.cache_bytes = options_.cache_bytes, .external = options_.external}));
    NMB_TRY(ranks_.first([&] { return check_nothing_pending(*reader); }));
    NMB_TRY(check_references(*options_.outputs, *reader));
    for (const Finding& warning : reader->warnings()) notes_.warn(warning.text());
    NMB_TRY(ranks_.agree(find_blocks(*reader)));
    if (!record_.of.block)
      NMB_TRY(ranks_.first([&] { return notes_.warn_of_what_stays(*reader); }));
    NMB_TRY(ranks_.agree(notes_.check_warnings()));
    NMB_TRY(ranks_.agree(settle_kind(*reader)));
    const bool to_hdf5_file = wants_hdf5();
    if (to_hdf5_file && !record_.of.block)
      return options_.compression ? through_nmb() : to_hdf5(*reader);
    if (pattern_) return through_nmb();
    NMB_ASSIGN(const BlockEntry entry, chosen_block(*reader));
    if (to_hdf5_file) return through_nmb();
    if (record_.of.block) {
      NMB_TRY(ranks_.first([&] { return notes_.warn_of_tags(reader->tag_counts(entry)); }));
      NMB_TRY(ranks_.agree(notes_.check_warnings()));
    }
    return classic_from_nmb(*reader, entry);
  }

  // If exactly one block matches the glob of --extract, replaces the glob by the name of this
  // block. If several blocks match, sets `pattern_`.
  Status find_blocks(const FileReader& reader) {
    std::optional<std::string>& block = record_.of.block;
    if (!block || options_.block_is_name) return {};
    NMB_ASSIGN(NamePattern pattern, NamePattern::glob(*block));
    std::uint64_t count = 0;
    std::string first;
    NMB_TRY(reader.for_each_entry(pattern.literal_prefix(),
                                  [&](const BlockEntry& entry) -> Result<bool> {
                                    NMB_ASSIGN(const bool matches, pattern.matches(entry.name));
                                    if (matches && count++ == 0) first = entry.name;
                                    return !(matches && pattern.is_literal());
                                  }));
    if (count == 0) return no_block_matches(reader, *block);
    if (count == 1) {
      block = first;
      return {};
    }
    if (may_be_hdf5()) make_groups(count);
    if (to_ != "nc4" && to_ != "hdf5")
      return Status(Code::kConflict, file_->name(), kNoOffset, "",
                    std::to_string(count) + " blocks match \"" + printable(*block) +
                        "\", but a classic file holds one block; use --to nc4 or --to hdf5 to "
                        "write each block as a group");
    pattern_ = std::move(pattern);
    return {};
  }

  // Returns the block that becomes a classic file.
  Result<BlockEntry> chosen_block(const FileReader& reader) const {
    std::optional<BlockEntry> entry;
    if (const std::optional<std::string>& block = record_.of.block) {
      NMB_ASSIGN(entry, reader.find(*block));
      if (entry) return *std::move(entry);
      return Status(Code::kNotFound, file_->name(), kNoOffset, "",
                    "found no block \"" + *block + "\"");
    }
    if (reader.totals().blocks != 1) {
      NMB_ASSIGN(entry, reader.find(""));
      if (is_extended(entry)) return *std::move(entry);
      return Status(Code::kConflict, file_->name(), kNoOffset, "",
                    "found " + std::to_string(reader.totals().blocks) +
                        " blocks, expected 1 for a classic file; --extract BLOCK writes one of "
                        "them");
    }
    NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& only) -> Result<bool> {
      entry = only;
      return false;
    }));
    return *std::move(entry);
  }

  Status classic_from_nmb(const FileReader& reader, const BlockEntry& entry) {
    const ExtractOptions extract = extract_options();
    if (!is_extended(entry) &&
        (!extract.kind || entry.kind == static_cast<std::uint16_t>(*extract.kind)))
      return extract_block(reader, entry, record_.of.output, extract, ranks_);
    std::shared_ptr<const LoadedBlock> block;
    std::vector<Loss> losses;
    FileDimensions dimensions;
    const auto load = [&]() -> Status {
      NMB_ASSIGN(block, reader.block(entry));
      NMB_ASSIGN(dimensions, FileDimensionsReader(blocks_of(reader)).of(*block));
      if (!is_extended(entry)) return {};
      const std::string below = entry.name.empty() ? "" : entry.name + "/";
      return reader.for_each_entry(below, [&](const BlockEntry& other) -> Result<bool> {
        if (other.name == entry.name) return true;
        NMB_TRY(lose_group(
            other, [&] { return reader.block(other); }, &losses));
        return true;
      });
    };
    NMB_TRY(ranks_.agree(load()));
    return to_classic(std::move(block), extract.kind.value_or(Kind::kCdf5), std::move(losses),
                      dimensions);
  }

  static FileBlocks blocks_of(const FileReader& reader) {
    return {[&](std::string_view name) { return reader.find(name); },
            [&](std::string_view prefix, const auto& visit) {
              return reader.for_each_entry(prefix, visit);
            },
            [&](const BlockEntry& entry) -> Result<std::shared_ptr<const Dataset>> {
              NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, reader.block(entry));
              return std::shared_ptr<const Dataset>(std::move(block));
            }};
  }

  static bool is_extended(const std::optional<BlockEntry>& entry) {
    return entry && entry->kind == static_cast<std::uint16_t>(Kind::kExtended);
  }

  // Records that a group is lost, because classic files have no groups.
  static Status lose_group(const BlockEntry& group,
                           const std::function<Result<std::shared_ptr<const LoadedBlock>>()>& load,
                           std::vector<Loss>* losses) {
    std::string found =
        counted(group.variables, "variable") + " and " + counted(group.attributes, "attribute");
    if (group.dimensions + group.variables + group.attributes == 0) {
      NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, load());
      NMB_ASSIGN(const ClassicView view, classic_view(std::move(block), Kind::kCdf5));
      if (view.losses.empty()) return {};
      found = "no variables and attributes, but links, named datatypes or comments";
    }
    losses->push_back(
        {"group \"/" + group.name + "\"", "found " + found + "; classic files have no groups"});
    return {};
  }

  // Writes `dataset` as a classic file. `losses` lists lost content outside the dataset.
  // `dimensions` is needed only if groups that are left out determine the lengths of some
  // dimensions of the dataset.
  Status to_classic(std::shared_ptr<const Dataset> dataset, Kind kind, std::vector<Loss> losses,
                    const FileDimensions& dimensions = {}) {
    const ExtractOptions options = extract_options();
    Result<ClassicView> view =
        classic_view(std::move(dataset), kind, &dimensions.lengths, dimensions.first_made_up);
    NMB_TRY(ranks_.agree(view.status()));
    losses.insert(losses.begin(), view->losses.begin(), view->losses.end());
    NMB_TRY(notes_.accept_losses(losses, "a classic file"));
    const Status written = write_classic(*view->dataset, kind, record_.of.output, options, ranks_);
    if (written.code() != Code::kConflict || !options_.lossy) return written;
    return Status(Code::kConflict, written.file(), kNoOffset, written.rule(),
                  written.message() + "; --lossy cannot write this: use another kind");
  }

  Status from_hdf5() {
    const auto blocks = open_hdf5(file_);
    NMB_TRY(ranks_.agree(blocks.status()));
    // The root group comes first; every HDF5 file has one.
    if (blocks->empty())
      return Status(Code::kDamaged, file_->name(), kNoOffset, "", "found no root group");
    for (const std::shared_ptr<const LoadedBlock>& group : *blocks)
      NMB_TRY(check_references(*options_.outputs, *group, file_->name()));
    std::vector<Loss> losses;
    for (std::size_t i = 1; i < blocks->size(); ++i) {
      const std::shared_ptr<const LoadedBlock>& group = (*blocks)[i];
      NMB_TRY(lose_group(
          group->entry, [&] { return Result<std::shared_ptr<const LoadedBlock>>(group); },
          &losses));
    }
    FileDimensions dimensions;
    MadeUpNumbers numbers;
    for (const std::shared_ptr<const LoadedBlock>& group : *blocks) {
      add_dimension_lengths(*group, &dimensions.lengths);
      NMB_TRY(ranks_.agree(numbers.add(*group)));
    }
    dimensions.first_made_up = numbers.first().at("");
    return to_classic(blocks->front(), classic_kind(to_).value_or(Kind::kCdf5), std::move(losses),
                      dimensions);
  }

  Status from_classic() {
    NMB_ASSIGN(std::shared_ptr<const Dataset> dataset, open_classic(file_));
    for (const HeaderRemark& remark : dataset->remarks)
      if (remark.rule == "R-CH-6") notes_.warn(remark.text());
    NMB_TRY(notes_.check_warnings());
    const Kind kind = classic_kind(to_).value_or(dataset->kind());
    return to_classic(std::move(dataset), kind, {});
  }

  // Returns whether the input determines the kind of the output, because OUTPUT ends in .nc.
  bool may_be_hdf5() const { return to_.empty() && kind_by_ending(record_.of.output) == "netcdf"; }

  // Makes the output a netCDF-4 file, because several blocks become groups.
  void make_groups(std::uint64_t blocks) {
    to_ = "nc4";
    // A subset may lack some of the blocks.
    record_.kind_note = record_.of.output + " is a netCDF-4 file, because " +
                        (options_.subset ? "" : std::to_string(blocks) + " ") +
                        "blocks become groups; --to chooses another kind";
  }

  // If the input determines the kind of the output, sets to_ for a block that came from HDF5, and
  // for several blocks.
  Status settle_kind(const FileReader& reader) {
    if (!to_.empty()) return {};
    if (record_.of.block && !may_be_hdf5()) return {};
    const std::string wanted = record_.of.block.value_or("");
    NMB_ASSIGN(const std::optional<BlockEntry> entry, reader.find(wanted));
    if (is_extended(entry)) to_ = "nc4";
    if (record_.of.block || !to_.empty() || !may_be_hdf5()) return {};
    const std::uint64_t blocks = reader.totals().blocks;
    if (blocks > 1) make_groups(blocks);
    return reader.for_each_entry("", [&](const BlockEntry& other) -> Result<bool> {
      if (blocks == 1 && is_extended(other)) to_ = "nc4";
      return false;
    });
  }

  // Returns true if the output must be an HDF5 file.
  bool wants_hdf5() const { return to_ == "hdf5" || to_ == "nc4"; }

  ExtractOptions extract_options() {
    ExtractOptions options;
    options.kind = classic_kind(to_);
    static_cast<OutputOptions&>(options) = output_options();
    options.check = options_.check;
    return options;
  }

  const ConversionOptions& options_;
  Communicator& ranks_;
  const unsigned threads_;
  ConversionRecord& record_;
  std::string to_;  // the kind of the output, as in Conversion; nc4 if the input requires it
  ConversionNotes notes_;
  std::shared_ptr<const FileSource> file_;
  std::function<Status(const ByteSource& now)>
      unchanged_;  // if empty, size and modification time are compared
  bool compare_ = false;
  // The glob of --extract, if several blocks match it.
  std::optional<NamePattern> pattern_;
};

}  // namespace

ConversionRecord convert(const Conversion& what, const ConversionOptions& options,
                         Communicator& ranks, unsigned threads) {
  const auto start = std::chrono::steady_clock::now();
  ConversionRecord record;
  record.of = what;
  record.status = Converter(options, ranks, threads, &record).run();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool interrupted = options.cancel && options.cancel->load();
  record.outcome = record.status.ok()                                 ? Outcome::kDone
                   : interrupted && record.status.code() == Code::kIo ? Outcome::kInterrupted
                                                                      : Outcome::kFailed;
  if (record.outcome == Outcome::kDone && ranks.rank() == 0) {
    // It is no failure if the output has already disappeared: --resume will convert the file again.
    if (const auto output = FileSource::open(what.output); output.ok())
      record.modified_out = (*output)->stamp().modified_ns;
  }
  if (record.outcome != Outcome::kDone) {
    record.bytes_out.reset();
    record.sha256_in.clear();
    record.sha256_out.clear();
  }
  return record;
}

}  // namespace nmb::tools
