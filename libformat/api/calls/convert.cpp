#include "convert/convert.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calls/arguments.h"
#include "calls/call_options.h"
#include "convert/not_written.h"
#include "handles/inspected_file.h"
#include "merge/reporting/merge.h"
#include "nmb/convert.h"
#include "wire/enumerators.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Messages of pack() name fields of MergeOptions; ConvertOptions has them too.
Status in_own_words(const Status& status) {
  constexpr std::string_view kOther = "MergeOptions::", kOwn = "ConvertOptions::";
  std::string message = status.message();
  const std::size_t first = message.find(kOther);
  if (first == message.npos) return status;
  for (std::size_t at = first; at != message.npos; at = message.find(kOther, at + kOwn.size()))
    message.replace(at, kOther.size(), kOwn);
  return Status(status.code(), status.file(), status.offset(), status.rule(), std::move(message),
                status.rank());
}

class Conversion {
 public:
  Conversion(const std::string& input, const std::string& output, const ConvertOptions& options,
             Communicator& ranks, ConvertReport* report)
      : input_(input), output_(output), options_(options), ranks_(ranks), report_(*report) {}

  Status run() {
    NMB_TRY(agree_on_arguments(ranks_, "convert()", options_, {input_, output_}));
    NMB_TRY(check_options());
    NMB_TRY(ranks_.agree(open()));
    if (options_.to == FileKind::kNmb || options_.to == FileKind::kHdf5)
      return in_own_words(merge_one());
    NMB_ASSIGN(const Kind kind, classic_kind(options_.to));
    return to_classic(kind);
  }

 private:
  // Refuses options that the kind of the output has no place for.
  Status check_options() const {
    NMB_TRY(check_enumerator(options_.to, FileKind::kUnknown, "FileKind"));
    NMB_TRY(check_enumerator(options_.external, ExternalPaths::kAny, "ExternalPaths"));
    const auto needs = [&](const char* option, const char* kinds) {
      return Status(Code::kUsage, joined_text("ConvertOptions::", option, " needs ", kinds,
                                              "; ConvertOptions::to is ", kind_name(options_.to)));
    };
    if (!options_.netcdf && options_.to != FileKind::kHdf5)
      return needs("netcdf = false", "an HDF5 output");
    if (options_.to == FileKind::kNmb) return {};
    if (options_.statistics != StatisticsLevel::kNone) return needs("statistics", "an NMB output");
    if (options_.hdf5_view == Hdf5View::kOn)
      return needs("hdf5_view = Hdf5View::kOn", "an NMB output");
    if (options_.to == FileKind::kHdf5) return {};
    NMB_ASSIGN(const auto compression, compression_of(options_.storing));
    return compression ? needs("storing", "an NMB or HDF5 output") : Status();
  }
  Status open() {
    OutputSet outputs;
    NMB_TRY(outputs.add(output_, "output"));
    NMB_TRY(outputs.check_input(input_, "input"));
    NMB_ASSIGN(const std::shared_ptr<const InputFile> input, InputFile::open(input_));
    NMB_TRY(check_references(outputs, input));
    NMB_ASSIGN(InspectedFile file, InspectedFile::open(input, {.external = options_.external}));
    file_ = std::make_unique<InspectedFile>(std::move(file));
    return {};
  }

  void warn(const std::string& text) { report_.warnings.push_back(input_ + ": " + text); }
  Status check_strict() const {
    const std::size_t count = report_.losses.size() + report_.warnings.size();
    if (!options_.strict || count == 0) return {};
    return Status(Code::kConflict, output_, kNoOffset, "",
                  joined_text(count, count == 1 ? " warning" : " warnings",
                              " with ConvertOptions::strict; nothing was written"));
  }
  // Adds losses. Fails with kConflict if there are any, unless they are accepted.
  Status lose(const std::vector<std::string>& lines) {
    report_.losses.insert(report_.losses.end(), lines.begin(), lines.end());
    if (lines.empty() || options_.lossy) return check_strict();
    const std::string more =
        lines.size() == 1 ? "" : joined_text("; ", lines.size() - 1, " more losses");
    return Status(Code::kConflict, input_, kNoOffset, "", lines.front() + more);
  }
  Status lose(const Hdf5Losses& lost) {
    for (const Loss& change : lost.changes) warn(change.line());
    std::vector<std::string> lines;
    for (const std::vector<Loss>* list : {&lost.losses, &lost.damaged})
      for (const Loss& loss : *list) lines.push_back(loss.line());
    if (std::string text = lost.records.text(); !text.empty()) lines.push_back(std::move(text));
    return lose(lines);
  }
  // Adds the losses of content that only an NMB file can hold. They never make the call fail.
  Status note_what_stays() {
    const FileReader* const reader = file_->reader();
    if (!reader || ranks_.rank() != 0) return {};
    if (!options_.block) {
      NMB_ASSIGN(std::vector<std::string> lines, not_written_lines(*reader));
      report_.losses.insert(report_.losses.end(), lines.begin(), lines.end());
      return {};
    }
    NMB_ASSIGN(const std::optional<BlockEntry> entry, reader->find(*options_.block));
    if (!entry) return {};  // the search for the block fails later
    NMB_ASSIGN(const TagCounts counts, reader->tag_counts(*entry));
    if (counts.tags > 0) report_.losses.push_back(no_place_for_tags(counts));
    return {};
  }

  // Writes an NMB or HDF5 file.
  Status merge_one() {
    PackOptions all;
    all.inputs = {input_};
    all.output = output_;
    all.block_name = "{group}";
    all.only_block = options_.block;
    all.refused_losses = options_.lossy ? RefusedLosses::kNone : RefusedLosses::kAll;
    NMB_ASSIGN(all.compression, compression_of(options_.storing));
    all.check = options_.check;
    all.strict = options_.strict;
    all.external = options_.external;
    set_output(options_, &all.writer);
    if (options_.to == FileKind::kNmb) {
      all.originals = options_.originals ? Originals::kStoreIfPossible : Originals::kDrop;
      all.writer.hdf5_view = options_.hdf5_view;
      all.writer.statistics = options_.statistics;
    } else {
      NMB_TRY(ranks_.agree(note_what_stays()));
      Hdf5Output& hdf5 = all.hdf5.emplace();
      hdf5.plain = !options_.netcdf;
      hdf5.check = options_.check;
      hdf5.source = input_;
      hdf5.on_losses = [this](const FileReader&, const Hdf5Losses& lost) { return lose(lost); };
    }
    PackReport report;
    const Status status = pack(all, &report, ranks_);
    for (const PackLoss& loss : report.losses) report_.losses.push_back(loss.line());
    for (const PackConflict& conflict : report.conflicts) report_.losses.push_back(conflict.text());
    report_.warnings.insert(report_.warnings.end(), report.warnings.begin(), report.warnings.end());
    if (!report.view_note.empty()) report_.warnings.push_back(report.view_note);
    return status;
  }

  Result<BlockEntry> chosen_block() const {
    std::optional<BlockEntry> entry;
    if (options_.block) {
      NMB_ASSIGN(entry, file_->find(*options_.block));
      if (entry) return *std::move(entry);
      return Status(Code::kNotFound, input_, kNoOffset, "",
                    joined_text("found no block \"", *options_.block, "\""));
    }
    if (file_->totals().blocks != 1)
      return Status(Code::kConflict, input_, kNoOffset, "",
                    joined_text("found ", file_->totals().blocks,
                                " blocks, expected 1 for a classic file; name one of them"));
    NMB_TRY(file_->for_each_entry("", [&](const BlockEntry& only) -> Result<bool> {
      entry = only;
      return false;
    }));
    return *std::move(entry);
  }

  Status to_classic(Kind kind) {
    ExtractOptions all;
    all.kind = kind;
    all.check = options_.check;
    set_output(options_, &all);
    BlockEntry entry;
    ClassicView view;
    const auto prepare = [&]() -> Status {
      NMB_ASSIGN(entry, chosen_block());
      if (file_->reader())
        for (const Finding& warning : file_->reader()->warnings()) warn(warning.text());
      NMB_TRY(note_what_stays());
      if (file_->reader() && entry.kind == static_cast<std::uint16_t>(kind)) return check_strict();
      NMB_ASSIGN(std::shared_ptr<const Dataset> dataset, file_->dataset(entry));
      if (file_->is_classic())
        for (const HeaderRemark& remark : dataset->remarks)
          if (remark.rule == "R-CH-6") warn(remark.text());
      NMB_ASSIGN(const FileDimensions dimensions,
                 FileDimensionsReader(file_->blocks()).of(*dataset));
      NMB_ASSIGN(view, classic_view(std::move(dataset), kind, &dimensions.lengths,
                                    dimensions.first_made_up));
      std::vector<std::string> lines;
      for (const Loss& loss : view.losses) lines.push_back(loss.line());
      return lose(lines);
    };
    NMB_TRY(ranks_.agree(prepare()));
    // A block that is of this kind already is written with the same bytes.
    if (!view.dataset) return extract_block(*file_->reader(), entry, output_, all, ranks_);
    return write_classic(*view.dataset, kind, output_, all, ranks_);
  }

  const std::string& input_;
  const std::string& output_;
  const ConvertOptions& options_;
  Communicator& ranks_;
  ConvertReport& report_;
  std::unique_ptr<InspectedFile> file_;
};

}  // namespace

Status try_convert(const std::string& input, const std::string& output,
                   const ConvertOptions& options, ConvertReport* report) {
  ConvertReport own;
  if (report) *report = {};
  return with_ranks(options.ranks, [&](Communicator& ranks) {
    return Conversion(input, output, options, ranks, report ? report : &own).run();
  });
}

}  // namespace nmb
