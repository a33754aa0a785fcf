#include "merge/packer.h"

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include "files/read_back_output.h"
#include "merge/rank_inputs.h"
#include "merge/reading/input_rounds.h"
#include "merge/reading/input_shares.h"
#include "merge/reading/value_origin.h"
#include "merge/reporting/pack_plan.h"
#include "merge/reporting/pack_report.h"
#include "merge/storing/classic_output.h"
#include "merge/storing/merge_writer.h"
#include "merge/storing/planned_blocks.h"
#include "merge/storing/shared_names.h"
#include "merge/storing/tagger.h"
#include "merge/storing/window_jobs.h"
#include "merge/uniting/chunk_jobs.h"
#include "merge/uniting/described_inputs.h"
#include "merge/uniting/input_describer.h"
#include "merge/uniting/sent_values.h"
#include "merge/uniting/union_builder.h"
#include "model/name_rules.h"
#include "reader/file_reader.h"
#include "verify/verify.h"
#include "view/hdf5_view.h"
#include "wire/codecs.h"
#include "wire/joined_text.h"
#include "wire/memory_budget.h"
#include "writer/file_writer.h"

namespace nmb {

namespace {

// The first character of an origin. kOfInput: another rank opens the values at a position in an
// input. kSent: another rank opens the values from a description that it receives.
constexpr char kOfInput = 'i', kSent = 's';

class Packer : public MergeStep {
 public:
  explicit Packer(const MergeStep& step)
      : MergeStep(step), names_(ranks_, conflicts_), inputs_(*this, names_) {}

  // Collective. Returns the same error on all ranks.
  Status run() {
    const Status status = run_together();
    if (!status.ok() && writer_) writer_->abandon();
    return status;
  }

 private:
  Status prepare() {
    NMB_ASSIGN(Tagger tagger, Tagger::make(*this));
    tagger_.emplace(std::move(tagger));
    return inputs_.prepare();
  }

  Status run_together() {
    NMB_TRY(ranks_.agree(prepare(), "pack()"));
    NMB_TRY(ranks_.first([&] { return inputs_.check_outputs(); }));
    if (options_.pack().append) NMB_TRY(ranks_.first([&] { return inputs_.look_at_all(); }));
    NMB_TRY(open_output());
    NMB_TRY(plan());
    const bool is_dry = options_.writer.dry_run;
    if (planned_) return {};
    if (classic_ && is_dry && !options_.on_dataset) return describe_classic_plan();
    if (classic_)
      return classic_->write(inputs_.from(), [this] { return inputs_.check_unchanged(); });
    NMB_TRY(write());
    if (is_dry) return describe_plan();
    return ranks_.first([&] { return describe_result(); });
  }

  Status open_output() {
    if (!options_.packs()) prepare_unions();
    if (options_.on_block) {
      planned_.emplace(*this);
      return {};
    }
    if (options_.classic) {
      classic_.emplace(*this, inputs_.from().views);
      if (options_.writer.dry_run && options_.on_dataset) return {};
      return ranks_.first([&] {
        return check_new_output(options_.output, {.overwrite = options_.writer.overwrite,
                                                  .sync = options_.writer.sync});
      });
    }
    if (options_.pack().append && options_.writer.dry_run) {
      NMB_ASSIGN(const std::unique_ptr<FileSource> before, FileSource::open(options_.output));
      bytes_before_ = before->size();
    }
    NMB_ASSIGN(writer_, options_.pack().append
                            ? FileWriter::open(options_.output, writer_options(), ranks_)
                            : FileWriter::create(options_.output, writer_options(), ranks_));
    blocks_.emplace(*this, *writer_, names_, *tagger_);
    return {};
  }

  // Rank 0 unites the blocks of all inputs. Every other rank reads some inputs and describes them
  // for rank 0.
  void prepare_unions() {
    const std::uint64_t held =
        memory_budget(kHeldBytes) / static_cast<std::uint64_t>(ranks_.size());
    ReceivedFrom from = inputs_.from();
    if (ranks_.rank() != 0) {
      describer_.emplace(*this, from.views, held);
      return;
    }
    unions_.emplace(
        *this, from.views, held,
        [this](std::size_t input, MergeSink& sink) { return inputs_.read_again(input, sink); },
        &helpers_);
    from.read.cache_bytes =
        std::min<std::size_t>(from.read.cache_bytes, held / options_.inputs.size());
    DescribedInputs::Uses uses;
    uses.note_group = [this](const std::string& group) { names_.note_group(group); };
    uses.read = [this](std::size_t input) { return inputs_.take(input, *unions_); };
    uses.end = [this](InputOutcome input) { return inputs_.settle(std::move(input)); };
    described_.emplace(*this, *unions_, std::move(from), std::move(uses));
  }

  // Collective. Plans all inputs and reports all problems that can be found before values are
  // moved.
  Status plan() {
    Status planned;
    NMB_TRY(plan_inputs(&planned));
    inputs_.end_planning();
    if (options_.originals == Originals::kStoreIfPossible && !stores_originals(options_) &&
        blocks_ && options_.packs() && !options_.pack().link && !options_.hdf5)
      report_.without_original = inputs_.counts().whole_files;
    if (blocks_) report_.digested = blocks_->counts().digested;
    if (stores_originals(options_)) report_.parted_originals = inputs_.counts().parted_originals;
    report_.has_classic_blocks |= inputs_.counts().has_classic;
    if (ranks_.size() > 1) NMB_TRY(names_.compare_with_other_ranks());
    NMB_TRY(gather_report(ranks_, conflicts_.take(), &report_, &planned));
    for (PackSource& source : report_.sources) source.path = options_.inputs[source.index];
    for (PackLoss& loss : report_.losses) loss.path = options_.inputs[loss.input];
    Status names;
    NMB_TRY(check_names(&names));
    if (planned.ok()) planned = verdict(report_, options_);
    return ranks_.first([&] { return planned.ok() ? names : planned; });
  }

  // Collective. Sets *planned to the error that prevents this rank from planning.
  Status plan_inputs(Status* planned) {
    if (options_.packs()) {
      NMB_ASSIGN(share_, share_inputs(ranks_, options_.inputs));
      inputs_.set_end(share_.end);
      NMB_TRY(inputs_.number_blocks(share_));
      *planned = inputs_.take(share_, *blocks_);
    } else {
      share_ = {0, ranks_.rank() == 0 ? options_.inputs.size() : 0};
      NMB_TRY(read_rounds(planned));
      NMB_TRY(unite_blocks(planned));
      described_.reset();
      describer_.reset();
      unions_.reset();
    }
    if (!planned->ok()) return {};
    inputs_.report_losses(blocks_ ? &*blocks_ : nullptr);
    if (classic_ && ranks_.rank() == 0 && report_.unreadable.empty()) classic_->check();
    return {};
  }

  // Collective. Rank 0 unites the blocks. Meanwhile, the other ranks encode chunks for rank 0.
  Status unite_blocks(Status* planned) {
    if (!unions_)
      return serve_jobs(ranks_, [this](std::span<const std::byte> job) {
        return encode_chunks(job, {options_.writer.threads, options_.writer.cancel});
      });
    if (planned->ok()) *planned = finish_unions();
    return helpers_.end();
  }

  // Called only by rank 0.
  Status finish_unions() {
    std::vector<std::size_t> usable;
    for (const PackSource& source : report_.sources) usable.push_back(source.index);
    return on_first([&] {
      return unions_->finish(usable, planned_   ? static_cast<MergeSink&>(*planned_)
                                     : classic_ ? static_cast<MergeSink&>(*classic_)
                                                : *blocks_);
    });
  }

  // Runs work on rank 0. An exception must not leave this rank, because the other ranks wait for
  // helpers_.end().
  template <class Work>
  static Status on_first(const Work& work) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      return Status(Code::kLimit, "out of memory");
    }
  }

  // Collective. In each round, every rank reads some inputs. The inputs of a rank precede the
  // inputs of all higher ranks. Then rank 0 processes the descriptions from the other ranks.
  // Meanwhile, the other ranks begin the next round.
  Status read_rounds(Status* planned) {
    InputRounds rounds(ranks_, options_.inputs.size());
    for (bool goes_on = true; goes_on;) {
      const InputShare share = rounds.next();
      inputs_.set_end(share.end);
      // If rank 0 fails to process a description, the other ranks receive the error after the next
      // round.
      if (planned->ok())
        *planned =
            describer_ ? inputs_.describe(share, *describer_) : inputs_.take(share, *unions_);
      std::vector<Communicator::Parcel> parcels;
      const std::uint64_t length = describer_ ? describer_->size() : 0;
      if (length > 0) parcels.push_back({0, describer_->take()});
      NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(std::move(parcels)));
      NMB_ASSIGN(goes_on, rounds.go_on(planned->ok(), length));
      for (const Message& message : arrived)
        if (planned->ok()) *planned = described_->take(message.from(), message.bytes());
    }
    return {};
  }

  // --- names in the options that no object in any input has, for example misspelled names ---

  Result<bool> anywhere(bool here) { return ranks_.all_reduce(here, std::logical_or<>()); }
  // Records an error for a missing name, unless an error was recorded before.
  void note_missing(const std::string& what, Status* failure) const {
    if (failure->ok())
      *failure =
          Status(Code::kNotFound, options_.output, kNoOffset, "",
                 "no input has " + what + (options_.output.empty() ? "" : "; nothing was written"));
  }

  // Collective. Records an error if no rank has the object.
  Status expect(bool here, const std::string& what, Status* failure) {
    NMB_ASSIGN(const bool any, anywhere(here));
    if (!any) note_missing(what, failure);
    return {};
  }

  // Collective.
  Status check_names(Status* failure) {
    NMB_TRY(inputs_.check_choice(failure));
    if (options_.unique_groups)
      NMB_TRY(
          expect(names_.has_groups(),
                 "a group, so the names of groups (PackOptions::unique_groups) cannot be compared",
                 failure));
    if (options_.block_by.by == BlockRule::By::kPrefix)
      NMB_TRY(
          expect(inputs_.counts().has_divided,
                 "a variable that the expression " + in_quotes(options_.block_by.name) + " matches",
                 failure));
    if (options_.samples.by == SampleRule::By::kDimension && blocks_)
      NMB_TRY(expect(blocks_->has_sample_dimension(),
                     "dimension " + in_quotes(options_.samples.dimension) + " (samples)", failure));
    NMB_TRY(check_tags(failure));
    if (!options_.compression || !blocks_) return {};
    NMB_TRY(warn_of_plugin());
    for (std::size_t i = 0; i < options_.compression->chunk.size(); ++i)
      NMB_TRY(check_chunk(i, failure));
    return {};
  }

  // Collective. Counts the blocks without each tag. Reports an error for a tag that no block gets.
  Status check_tags(Status* failure) {
    for (std::size_t i = 0; i < options_.tags.size(); ++i) {
      const TagRule& rule = options_.tags[i];
      const Tagger::Count own = tagger_->counts()[i];
      NMB_ASSIGN(const std::uint64_t with, ranks_.all_reduce(own.with, std::plus<>()));
      NMB_ASSIGN(const std::uint64_t without, ranks_.all_reduce(own.without, std::plus<>()));
      report_.without_tag.push_back(without);
      if (with > 0 || without == 0) continue;
      note_missing(
          (rule.from == TagRule::From::kAttribute ? "the global attribute " + in_quotes(rule.value)
                                                  : "a block whose name has the captures") +
              " for tag " + in_quotes(rule.name),
          failure);
    }
    return {};
  }

  // Collective. Warns if an HDF5 output has values that HDF5 programs read only with a plug-in.
  // NMB outputs need no warning, because this library decodes all codecs.
  Status warn_of_plugin() {
    NMB_ASSIGN(const bool needs_plugin, anywhere(blocks_->needs_plugin()));
    if (!needs_plugin || !options_.hdf5 || ranks_.rank() != 0) return {};
    const CodecRow& codec = codec_row(*options_.compression->codec);
    report_.warnings.push_back(joined_text(
        options_.output, ": values are compressed with HDF5 filter ", codec.hdf5_filter, " (",
        codec.name,
        "), which the HDF5 library does not include; to read them, programs need the filter's "
        "plug-in in a folder that HDF5_PLUGIN_PATH names; Storing::codec \"deflate\" needs no "
        "plug-in"));
    return {};
  }

  // Collective. Checks whether the chunk length at index `place` in the options was used. Reports
  // an error or a warning if it was not used, or if it was too long.
  Status check_chunk(std::size_t place, Status* failure) {
    const Compression::ChunkLength& asked = options_.compression->chunk[place];
    const std::string object = asked.object();
    const ChunkUse& use = blocks_->chunk_use(place);
    NMB_ASSIGN(const bool known, anywhere(use.is_known));
    NMB_ASSIGN(const bool cut, anywhere(use.is_cut || use.is_clipped));
    NMB_ASSIGN(const bool clipped, anywhere(use.is_clipped));
    if (!known)
      note_missing((asked.variable.empty() ? "a variable with " : "the ") + object + " (chunks)",
                   failure);
    if (ranks_.rank() != 0 || !report_.unreadable.empty()) return {};
    // A separate warning for each variable gives the reason.
    if (known && !cut)
      report_.warnings.push_back(options_.output + ": no variable is cut into chunks along " +
                                 (asked.variable.empty() ? in_quotes(asked.dimension) : object));
    if (clipped)
      report_.warnings.push_back(options_.output + ": a chunk length of " +
                                 std::to_string(asked.length) + " is more than the length of " +
                                 object + "; the chunks get the dimension's length");
    return {};
  }

  // --- the NMB file ---

  // Collective.
  Status write() {
    NMB_TRY(ranks_.agree(blocks_->finish_inputs()));
    NMB_TRY(ranks_.agree(code_values()));
    NMB_TRY(writer_->end_define());
    NMB_TRY(ranks_.agree(blocks_->take_values()));
    NMB_TRY(ranks_.agree(store_provenance()));
    const MergeWriter::Counts& own = blocks_->counts();
    const std::pair<std::uint64_t*, std::uint64_t> sums[] = {
        {&report_.value_bytes, writer_->pending_bytes()},
        {&report_.linked_bytes, writer_->linked_bytes()},
        {&report_.originals, own.originals},
        {&report_.original_bytes, own.original_bytes},
        {&report_.stored_twice, own.stored_twice},
        {&report_.replaced, own.replaced},
        {&report_.replaced_tags, own.replaced_tags},
        {&plain_for_view_, blocks_->plain_for_view()}};
    for (const auto& [total, count] : sums)
      NMB_ASSIGN(*total, ranks_.all_reduce(count, std::plus<>()));
    NMB_TRY(writer_->close());
    if (options_.pack().link) report_.external_files = writer_->external_files();
    NMB_ASSIGN(report_.without_statistics,
               ranks_.all_reduce(writer_->without_statistics(), std::plus<>()));
    return {};
  }

  // Collective. If rank 0 has all blocks, the other ranks encode windows of values for it.
  Status code_values() {
    if (options_.packs()) return blocks_->code_values(nullptr);
    if (ranks_.rank() != 0)
      return serve_jobs(ranks_, [this](std::span<const std::byte> job) {
        return encode_windows(job, inputs_.from(),
                              {options_.writer.threads, options_.writer.cancel});
      });
    const Status coded = on_first([this] { return blocks_->code_values(&helpers_); });
    const Status ended = helpers_.end();
    return coded.ok() ? ended : coded;
  }

  Status store_provenance() {
    if (!options_.provenance || ranks_.rank() != 0) return {};
    for (const std::string& text : options_.provenance(report_.sources))
      NMB_TRY(writer_->add_provenance(text));
    return {};
  }

  Status describe_result() {
    NMB_ASSIGN(std::unique_ptr<FileReader> result, FileReader::open(options_.output));
    report_.totals = result->totals();
    report_.bytes_out = result->file_length();
    const ViewCost plain{plain_for_view_,
                         report_.bytes_out - std::min(plain_for_view_, report_.bytes_out), 0};
    if (!plain.is_large()) return {};
    report_.has_large_view = true;
    report_.add_view_note(joined_text(plain_for_view_,
                                      " bytes of small variables and records are not compressed, "
                                      "because an HDF5 view could not show them"));
    return {};
  }

  // Collective.
  Status describe_classic_plan() {
    NMB_TRY(ranks_.agree(inputs_.check_unchanged()));
    PackPlan plan;
    NMB_TRY(ranks_.first([&] { return classic_->describe_plan(&plan); }));
    NMB_ASSIGN(const std::uint64_t bytes, ranks_.broadcast_value(0, report_.bytes_out));
    NMB_TRY(plan_ranks(ranks_, options_, bytes, inputs_.counts().largest_load, &plan));
    report_.plan = std::move(plan);
    return {};
  }

  Status describe_plan() {
    NMB_ASSIGN(const FilePlan file, writer_->planned());
    report_.totals = file.totals;
    report_.bytes_out = file.file_length;
    PackPlan plan;
    plan.index_bytes = file.index_bytes;
    NMB_ASSIGN(plan.metadata_bytes, ranks_.all_reduce(file.metadata_bytes, std::plus<>()));
    NMB_TRY(plan_ranks(ranks_, options_, file.file_length, inputs_.counts().largest_load, &plan));
    plan.first_blocks = blocks_->take_first_names();
    plan.blocks_of_input.resize(share_.end - share_.begin);
    for (const std::uint32_t input : blocks_->inputs())
      if (input != MergeWriter::kOfOutput) ++plan.blocks_of_input[input - share_.begin];
    NMB_TRY(gather_blocks(ranks_, &plan));
    // The table of originals is compressed, and its digests are not known yet.
    plan.is_estimate = options_.hdf5.has_value() || report_.originals > 0;
    plan.bytes_before = bytes_before_;
    report_.plan = std::move(plan);
    return {};
  }

  FileWriterOptions writer_options() {
    FileWriterOptions writer = options_.writer;
    // The temporary file of an HDF5 output needs no checksums of linked values.
    writer.sum_links = !options_.link_united;
    const bool notes_only = writer.hdf5_view == Hdf5View::kSmall;
    if (notes_only && writer.dry_run) writer.hdf5_view = Hdf5View::kOff;
    writer.before_commit = [this] { return inputs_.check_unchanged(); };
    writer.on_repair = [this, repaired = writer.on_repair](const std::string& what) {
      report_.warnings.push_back(options_.output + ": " + what);
      if (repaired) repaired(what);
    };
    if (!writer.on_no_view)
      writer.on_no_view = [this, notes_only](const std::string& reason) -> Status {
        if (notes_only) {
          constexpr std::string_view kAbout = "HDF5 view: ";
          report_.view_note = "no HDF5 view was made: ";
          report_.view_note += reason.substr(reason.starts_with(kAbout) ? kAbout.size() : 0);
          return {};
        }
        report_.warnings.push_back(options_.output + ": without " + reason);
        return verdict(report_, options_);
      };
    writer.on_lost_records = [this, notes_only](const LostRecords& lost) -> Status {
      if (notes_only) return {};
      report_.warnings.push_back(options_.output + ": the HDF5 view has no place for " +
                                 lost.text());
      return verdict(report_, options_);
    };
    writer.on_left_out = [this, notes_only](const LeftOutList& left_out) -> Status {
      if (notes_only) {
        report_.view_note = joined_text("the HDF5 view leaves out ", left_out.count,
                                        left_out.count == 1 ? " object" : " objects",
                                        "; nminspect view lists what is left out");
        return {};
      }
      for (const std::string& line : left_out.lines())
        report_.warnings.push_back(options_.output + ": " + line);
      return verdict(report_, options_);
    };
    writer.on_view = [this](const ViewCost& cost) {
      report_.add_view_note(cost.text());
      report_.has_large_view = cost.is_large();
      return Status();
    };
    if (ranks_.size() > 1) {
      writer.open_values = [this](std::string_view origin) { return open_values(origin); };
      writer.narrow_origin = [this](std::string_view origin, ByteRange wanted) {
        return narrow_origin(origin, wanted);
      };
    }
    if (options_.check) {
      writer.layer = [layer = writer.layer](std::unique_ptr<OutputFile> file) {
        if (layer) file = layer(std::move(file));
        return std::make_unique<ReadBackOutput>(std::move(file));
      };
    }
    if (options_.check && !writer.dry_run)
      writer.before_publish = [this](const ByteSource& file) { return check_result(file); };
    return writer;
  }

  // Verifies the output, but not values that were written without compression, because these were
  // compared when they were written.
  Status check_result(const ByteSource& file) {
    FirstFinding first;
    VerifierOptions verify_options;
    verify_options.threads = options_.writer.threads;
    verify_options.external = options_.external;
    if (!options_.compression) verify_options.level = VerifyLevel::kBlocks;
    NMB_TRY(verify(file, verify_options, first).status());
    return first.status(file.name());
  }

  // Returns the text from which another rank opens the values: only their position if they lie in
  // an input file.
  Result<std::string> narrow_origin(std::string_view origin, ByteRange wanted) const {
    const ByteSource* const source = blocks_->sent_by(origin);
    if (!source) return kOfInput + std::string(origin);
    NMB_ASSIGN(const auto sent, send_values(*source, wanted));
    if (!sent) return std::string();
    return kSent + std::string(reinterpret_cast<const char*>(sent->data()), sent->size());
  }

  // Opens values that another rank planned.
  Result<Source> open_values(std::string_view text) {
    const char kind = text.front();
    text.remove_prefix(1);
    if (kind == kSent) return receive_values(std::as_bytes(std::span(text)), inputs_.from());
    ValueOrigin origin;
    NMB_TRY(take_fields(std::as_bytes(std::span(text)), &origin));
    return open_origin(origin, options_.inputs[origin.input], inputs_.from().files,
                       inputs_.from().read);
  }

  SharedNames names_;
  RankInputs inputs_;
  InputShare share_{0, 0};       // the inputs whose blocks this rank writes
  RankHelpers helpers_{ranks_};  // used only by rank 0
  // Pack uses none of these three. In the other modes, rank 0 uses unions_ and described_,
  // and the other ranks use describer_.
  std::optional<UnionBuilder> unions_;
  std::optional<DescribedInputs> described_;
  std::optional<InputDescriber> describer_;
  // The output: planned_, classic_, or writer_ with blocks_.
  std::optional<PlannedBlocks> planned_;
  std::optional<ClassicOutput> classic_;
  std::unique_ptr<FileWriter> writer_;
  std::optional<Tagger> tagger_;
  std::optional<MergeWriter> blocks_;
  std::uint64_t bytes_before_ = 0;    // see PackPlan
  std::uint64_t plain_for_view_ = 0;  // ValueStorage::plain_for_view() of all ranks
};

}  // namespace

Status merge_inputs(const PackOptions& options, PackReport* report, Communicator& ranks) {
  if (!options.input_blocks.empty())
    for (std::size_t i = 0; i < options.inputs.size(); ++i)
      report->archive_inputs.push_back(options.input_name(i));
  ConflictList conflicts(report->archive_inputs.empty() ? options.inputs : report->archive_inputs);
  return Packer({options, ranks, conflicts, *report}).run();
}

}  // namespace nmb
