// Merging: inputs are planned one by one, and then their values are moved (see nmb/merge.h).
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "merge/dividing/input_planner.h"
#include "merge/reading/input_order.h"
#include "merge/reading/input_rounds.h"
#include "merge/reading/input_shares.h"
#include "merge/reading/planned_input.h"
#include "merge/reading/value_origin.h"
#include "merge/reporting/conflict_list.h"
#include "merge/reporting/pack_plan.h"
#include "merge/reporting/pack_report.h"
#include "merge/storing/classic_output.h"
#include "merge/storing/shared_names.h"
#include "merge/storing/written_blocks.h"
#include "merge/uniting/block_unions.h"
#include "merge/uniting/described_inputs.h"
#include "merge/uniting/input_describer.h"
#include "merge/uniting/sent_values.h"
#include "model/name_rules.h"
#include "nmb/convert.h"
#include "nmb/merge.h"
#include "nmb/reader.h"
#include "nmb/verify.h"
#include "wire/journaled_output.h"
#include "wire/pooled_file.h"
#include "wire/read_back_output.h"

namespace nmb {

namespace {

// How a rank opens values of another one: by their place in an input, or by what they are made of.
constexpr char kOfInput = 'i', kSent = 's';

class Packer {
 public:
  Packer(const PackOptions& options, PackReport* report, Communicator& ranks)
      : options_(options),
        report_(*report),
        ranks_(ranks),
        conflicts_(options.inputs),
        names_(ranks, conflicts_) {}

  // Every failure is all ranks'.
  Status run() {
    const Status status = run_together();
    if (!status.ok() && writer_) writer_->abandon();
    return status;
  }

 private:
  Status run_together() {
    NMB_TRY(ranks_.agree(prepare(), "pack()"));
    NMB_TRY(ranks_.first([&] { return check_outputs(); }));
    if (options_.append) NMB_TRY(ranks_.first([&] { return look_at_inputs(); }));
    NMB_TRY(open_output());
    Status planned;
    NMB_TRY(plan_inputs(&planned));
    // Its memory serves better from now on.
    const bool is_divided = planner_->has_divided();
    const std::uint64_t largest_load = planner_->largest_load();
    planner_.reset();
    if (ranks_.size() > 1) NMB_TRY(names_.compare_with_other_ranks());
    NMB_TRY(gather_report(ranks_, conflicts_.take(), &report_, &planned));
    for (PackSource& source : report_.sources) source.path = options_.inputs[source.index];
    for (PackLoss& loss : report_.losses) loss.path = options_.inputs[loss.input];
    Status names;
    NMB_TRY(check_names(is_divided, &names));
    if (planned.ok()) planned = verdict(report_, options_);
    NMB_TRY(ranks_.first([&] { return planned.ok() ? names : planned; }));
    if (classic_)
      return classic_->write(
          ranks_, {pool_, views_, read_options()}, [this] { return check_inputs(); }, &report_);
    NMB_TRY(ranks_.agree(blocks_->code_values()));
    NMB_TRY(writer_->end_define());
    NMB_TRY(ranks_.agree(blocks_->take_values()));
    NMB_TRY(ranks_.agree(tell_provenance()));
    NMB_ASSIGN(report_.value_bytes, ranks_.all_reduce(writer_->pending_bytes(), std::plus<>()));
    NMB_ASSIGN(report_.linked_bytes, ranks_.all_reduce(writer_->linked_bytes(), std::plus<>()));
    NMB_TRY(writer_->close());
    if (options_.link) report_.external_files = writer_->external_files();
    NMB_ASSIGN(report_.without_statistics,
               ranks_.all_reduce(writer_->without_statistics(), std::plus<>()));
    if (options_.writer.dry_run) return describe_plan(largest_load);
    return ranks_.first([&] { return describe_result(); });
  }

  Status prepare() {
    if (options_.inputs.empty())
      return Status(Code::kUsage, "found no inputs, expected at least one");
    if (options_.classic && options_.mode == MergeMode::kPack)
      return Status(Code::kUsage, "found a classic output of pack, expected union or join");
    if (!options_.key.empty() && options_.mode != MergeMode::kJoin)
      return Status(Code::kUsage, "found a partition key, expected join with it");
    if (options_.append && (options_.mode != MergeMode::kPack || options_.classic))
      return Status(Code::kUsage, "found blocks to append that are united, expected pack");
    if (options_.link) NMB_TRY(check_link());
    if (options_.samples.variables == 0)
      return Status(Code::kUsage, "found samples of 0 variables, expected 1 or more");
    const auto in_process = static_cast<std::size_t>(ranks_.shares_memory() ? ranks_.size() : 1);
    pool_ =
        std::make_shared<FilePool>(std::max<std::size_t>(1, FilePool::most_files() / in_process));
    // Of values of blocks of kind 6, where each thread may read another one.
    views_ = std::make_shared<SourcePool>(options_.writer.threads + 1);
    NMB_ASSIGN(planner_,
               InputPlanner::make(
                   options_, ranks_, conflicts_,
                   [this](const std::string& group) { note_group(group); }, report_, views_));
    if (ranks_.rank() == 0) tell_repeated();
    return {};
  }

  // An input that is given twice, by whatever name: of a set of tiles each is given once.
  void tell_repeated() {
    for (const auto& [first, second] : repeated_files(options_.inputs)) {
      if (options_.mode == MergeMode::kTiles)
        conflicts_.add_at({second, 0}, ConflictKind::kInput, "/", first, second,
                          "the same file twice", "each file once");
      else
        report_.warnings.push_back(options_.inputs[second] + ": the same file as the input " +
                                   options_.inputs[first]);
    }
  }

  // What is known before anything is written or an unfinished output opened. What else inputs refer
  // to is known when they are read.
  Status check_outputs() const {
    const OutputSet& outputs = *options_.outputs;
    for (const std::string& input : options_.inputs) NMB_TRY(outputs.check_input(input, "input"));
    const bool begins_anew =
        !options_.resume.empty() && !JournaledOutput::has_notes(options_.output);
    if (!options_.materialise && !begins_anew) return {};
    for (const std::string& input : options_.inputs) {
      const auto file = PooledFile::open(input, pool_);
      // What is wrong with an input is told when it is planned.
      if (!file.ok()) continue;
      const Status status = check_references(outputs, *file);
      if (status.code() == Code::kUsage) return status;
    }
    return {};
  }

  // Ahead of opening a file that is there, which a writer may mend.
  Status look_at_inputs() {
    for (const std::string& input : options_.inputs) {
      const auto kind = [&]() -> Result<FileKind> {
        NMB_ASSIGN(const std::unique_ptr<FileSource> file, FileSource::open(input));
        NMB_ASSIGN(const FileKind found, kind_of(*file));
        if (found == FileKind::kUnknown) return refused_kind(*file, found);
        return found;
      }();
      if (!kind.ok()) report_.unreadable.push_back(kind.status().in_file(input));
    }
    return verdict(report_, options_);
  }

  // Values that stay where they are can be put together in no other way.
  Status check_link() const {
    const auto found = [](const std::string& what, const std::string& expected) {
      return Status(Code::kUsage, "found values to link " + what + ", expected " + expected);
    };
    if (options_.mode != MergeMode::kPack || options_.classic)
      return found("of blocks that are united, joined or put together", "pack");
    if (options_.block_by.by != BlockRule::By::kGroup)
      return found("of blocks that are divided", "blocks as they are");
    if (options_.compression) return found("and to compress", "one of them");
    if (options_.writer.hdf5_view == Hdf5View::kOn)
      return found("and an HDF5 view, which cannot show values in other files", "one of them");
    if (options_.external == ExternalPaths::kNone)
      return found("and external files not allowed", "one of them");
    return {};
  }

  Status open_output() {
    if (options_.mode != MergeMode::kPack) prepare_unions();
    if (options_.classic) {
      classic_.emplace(options_, conflicts_, views_);
      return ranks_.first([&] {
        return check_new_output(options_.output, {.overwrite = options_.writer.overwrite,
                                                  .sync = options_.writer.sync});
      });
    }
    NMB_ASSIGN(writer_, options_.append
                            ? Writer::open(options_.output, writer_options(), ranks_)
                            : Writer::create(options_.output, writer_options(), ranks_));
    blocks_.emplace(options_, *writer_, conflicts_, names_, report_, ranks_.size() == 1);
    return {};
  }

  // Rank 0 unites what inputs have in common; each other rank describes for it the inputs that it
  // reads.
  void prepare_unions() {
    const std::uint64_t held = kHeldBytes / static_cast<std::uint64_t>(ranks_.size());
    if (ranks_.rank() != 0) {
      describer_.emplace(options_, conflicts_, report_, views_, held);
      return;
    }
    unions_.emplace(options_, conflicts_, report_, views_, held,
                    [this](std::size_t input, BlockSink& sink) { return read_again(input, sink); });
    ReadOptions read = read_options();
    read.cache_bytes = std::min<std::size_t>(read.cache_bytes, held / options_.inputs.size());
    DescribedInputs::Uses uses;
    uses.note_group = [this](const std::string& group) { names_.note_group(group); };
    uses.read = [this](std::size_t input) { return take_input(input, *unions_); };
    uses.end = [this](PlannedInput input) { return settle(std::move(input)); };
    described_.emplace(options_, conflicts_, report_, *unions_, ReceivedFrom{pool_, views_, read},
                       std::move(uses));
  }

  void note_group(const std::string& group) {
    if (is_reading_again_) return;
    if (describer_)
      describer_->note_group(group);
    else
      names_.note_group(group);
  }

  // Collective. *planned: what keeps this rank from planning.
  Status plan_inputs(Status* planned) {
    if (options_.mode == MergeMode::kPack) {
      NMB_ASSIGN(share_, share_inputs(ranks_, options_.inputs));
      planner_->set_end(share_.end);
      *planned = take_inputs(share_, *blocks_);
    } else {
      share_ = {0, ranks_.rank() == 0 ? options_.inputs.size() : 0};
      NMB_TRY(read_rounds(planned));
      if (unions_ && planned->ok()) *planned = finish_unions();
      described_.reset();
      describer_.reset();
      unions_.reset();
    }
    if (!planned->ok()) return {};
    for (const auto& [input, extras] : extras_) tell_losses(input, extras);
    if (classic_ && ranks_.rank() == 0 && report_.unreadable.empty()) classic_->check();
    return {};
  }

  // Rank 0's.
  Status finish_unions() {
    return unions_->finish(planned_, classic_ ? static_cast<BlockSink&>(*classic_) : *blocks_);
  }

  // Collective. Each rank reads inputs of a round, those of lower ranks ahead of those of higher
  // ones; then rank 0 takes in what the others read, while these begin the next round.
  Status read_rounds(Status* planned) {
    InputRounds rounds(ranks_, options_.inputs.size());
    for (bool goes_on = true; goes_on;) {
      const InputShare share = rounds.next();
      planner_->set_end(share.end);
      // A failure of taking in is told to the others behind the next round.
      if (planned->ok())
        *planned = describer_ ? describe_inputs(share) : take_inputs(share, *unions_);
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

  // Stops at an input that rank 0 stops at.
  Status describe_inputs(InputShare share) {
    for (std::size_t i = share.begin; i < share.end; ++i) {
      if (is_cancelled()) return interrupted();
      describer_->begin();
      PlannedInput input;
      const bool is_left = !open_and_plan(i, *describer_, &input);
      if (is_left)
        describer_->leave(i);
      else
        describer_->end(input);
      if (stops(input.status)) break;
    }
    return {};
  }

  Status take_inputs(InputShare share, BlockSink& sink) {
    for (std::size_t i = share.begin; i < share.end; ++i) {
      if (is_cancelled()) return interrupted();
      NMB_TRY(take_input(i, sink));
    }
    return {};
  }

  Status take_input(std::size_t index, BlockSink& sink) {
    PlannedInput input;
    open_and_plan(index, sink, &input);
    return settle(std::move(input));
  }

  bool is_cancelled() const { return options_.writer.cancel && options_.writer.cancel->load(); }
  Status interrupted() const {
    return Status(Code::kIo, options_.output, kNoOffset, "", "interrupted");
  }
  // Whether it is a failure of the run, and of no input.
  static bool stops(const Status& status) {
    return status.code() == Code::kUsage && status.file().empty();
  }

  // What counts of an input that was read, here or by another rank. A failure is the run's.
  Status settle(PlannedInput input) {
    report_.inputs += input.is_opened;
    report_.bytes_in += input.size;
    if (stops(input.status)) return input.status;
    if (!input.status.ok()) {
      report_.unreadable.push_back(input.status.in_file(options_.inputs[input.index]));
      return {};
    }
    if (unions_) planned_.push_back(input.index);
    report_.sources.push_back({input.index, {}, input.size, std::move(input.provenance)});
    if (input.extras.rows) extras_.emplace_back(input.index, std::move(input.extras));
    return {};
  }

  // Collective. *failure: a name in the options that nothing in any input has, as by a slip of the
  // pen. is_divided: blocks of this rank's share were.
  Status check_names(bool is_divided, Status* failure) {
    const auto anywhere = [&](bool here) { return ranks_.all_reduce(here, std::logical_or<>()); };
    const auto note = [&](const std::string& what) {
      if (failure->ok())
        *failure = Status(Code::kNotFound, options_.output, kNoOffset, "",
                          "no input has " + what + "; nothing was written");
    };
    if (options_.block_by.by == BlockRule::By::kPrefix) {
      NMB_ASSIGN(const bool any, anywhere(is_divided));
      if (!any)
        note("a variable that the expression " + nmb::in_quotes(options_.block_by.name) +
             " matches");
    }
    if (options_.samples.by == SampleRule::By::kDimension && !classic_) {
      NMB_ASSIGN(const bool any, anywhere(blocks_->has_sample_dimension()));
      if (!any) note("dimension " + nmb::in_quotes(options_.samples.dimension) + " (samples)");
    }
    if (!options_.compression || classic_) return {};
    NMB_ASSIGN(const bool has_zstd, anywhere(blocks_->has_zstd_chunks()));
    // Not of an NMB file: this library reads them.
    if (has_zstd && !options_.code_pieces && ranks_.rank() == 0)
      report_.warnings.push_back(
          options_.output +
          ": values are compressed by HDF5 filter 32015 (zstd), which the HDF5 library does not "
          "have: programs read them only with its plug-in, in a folder that HDF5_PLUGIN_PATH "
          "names; --compress deflate needs none");
    for (std::size_t i = 0; i < options_.compression->chunk.size(); ++i) {
      const auto& [name, length] = options_.compression->chunk[i];
      const std::string dimension = nmb::in_quotes(name);
      const ChunkUse& use = blocks_->chunk_use(i);
      NMB_ASSIGN(const bool known, anywhere(use.is_known));
      NMB_ASSIGN(const bool cut, anywhere(use.is_cut || use.is_clipped));
      NMB_ASSIGN(const bool clipped, anywhere(use.is_clipped));
      if (!known) note("a variable with dimension " + dimension + " (chunks)");
      if (ranks_.rank() != 0 || !report_.unreadable.empty()) continue;
      // Why not is told of each variable.
      if (known && !cut)
        report_.warnings.push_back(options_.output + ": no variable is cut into chunks along " +
                                   dimension);
      if (clipped)
        report_.warnings.push_back(options_.output + ": a chunk length of " +
                                   std::to_string(length) + " is more than dimension " + dimension +
                                   " can have: its variables get chunks of the dimension's length");
    }
    return {};
  }

  // false: it is left to rank 0, as it has values that cannot be described.
  bool open_and_plan(std::size_t index, BlockSink& sink, PlannedInput* input) {
    const std::string& path = options_.inputs[index];
    input->index = index;
    conflicts_.begin_input(index);
    // Kept open: between two openings somebody may add to an NMB file, and until it is known to be
    // one that would be a change.
    Result<std::shared_ptr<PooledFile>> file =
        PooledFile::open_and_keep(pool_, [path] { return FileSource::open(path); });
    if (!file.ok()) {
      input->status = file.status();
      return true;
    }
    if (describer_ && describer_->leaves_values()) {
      const Result<FileKind> kind = kind_of(**file);
      if (kind.ok() && !is_classic(*kind)) return false;
    }
    files_.push_back(*file);
    input->is_opened = true;
    input->size = (*file)->size();
    input->status = planner_->plan(index, std::move(*file), sink);
    std::vector<std::string> provenance = planner_->take_provenance();
    InputExtras extras = planner_->take_extras();
    if (!input->status.ok()) return true;
    input->provenance = std::move(provenance);
    input->extras = std::move(extras);
    return true;
  }

  // An input that another rank described, for blocks that no other input has.
  Status read_again(std::size_t index, BlockSink& sink) {
    const Occurrence here = conflicts_.here();
    const std::size_t conflicts = conflicts_.size(), warnings = report_.warnings.size();
    PlannedInput input;
    is_reading_again_ = true;
    planner_->set_end(0);
    open_and_plan(index, sink, &input);
    is_reading_again_ = false;
    conflicts_.all().erase(conflicts_.all().begin() + static_cast<std::ptrdiff_t>(conflicts),
                           conflicts_.all().end());
    report_.warnings.resize(warnings);
    conflicts_.look_at(here);
    // Its rows are those that blocks of it have.
    const auto known =
        std::ranges::find(extras_, index, [](const auto& each) { return each.first; });
    if (known != extras_.end() && input.extras.rows)
      known->second.rows = std::move(input.extras.rows);
    return input.status;
  }

  // What of an NMB input is beside its blocks, and not taken over with them.
  void tell_losses(std::size_t input, const InputExtras& extras) {
    for (const PackLoss& loss : extras.losses) report_.losses.emplace_back(loss).input = input;
    const WrittenBlocks::KeptBlocks kept =
        blocks_ ? blocks_->kept_of(extras.rows.get()) : WrittenBlocks::KeptBlocks{};
    const auto of_blocks = [](std::uint64_t count) {
      return "of " + std::to_string(count) + (count == 1 ? " block" : " blocks");
    };
    if (extras.tagged > kept.tagged)
      report_.losses.push_back(
          {input,
           {},
           "tags",
           of_blocks(extras.tagged - kept.tagged) + " not taken over whole; not copied",
           PackLoss::Kind::kTags,
           extras.tagged - kept.tagged});
    if (extras.counted > kept.counted)
      report_.warnings.push_back(options_.inputs[input] + ": the statistics " +
                                 of_blocks(extras.counted - kept.counted) +
                                 " not taken over whole are left out; --stats counts values anew");
  }

  Status tell_provenance() {
    if (!options_.provenance || ranks_.rank() != 0) return {};
    for (const std::string& text : options_.provenance(report_.sources))
      NMB_TRY(writer_->add_provenance(text));
    return {};
  }

  Status describe_result() {
    NMB_ASSIGN(std::unique_ptr<Reader> result, Reader::open(options_.output));
    report_.totals = result->totals();
    report_.bytes_out = result->file_length();
    return {};
  }

  Status describe_plan(std::uint64_t largest_load) {
    NMB_ASSIGN(const FilePlan file, writer_->planned());
    report_.totals = file.totals;
    report_.bytes_out = file.file_length;
    PackPlan plan;
    plan.index_bytes = file.index_bytes;
    NMB_ASSIGN(plan.metadata_bytes, ranks_.all_reduce(file.metadata_bytes, std::plus<>()));
    NMB_TRY(plan_ranks(ranks_, options_, file.file_length, largest_load, &plan));
    plan.first_blocks = blocks_->take_first_names();
    plan.blocks_of_input.resize(share_.end - share_.begin);
    for (const std::uint32_t input : blocks_->inputs())
      ++plan.blocks_of_input[input - share_.begin];
    NMB_TRY(gather_blocks(ranks_, &plan));
    report_.plan = std::move(plan);
    return {};
  }

  WriterOptions writer_options() {
    WriterOptions writer = options_.writer;
    writer.before_commit = [this] { return check_inputs(); };
    writer.on_repair = [this, repaired = writer.on_repair](const std::string& what) {
      report_.warnings.push_back(options_.output + ": " + what);
      if (repaired) repaired(what);
    };
    if (!writer.on_no_view)
      writer.on_no_view = [this](const std::string& reason) {
        report_.warnings.push_back(options_.output + ": without " + reason);
        return verdict(report_, options_);
      };
    writer.on_lost_records = [this](const LostRecords& lost) {
      report_.warnings.push_back(options_.output + ": the HDF5 view has no place for " +
                                 lost.text());
      return verdict(report_, options_);
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
    writer.before_publish = [this,
                             published = writer.before_publish](const ByteSource& file) -> Status {
      if (options_.check) NMB_TRY(check_result(file));
      return published ? published(file) : Status();
    };
    return writer;
  }

  Status check_inputs() const {
    for (const auto& file : files_) NMB_TRY(file->check_unchanged());
    return {};
  }

  // Without compression all but values: these were compared as they were written.
  Status check_result(const ByteSource& file) {
    FirstFinding first;
    VerifyOptions verify_options;
    verify_options.threads = options_.writer.threads;
    verify_options.external = options_.external;
    if (!options_.compression) verify_options.level = VerifyLevel::kBlocks;
    NMB_TRY(verify(file, verify_options, first).status());
    return first.status(file.name());
  }

  ReadOptions read_options() const {
    return {
        .cache_bytes = kCachedBytesOfInput, .verify_values = true, .external = options_.external};
  }

  // What another rank needs to open them: of an input that is one's own, its place is enough.
  Result<std::string> narrow_origin(std::string_view origin, ByteRange wanted) const {
    const ByteSource* const source = blocks_->sent_by(origin);
    if (!source) return kOfInput + std::string(origin);
    NMB_ASSIGN(const auto sent, send_values(*source, wanted));
    if (!sent) return std::string();
    return kSent + std::string(reinterpret_cast<const char*>(sent->data()), sent->size());
  }

  // Values of another rank.
  Result<std::shared_ptr<const ByteSource>> open_values(std::string_view text) {
    const char kind = text.front();
    text.remove_prefix(1);
    if (kind == kSent)
      return receive_values(std::as_bytes(std::span(text)), {pool_, views_, read_options()});
    const ValueOrigin origin = ValueOrigin::of(text);
    return open_origin(origin, options_.inputs[origin.input], pool_, read_options());
  }

  const PackOptions& options_;
  PackReport& report_;
  Communicator& ranks_;
  std::shared_ptr<FilePool> pool_;
  std::shared_ptr<SourcePool> views_;
  InputShare share_{0, 0};                                   // of inputs that become blocks here
  std::vector<std::shared_ptr<PooledFile>> files_;           // that this rank has opened
  std::vector<std::pair<std::size_t, InputExtras>> extras_;  // by input; of NMB inputs
  ConflictList conflicts_;
  SharedNames names_;
  std::unique_ptr<InputPlanner> planner_;
  // But for pack: rank 0's, and what other ranks have instead.
  std::optional<BlockUnions> unions_;
  std::optional<DescribedInputs> described_;
  std::optional<InputDescriber> describer_;
  std::vector<std::size_t> planned_;  // inputs that can be used
  bool is_reading_again_ = false;
  // The output: one or the other.
  std::optional<ClassicOutput> classic_;
  std::unique_ptr<Writer> writer_;
  std::optional<WrittenBlocks> blocks_;
};

}  // namespace

namespace {

// What decides the bytes of the output. One that changes while it is read makes the run fail.
std::string resume_key(const PackOptions& options) {
  std::string key = options.resume;
  for (const std::string& path : options.inputs) {
    struct stat about {};
    const bool is_there = ::stat(path.c_str(), &about) == 0;
    key += '\0' + path + '\0';
    if (is_there)
      key += std::to_string(about.st_size) + " " + std::to_string(about.st_mtim.tv_sec) + "." +
             std::to_string(about.st_mtim.tv_nsec);
  }
  return key;
}

}  // namespace

Status pack(const PackOptions& options, PackReport* report, Communicator& ranks) {
  PackOptions settled = options;
  if (!settled.outputs) {
    const auto own = std::make_shared<OutputSet>();
    NMB_TRY(ranks.agree(own->add_output(options.output, !options.resume.empty())));
    settled.outputs = own;
  }
  settled.writer.progress = options.progress;
  if (!options.sort_by.empty())
    NMB_TRY(sort_by_values(ranks, options.sort_by, options.external, &settled.inputs));
  // Another process may see a file change: what rank 0 sees is what counts.
  if (!options.resume.empty()) {
    std::vector<std::byte> key;
    if (ranks.rank() == 0) {
      const std::string text = resume_key(settled);
      const auto bytes = std::as_bytes(std::span(text));
      key.assign(bytes.begin(), bytes.end());
    }
    NMB_TRY(ranks.broadcast(0, &key));
    settled.writer.resume_key.assign(reinterpret_cast<const char*>(key.data()), key.size());
  }
  return Packer(settled, report, ranks).run();
}

Status pack(const PackOptions& options, PackReport* report) {
  Communicator alone;
  return pack(options, report, alone);
}

}  // namespace nmb
