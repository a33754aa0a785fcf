// pack: one block an input, a group or a block of an NMB input (see nmb/pack.h).
#include "nmb/pack.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "block/name_rules.h"
#include "merge/block_rule.h"
#include "merge/block_template.h"
#include "merge/block_unions.h"
#include "merge/classic_form.h"
#include "merge/conflict_list.h"
#include "merge/dataset_union.h"
#include "merge/input_order.h"
#include "merge/input_reader.h"
#include "merge/input_shares.h"
#include "merge/pack_plan.h"
#include "merge/pack_report.h"
#include "merge/part_block.h"
#include "merge/pooled_file.h"
#include "merge/sample_rule.h"
#include "merge/shared_names.h"
#include "merge/split_dataset.h"
#include "merge/value_origin.h"
#include "merge/value_storage.h"
#include "nmb/extract.h"
#include "nmb/file_source.h"
#include "nmb/reader.h"
#include "nmb/verify.h"
#include "parallel/status_bytes.h"
#include "wire/owned_bytes.h"
#include "wire/read_back_output.h"

namespace nmb {

namespace {

// Blocks that are kept of all NMB inputs together, in bytes, and of one.
constexpr std::size_t kCachedBytes = 64 << 20;
constexpr std::size_t kCachedBytesOfInput = 8 << 20;
// Blocks that one dimension may make of a small file; of a larger one, as many as it has bytes:
// values that HDF5 never wrote take none.
constexpr std::uint64_t kBlocksOfSmallFile = 65536;

// Gets its name if a check says so.
class CheckedOutput final : public OutputFileLayer {
 public:
  CheckedOutput(std::shared_ptr<OutputFile> base, std::function<Status()> check)
      : OutputFileLayer(std::move(base)), check_(std::move(check)) {}
  Status publish() override {
    NMB_TRY(check_());
    return OutputFileLayer::publish();
  }

 private:
  const std::function<Status()> check_;
};

class Packer {
 public:
  Packer(const PackOptions& options, PackReport* report, Communicator& ranks)
      : options_(options),
        report_(*report),
        ranks_(ranks),
        conflicts_(options.inputs),
        names_(ranks, conflicts_),
        storage_(options, &report->warnings) {}

  Status run() {
    NMB_TRY(ranks_.agree(prepare(), "pack()"));
    if (!options_.classic) {
      NMB_ASSIGN(writer_, Writer::create(options_.output, writer_options(), ranks_));
    }
    NMB_ASSIGN(share_, share());
    Status planned = plan_inputs();
    if (ranks_.size() > 1) NMB_TRY(names_.compare_with_other_ranks());
    NMB_TRY(gather_report(ranks_, conflicts_.take(), &report_, &planned));
    NMB_TRY(said_by_rank_0(planned.ok() ? verdict(report_, options_.output, options_.strict)
                                        : planned));
    return options_.classic ? write_classic_file() : write_blocks();
  }

 private:
  Status write_blocks() {
    NMB_TRY(ranks_.agree(storage_.code_all(*writer_, parts_, sources_)));
    NMB_TRY(writer_->end_define());
    NMB_TRY(ranks_.agree(take_all()));
    NMB_ASSIGN(report_.value_bytes, ranks_.all_reduce(writer_->pending_bytes(), std::plus<>()));
    NMB_TRY(writer_->close());
    if (options_.writer.dry_run) return describe_plan();
    return ranks_.agree(ranks_.rank() == 0 ? describe_result() : Status());
  }

  Status write_classic_file() {
    ExtractOptions extract;
    extract.kind = options_.classic;
    extract.overwrite = options_.writer.overwrite;
    extract.sync = options_.writer.sync;
    extract.check = options_.check;
    extract.threads = options_.writer.threads;
    extract.cancel = options_.writer.cancel;
    extract.progress = options_.progress;
    extract.layer = [this](std::unique_ptr<OutputFile> file) {
      return std::make_unique<CheckedOutput>(std::move(file), [this] { return check_inputs(); });
    };
    NMB_TRY(write_classic(*only_, *options_.classic, options_.output, extract));
    const Metadata& metadata = only_->metadata;
    report_.totals = {1,
                      metadata.dimension_count(),
                      metadata.variable_count(),
                      metadata.attribute_count(),
                      only_->records,
                      0};
    report_.value_bytes = only_->extent->size();
    NMB_ASSIGN(const std::unique_ptr<FileSource> result, FileSource::open(options_.output));
    report_.bytes_out = result->size();
    return {};
  }

  // Blocks of several inputs are planned by one rank.
  Result<InputShare> share() {
    if (options_.mode == MergeMode::kPack) return share_inputs(ranks_, options_.inputs);
    return InputShare{0, ranks_.rank() == 0 ? options_.inputs.size() : 0};
  }

  Status plan_inputs() {
    files_.resize(share_.end - share_.begin);
    for (std::size_t i = share_.begin; i < share_.end; ++i) {
      if (options_.writer.cancel && options_.writer.cancel->load())
        return Status(Code::kIo, options_.output, kNoOffset, "", "interrupted");
      if (Status status = plan(i); !status.ok()) {
        if (status.code() == Code::kUsage && status.file().empty()) return status;
        report_.unreadable.push_back(status.in_file(options_.inputs[i]));
      } else {
        planned_.push_back(i);
      }
    }
    if (unions_)
      NMB_TRY(unions_->finish(planned_, [this](const UnitedBlocks& b) { return pack_united(b); }));
    unions_.reset();
    if (options_.classic && only_ == nullptr && conflicts_.size() == 0)
      conflicts_.add_at({0, 0}, "blocks", options_.output, 0, ConflictList::kNone,
                        std::to_string(blocks_) + " blocks",
                        "one for a classic file; --to nc4 or hdf5 have groups");
    // Their memory serves better from now on.
    reader_.reset();
    splitter_.reset();
    return {};
  }

  // Tells the writer where the values of parts lie in their inputs.
  Status take_all() {
    for (PartBlock& part : parts_) {
      if (part.coded) continue;
      NMB_ASSIGN(const Metadata* metadata, writer_->metadata(part.id));
      NMB_ASSIGN(const ClassicLayout layout, writer_->layout(part.id));
      std::vector<ValueRuns> runs = runs_of(part, *metadata, layout);
      part.begins = {};
      if (runs.empty()) continue;
      const PartSource& source = sources_[part.source];
      NMB_TRY(writer_->take_values(part.id, source.values, std::move(runs), source.origin));
    }
    return {};
  }

  Status describe_result() {
    NMB_ASSIGN(std::unique_ptr<Reader> result, Reader::open(options_.output));
    report_.totals = result->totals();
    report_.bytes_out = result->file_length();
    return {};
  }

  Status describe_plan() {
    NMB_ASSIGN(const FilePlan file, writer_->planned());
    report_.totals = file.totals;
    report_.bytes_out = file.file_length;
    PackPlan plan;
    plan.index_bytes = file.index_bytes;
    NMB_ASSIGN(plan.metadata_bytes, ranks_.all_reduce(file.metadata_bytes, std::plus<>()));
    NMB_TRY(plan_ranks(ranks_, options_.writer, file.file_length, largest_load_, &plan));
    plan.first_blocks = std::move(first_blocks_);
    plan.blocks_of_input.resize(share_.end - share_.begin);
    for (const std::uint32_t input : block_inputs_) ++plan.blocks_of_input[input - share_.begin];
    NMB_TRY(gather_blocks(ranks_, &plan));
    report_.plan = std::move(plan);
    return {};
  }

  Status prepare() {
    if (options_.inputs.empty())
      return Status(Code::kUsage, "found no inputs, expected at least one");
    if (options_.classic && options_.mode == MergeMode::kPack)
      return Status(Code::kUsage, "found a classic output of pack, expected union or join");
    if (options_.classic && ranks_.size() > 1)
      return Status(Code::kUnsupported, options_.output, kNoOffset, "",
                    "found several processes for a classic file, expected one, or an NMB output");
    if (options_.classic)
      NMB_TRY(check_new_output(
          options_.output, {.overwrite = options_.writer.overwrite, .sync = options_.writer.sync}));
    if (!options_.block_name.empty()) {
      NMB_ASSIGN(template_, BlockTemplate::parse(options_.block_name));
    }
    const bool unites = options_.mode != MergeMode::kPack;
    NMB_ASSIGN(classic_template_, BlockTemplate::parse(unites ? "{group}" : "{stem}"));
    NMB_ASSIGN(grouped_template_, BlockTemplate::parse(unites ? "{group}" : "{stem}/{group}"));
    NMB_ASSIGN(samples_, SampleRule::parse(options_.samples));
    NMB_TRY(prepare_division());
    const auto in_process = static_cast<std::size_t>(ranks_.shares_memory() ? ranks_.size() : 1);
    pool_ =
        std::make_shared<FilePool>(std::max<std::size_t>(1, FilePool::most_files() / in_process));
    InputReader::Options read;
    read.cache_bytes =
        std::min(kCachedBytesOfInput, kCachedBytes / in_process / options_.inputs.size());
    read.coded_pieces = !options_.compression;
    read.origins = ranks_.size() > 1;
    read.count_groups = by_ != By::kGroup;
    if (options_.materialise) read.other_files = hdf5::OtherFiles::kCopied;
    // Blocks that are divided or united are classic: no paths lead to them.
    if (by_ == By::kGroup && !unions_)
      read.place = [this](std::size_t index) {
        const auto place = names_of(true).place(options_.inputs[index], index);
        return place.ok() ? place->value_or("") : std::string();
      };
    reader_.emplace(read, &report_.warnings);
    return {};
  }

  Status prepare_division() {
    NMB_ASSIGN(BlockRule rule, BlockRule::parse(options_.block_by));
    by_ = rule.by();
    // Of values of blocks of kind 6, where each thread may read another one.
    views_ = std::make_shared<SourcePool>(options_.writer.threads + 1);
    if (options_.mode != MergeMode::kPack) unions_.emplace(options_, conflicts_, report_, views_);
    if (by_ == By::kGroup || by_ == By::kOne) return {};
    if (template_ && !template_->has_group())
      return Status(Code::kUsage, "found block name template \"" + options_.block_name +
                                      "\", expected one with {group} where blocks are divided");
    const bool keeps = by_ != By::kPrefix || options_.keep_unmatched;
    splitter_.emplace(
        std::move(rule), keeps, [this](DatasetPart part) { return define_part(std::move(part)); },
        [this](SplitConflict conflict) { note(std::move(conflict)); });
    return {};
  }

  WriterOptions writer_options() {
    WriterOptions writer = options_.writer;
    writer.before_commit = [this] { return check_inputs(); };
    if (ranks_.size() > 1)
      writer.open_values = [this](std::string_view origin) { return open_values(origin); };
    if (options_.check) {
      writer.layer = [layer = writer.layer](std::unique_ptr<OutputFile> file) {
        if (layer) file = layer(std::move(file));
        return std::make_unique<ReadBackOutput>(std::move(file));
      };
      writer.before_publish = [this](const ByteSource& file) { return check_result(file); };
    }
    return writer;
  }

  Status check_inputs() const {
    for (const auto& file : files_)
      if (file) NMB_TRY(file->check_unchanged());
    return {};
  }

  // Without compression all but values: these were compared as they were written.
  Status check_result(const ByteSource& file) {
    FirstFinding first;
    VerifyOptions verify_options;
    verify_options.threads = options_.writer.threads;
    if (!options_.compression) verify_options.level = VerifyLevel::kBlocks;
    NMB_TRY(verify(file, verify_options, first).status());
    return first.status(file.name());
  }

  // Values of an input of another rank.
  Result<std::shared_ptr<const ByteSource>> open_values(std::string_view text) {
    const ValueOrigin origin = ValueOrigin::of(text);
    return open_origin(origin, options_.inputs[origin.input], pool_, kCachedBytesOfInput);
  }

  // What is wrong with the inputs is no rank's own failure: whose it is does not matter.
  Status said_by_rank_0(const Status& status) {
    std::vector<std::byte> told;
    if (ranks_.rank() == 0) told = status_bytes(status);
    NMB_TRY(ranks_.broadcast(0, &told));
    return status_from(told);
  }

  // The id of a new block, or nullopt and a conflict.
  std::optional<BlockId> defined(Result<BlockId> id, const std::string& name, Status* status) {
    const Occurrence here = conflicts_.next_object();
    if (id.ok()) {
      block_inputs_.resize(*id + 1);
      block_inputs_[*id] = static_cast<std::uint32_t>(here.input);
      if (first_blocks_.size() < kFirstBlocks) first_blocks_.push_back(name);
      names_.note_block(name, here);
      return *id;
    }
    if (id.status().code() == Code::kUsage) {
      std::string expected =
          "UTF-8 of at most 65535 bytes, without NUL and empty parts, \".\" and \"..\"";
      if (names_of(input_.has_groups).has_input_name())
        expected += "; --block-name with {index} in place of {stem} and {path} makes one";
      conflicts_.add("block name", name, "a name that is not legal", std::move(expected));
      return std::nullopt;
    }
    if (id.status().code() != Code::kExists) {
      *status = id.status();
      return std::nullopt;
    }
    Result<BlockId> first = writer_->find_block(name);
    conflicts_.add_block_name(here, name, block_inputs_[*first]);
    return std::nullopt;
  }

  const BlockTemplate& names_of(bool has_groups) const {
    return template_ ? *template_ : has_groups ? *grouped_template_ : *classic_template_;
  }

  Result<std::string> block_name(const std::string& group) const {
    return names_of(input_.has_groups).expand(options_.inputs[input_.index], input_.index, group);
  }

  void note_group(const std::string& group) {
    if (options_.unique_groups && !group.empty()) names_.note_group(group);
  }

  Status plan(std::size_t index) {
    const std::string& path = options_.inputs[index];
    conflicts_.begin_input(index);
    NMB_ASSIGN(std::shared_ptr<PooledFile> file, PooledFile::open(path, pool_));
    NMB_TRY(check_not_target(path));
    files_[index - share_.begin] = file;
    ++report_.inputs;
    report_.bytes_in += file->size();
    input_ = {};
    input_.index = index;
    input_.file = file;
    storage_.begin_input(file);
    if (by_ == By::kOne)
      united_.emplace(UnionRules{.distinct_variables = true, .equal_attributes = true},
                      [this](UnionNote note) {
                        conflicts_.add(std::move(note.kind), std::move(note.object),
                                       std::move(note.found), std::move(note.expected));
                      });
    NMB_TRY(reader_->read(index, std::move(file),
                          [this](InputBlock& block) { return plan_block(block); }));
    if (by_ == By::kOne && united_->has_any()) return define_union();
    if (splitter_ && splitter_->rule().names_object() && input_.blocks > 0 && !input_.is_divided)
      conflicts_.add(by_ == By::kDimension ? "dimension" : "attribute", splitter_->rule().name(),
                     "no variable that has it", "one at least");
    return {};
  }

  // false: what is wrong with the input is known.
  Result<bool> plan_block(InputBlock& block) {
    input_.has_groups = block.is_group || splitter_;
    ++input_.blocks;
    largest_load_ = std::max(largest_load_, block.load);
    if (by_ != By::kOne && !check_template(block)) return false;
    if (by_ == By::kOne && block.blocks > 1) {
      NMB_TRY(unite(block));
    } else if (splitter_) {
      NMB_TRY(divide(block));
    } else {
      NMB_TRY(pack_whole(block, by_ == By::kOne ? std::string() : block.group));
    }
    return true;
  }

  // Whether blocks of an input get names of their own.
  bool check_template(const InputBlock& block) {
    if (names_of(block.is_group).has_group() || (block.blocks < 2 && input_.blocks < 2))
      return true;
    conflicts_.add("block name", options_.block_name,
                   "a template without {group} for a file of " +
                       (block.blocks > 0 ? std::to_string(block.blocks) + " blocks"
                                         : std::string("several groups")),
                   "one with {group}");
    return false;
  }

  // The target would take the input's place.
  Status check_not_target(const std::string& path) const {
    std::error_code none;
    if (!std::filesystem::equivalent(path, options_.output, none)) return {};
    return Status(Code::kExists, path, kNoOffset, "",
                  "found an input that is the target " + nmb::quoted(options_.output) +
                      " too, expected another file");
  }

  Result<std::uint64_t> samples(const Metadata& metadata, std::uint64_t records,
                                std::string_view group, const std::string& name) {
    Result<std::uint64_t> count = samples_.count(metadata, records, group);
    if (count.ok() || count.status().code() != Code::kConflict) return count;
    conflicts_.add("samples", name, std::to_string(metadata.variable_count()) + " variables",
                   "a multiple of " + std::to_string(samples_.variables_per_sample()));
    return std::uint64_t{0};
  }

  // A block as it is. group: its new path in the input.
  Status pack_whole(InputBlock& block, const std::string& group) {
    NMB_ASSIGN(std::string name, block_name(group));
    note_group(group);
    if (unions_) return unions_->add(name, block);
    return pack_whole(block, group, std::move(name));
  }

  Status pack_whole(InputBlock& block, const std::string& group, std::string block_name) {
    PackedBlock& packed = block.packed;
    packed.name = std::move(block_name);
    warn_of_paths(block);
    if (block.samples && samples_.by() == SampleRule::By::kDefault) {
      packed.samples = *block.samples;
    } else {
      NMB_ASSIGN(packed.samples,
                 samples(block.dataset.metadata, packed.records, group, packed.name));
    }
    ValuesToCode values;
    NMB_TRY(storage_.prepare(block.dataset, std::move(block.coded), &packed, &values));
    const std::string name = packed.name;
    Status status;
    const std::optional<BlockId> id =
        defined(writer_->pack_block(std::move(packed)), name, &status);
    if (id) storage_.note(*id, std::move(values));
    return status;
  }

  // What leads to objects by path leads nowhere once these are called otherwise.
  void warn_of_paths(const InputBlock& block) {
    const auto& extension = block.dataset.metadata.extension();
    if (!extension || block.is_placed || block.packed.name == block.group || input_.is_warned_of)
      return;
    bool has_paths = false;
    for (std::size_t i = 0; i < extension->types.size(); ++i) {
      const ExtendedType& type = extension->types[i];
      has_paths |= type.type_class == TypeClass::kReference || !type.name.empty();
    }
    if (!has_paths) return;
    input_.is_warned_of = true;
    report_.warnings.push_back(
        options_.inputs[input_.index] + ": found references or named " + "datatypes in block " +
        nmb::quoted(block.group) + ", which is " + nmb::quoted(block.packed.name) +
        " now: they keep their paths, by " +
        "which HDF5 will not find them (--block-name '{group}' keeps names)");
  }

  // Makes several blocks of one, unless nothing of it goes elsewhere.
  Status divide(InputBlock& block) {
    NMB_ASSIGN(const ClassicForm form, classic_form(block, views_));
    if (by_ == By::kAttribute && block.blocks > 1) {
      NMB_ASSIGN(const std::optional<std::string> value, value_of(block, form));
      if (value) {
        input_.is_divided = true;
        return pack_whole(block, below(*value, block.group));
      }
    }
    const SplitDataset::Input input{form.dataset.metadata, form.dataset.layout,
                                    form.dataset.records,
                                    std::max(kBlocksOfSmallFile, input_.file->size())};
    input_.group = block.group;
    NMB_ASSIGN(bool is_divided, splitter_->sort(input));
    for (const VarId variable : form.left_out) {
      NMB_ASSIGN(const bool moves, splitter_->rule().concerns(block.dataset.metadata, variable));
      is_divided |= moves;
    }
    input_.is_divided |= is_divided;
    if (!is_divided && !is_parent(block)) return pack_whole(block, block.group);
    tell_losses(block, form, conflicts_);
    NMB_TRY(storage_.check_codec());
    sources_.push_back({form.values, form.view ? std::string() : block.packed.origin});
    return splitter_->make(input);
  }

  // Of blocks of several, which it moves.
  Result<std::optional<std::string>> value_of(const InputBlock& block, const ClassicForm& form) {
    Result<std::optional<std::string>> value = splitter_->rule().of_dataset(form.dataset.metadata);
    if (value.ok() || value.status().code() != Code::kConflict) return value;
    conflicts_.add("attribute value", block.group + "@" + splitter_->rule().name(),
                   value.status().message(), "text or integers");
    return std::optional<std::string>();
  }

  // Nothing but global attributes, which inputs may share; nothing at all of one input of many.
  bool is_parent(const InputBlock& block) const {
    const Metadata& metadata = block.dataset.metadata;
    return !metadata.extension() &&
           (metadata.attribute_count() > 0 || options_.inputs.size() > 1) &&
           metadata.dimension_count() + metadata.variable_count() == 0 &&
           block.samples.value_or(0) == 0;
  }

  static std::string below(const std::string& parent, std::string_view group) {
    std::string out = parent;
    if (!parent.empty() && !group.empty()) out += '/';
    out += group;
    return out;
  }

  void note(SplitConflict conflict) {
    std::string object = below(input_.group, conflict.object);
    if (conflict.group) {
      const Result<std::string> name = block_name(below(input_.group, *conflict.group));
      object = (name.ok() ? *name : *conflict.group) + "/" + conflict.object;
    }
    conflicts_.add(std::move(conflict.kind), object.empty() ? "/" : std::move(object),
                   std::move(conflict.found), std::move(conflict.expected));
  }

  Status define_part(DatasetPart part) {
    const std::string group = below(input_.group, part.group);
    note_group(group);
    NMB_ASSIGN(const std::string name, block_name(group));
    if (!part.is_whole) return {};
    const Metadata& metadata = part.metadata;
    if (unions_)
      return unions_->add(name, group,
                          {metadata, std::move(part.begins), part.record_size, part.records,
                           sources_.back().values});
    if (part.group.empty() && metadata.variable_count() + metadata.dimension_count() == 0 &&
        !names_.note_parent(name, metadata))
      return {};
    return define(name, group, metadata, part.records, std::move(part.begins), part.record_size);
  }

  // A block whose values lie in the last source. recorded: samples.
  Status define(const std::string& name, const std::string& group, const Metadata& metadata,
                std::uint64_t records, std::vector<std::uint64_t> begins, std::uint64_t record_size,
                std::optional<std::uint64_t> recorded = {}) {
    std::uint64_t count = recorded.value_or(0);
    if (!recorded || samples_.by() != SampleRule::By::kDefault) {
      NMB_ASSIGN(count, samples(metadata, records, group, name));
    }
    Status status;
    const std::optional<BlockId> id =
        defined(writer_->define_block(name, metadata, records), name, &status);
    if (!id) return status;
    NMB_TRY(writer_->set_samples(*id, count));
    parts_.push_back({*id, static_cast<std::uint32_t>(sources_.size() - 1), std::move(begins),
                      record_size, false});
    return {};
  }

  Status unite(const InputBlock& block) {
    NMB_ASSIGN(const ClassicForm form, classic_form(block, views_));
    tell_losses(block, form, conflicts_);
    DatasetUnion::Member member = DatasetUnion::member_of(form.dataset, form.values);
    member.group = block.group;
    return united_->add(member);
  }

  Status define_union() {
    NMB_TRY(storage_.check_codec());
    NMB_ASSIGN(const Dataset all, united_->take(input_.file->name()));
    united_.reset();
    NMB_ASSIGN(const std::string name, block_name(""));
    if (unions_) return unions_->add(name, "", DatasetUnion::member_of(all, all.extent));
    return define_laid(name, "", all);
  }

  // A block whose values lie as they will.
  Status define_laid(const std::string& name, const std::string& group, const Dataset& dataset,
                     std::optional<std::uint64_t> recorded = {}) {
    sources_.push_back({dataset.extent, {}});
    return define(name, group, dataset.metadata, dataset.records, {}, dataset.layout.record_size,
                  recorded);
  }

  // What inputs say of a block, all of it.
  Status pack_united(const UnitedBlocks& blocks) {
    conflicts_.begin_input(blocks.input);
    if (options_.classic) return keep_only(blocks);
    storage_.begin_input(files_[blocks.input]);
    if (blocks.whole) return pack_whole(*blocks.whole, blocks.group, blocks.name);
    NMB_TRY(storage_.check_codec());
    return define_laid(blocks.name, blocks.group, *blocks.united, blocks.samples);
  }

  // The block that a classic file is made of, if it is the only one.
  Status keep_only(const UnitedBlocks& blocks) {
    only_.reset();
    if (++blocks_ > 1) return {};
    auto only = std::make_shared<Dataset>();
    if (blocks.whole) {
      NMB_ASSIGN(const ClassicForm form, classic_form(*blocks.whole, views_));
      tell_losses(*blocks.whole, form, conflicts_);
      *only = form.dataset;
      only->extent = form.values;
    } else {
      *only = *blocks.united;
    }
    if (!only->extent) only->extent = std::make_shared<OwnedBytes>(std::vector<std::byte>(), "");
    only_ = std::move(only);
    return {};
  }

  using By = BlockRule::By;

  // The input that is planned.
  struct Input {
    std::size_t index = 0;
    std::shared_ptr<PooledFile> file;
    std::uint64_t blocks = 0;  // that were visited
    bool has_groups = false;   // for names of its blocks
    bool is_divided = false;   // some block is
    bool is_warned_of = false;
    std::string group;  // the block that is divided
  };

  const PackOptions& options_;
  PackReport& report_;
  Communicator& ranks_;
  std::optional<BlockTemplate> template_, classic_template_, grouped_template_;
  SampleRule samples_;
  By by_ = By::kGroup;
  std::optional<SplitDataset> splitter_;  // where blocks are divided
  std::shared_ptr<FilePool> pool_;
  std::shared_ptr<SourcePool> views_;
  InputShare share_{0, 0};
  std::optional<InputReader> reader_;
  std::vector<std::shared_ptr<PooledFile>> files_;  // of the share; nullptr: cannot be used
  std::vector<std::size_t> planned_;                // inputs of it
  std::unique_ptr<Writer> writer_;
  ConflictList conflicts_;
  SharedNames names_;
  std::optional<BlockUnions> unions_;  // but for pack
  ValueStorage storage_;
  std::vector<std::uint32_t> block_inputs_;  // by BlockId
  std::vector<std::string> first_blocks_;    // names of up to kFirstBlocks
  // Of a classic output: united blocks, and the one there is.
  std::uint64_t blocks_ = 0;
  std::shared_ptr<const Dataset> only_;
  std::uint64_t largest_load_ = 0;  // bytes in memory to load the largest block
  Input input_;
  std::optional<DatasetUnion> united_;  // the groups of the input as one
  std::vector<PartBlock> parts_;
  std::vector<PartSource> sources_;
};

}  // namespace

Status pack(const PackOptions& options, PackReport* report, Communicator& ranks) {
  PackOptions with_progress = options;
  with_progress.writer.progress = options.progress;
  if (!options.sort_by.empty())
    NMB_TRY(sort_by_values(ranks, options.sort_by, &with_progress.inputs));
  return Packer(with_progress, report, ranks).run();
}

Status pack(const PackOptions& options, PackReport* report) {
  Communicator alone;
  return pack(options, report, alone);
}

}  // namespace nmb
