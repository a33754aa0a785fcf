// pack: one block an input, a group or a block of an NMB input (see nmb/pack.h).
#include "nmb/pack.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

#include "block/name_rules.h"
#include "block/names_like.h"
#include "convert/recode.h"
#include "interop/hdf5_file.h"
#include "merge/block_template.h"
#include "merge/first_uses.h"
#include "merge/input_block.h"
#include "merge/input_shares.h"
#include "merge/name_splitter.h"
#include "merge/pack_plan.h"
#include "merge/pack_report.h"
#include "merge/pooled_file.h"
#include "merge/run_source.h"
#include "merge/sample_rule.h"
#include "merge/value_coder.h"
#include "merge/value_origin.h"
#include "nmb/classic_header.h"
#include "nmb/file_kind.h"
#include "nmb/reader.h"
#include "nmb/verify.h"
#include "parallel/status_bytes.h"
#include "wire/owned_bytes.h"
#include "wire/read_back_output.h"
#include "wire/shared_range.h"

namespace nmb {

namespace {

// Of one process: inputs that are open at a time.
constexpr std::size_t kOpenFiles = 128;
// Blocks that are kept of all NMB inputs together, in bytes, and of one.
constexpr std::size_t kCachedBytes = 64 << 20;
constexpr std::size_t kCachedBytesOfInput = 8 << 20;
// Values that are coded together: blocks, or bytes and one block more.
constexpr std::size_t kCodedBlocks = 1024;
constexpr std::uint64_t kCodedBytes = std::uint64_t{1} << 30;

// Half of the files that the process may open, at most kOpenFiles.
std::size_t open_files() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOpenFiles;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 2, 1, kOpenFiles));
}

class Packer {
 public:
  Packer(const PackOptions& options, PackReport* report, Communicator& ranks)
      : options_(options), report_(*report), ranks_(ranks) {}

  Status run() {
    NMB_TRY(ranks_.agree(prepare(), "pack()"));
    NMB_ASSIGN(writer_, Writer::create(options_.output, writer_options(), ranks_));
    NMB_ASSIGN(share_, share_inputs(ranks_, options_.inputs));
    Status planned = plan_inputs();
    if (ranks_.size() > 1) NMB_TRY(compare_with_other_ranks());
    NMB_TRY(gather_report(ranks_, std::move(conflicts_), &report_, &planned));
    NMB_TRY(said_by_rank_0(planned.ok() ? verdict() : planned));
    NMB_TRY(ranks_.agree(code_all()));
    NMB_TRY(writer_->end_define());
    NMB_TRY(ranks_.agree(take_all()));
    NMB_ASSIGN(report_.value_bytes, ranks_.all_reduce(writer_->pending_bytes(), std::plus<>()));
    NMB_TRY(writer_->close());
    if (options_.writer.dry_run) return describe_plan();
    return ranks_.agree(ranks_.rank() == 0 ? describe_result() : Status());
  }

 private:
  Status plan_inputs() {
    for (std::size_t i = share_.begin; i < share_.end; ++i) {
      if (options_.writer.cancel && options_.writer.cancel->load())
        return Status(Code::kIo, options_.output, kNoOffset, "", "interrupted");
      if (Status status = plan(i); !status.ok()) {
        if (status.code() == Code::kUsage && status.file().empty()) return status;
        report_.unreadable.push_back(status.in_file(options_.inputs[i]));
      }
    }
    return {};
  }

  Status take_all() {
    for (SplitBlock& block : split_)
      if (!block.coded) NMB_TRY(take(block));
    return {};
  }

  // Values that are stored in coded pieces: the lengths of these must be known before end_define.
  Status code_all() {
    std::vector<ValuesToCode> batch;
    std::vector<BlockId> ids;
    std::vector<SplitBlock*> split;  // of each of the batch; nullptr: a packed block
    std::uint64_t bytes = 0;
    ValueCoder coder(options_.writer.piece_size, options_.writer.threads, options_.writer.cancel);
    auto code_batch = [&]() -> Status {
      if (batch.empty()) return {};
      NMB_ASSIGN(std::vector<std::optional<CodedValues>> coded, coder.code(batch));
      for (std::size_t i = 0; i < coded.size(); ++i) {
        if (!coded[i]) continue;
        NMB_TRY(
            writer_->take_pieces(ids[i], std::move(coded[i]->pieces), std::move(coded[i]->stored)));
        if (split[i]) split[i]->coded = true;
      }
      batch.clear();
      ids.clear();
      split.clear();
      bytes = 0;
      return {};
    };
    auto add = [&](BlockId id, ValuesToCode values, SplitBlock* block) -> Status {
      bytes += values.values->size();
      batch.push_back(std::move(values));
      ids.push_back(id);
      split.push_back(block);
      return batch.size() < kCodedBlocks && bytes < kCodedBytes ? Status() : code_batch();
    };
    for (auto& [id, values] : to_code_) NMB_TRY(add(id, std::move(values), nullptr));
    to_code_ = {};
    if (codec() == PieceCodec::kNone) return code_batch();
    for (SplitBlock& block : split_) {
      NMB_ASSIGN(const Metadata* defined, writer_->metadata(block.id));
      Metadata metadata = *defined;
      NMB_ASSIGN(ClassicLayout layout, layout_classic(metadata, Kind::kCdf5));
      NMB_ASSIGN(layout.records, writer_->records(block.id));
      const std::uint64_t end = layout.records == 0 ? layout.fixed_end : layout.end(layout.records);
      const std::uint64_t length = end - layout.header_length;
      if (length <= options_.writer.inline_limit) continue;
      ValuesToCode values;
      values.values = std::make_shared<RunSource>(files_[block.input - share_.begin],
                                                  runs_of(block, metadata, layout), length);
      values.codec = codec();
      values.level = options_.compression->level;
      NMB_TRY(add(block.id, std::move(values), &block));
    }
    return code_batch();
  }

  // Of pieces.
  PieceCodec codec() const {
    const ValueCodec wanted =
        options_.compression ? options_.compression->codec : ValueCodec::kKeep;
    return wanted == ValueCodec::kZstd      ? PieceCodec::kZstd
           : wanted == ValueCodec::kDeflate ? PieceCodec::kDeflate
                                            : PieceCodec::kNone;
  }

  // A block whose values code_all() may find shorter.
  void note_values(BlockId id, ValuesToCode values) {
    values.codec = codec();
    if (options_.compression) values.level = options_.compression->level;
    if (values.values && values.values->size() > options_.writer.inline_limit &&
        (values.codec != PieceCodec::kNone || !values.coded.empty()))
      to_code_.emplace_back(id, std::move(values));
  }

  // Whether blocks of a file that are no chunks can be stored as options_.compression says.
  Status check_codec(const std::string& path) {
    if (!options_.compression) return {};
    const Compression& wanted = *options_.compression;
    if (!options_.code_pieces)
      return Status(Code::kUnsupported, path, kNoOffset, "",
                    "found a classic dataset to be compressed, expected one that came from HDF5, "
                    "or an NMB output");
    if (wanted.codec == ValueCodec::kKeep)
      return Status(Code::kUnsupported, path, kNoOffset, "",
                    "found a classic dataset to be shuffled or cut into chunks, expected one that "
                    "came from HDF5, or a codec");
    if (wanted.shuffle || !wanted.chunk.empty())
      report_.warnings.push_back(path +
                                 ": found a classic dataset, which is compressed without shuffle "
                                 "and chunks");
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

  // A block made of some variables of an input; where their values lie in it.
  struct SplitBlock {
    BlockId id;
    std::uint32_t input;
    std::vector<std::uint64_t> begins;  // of each variable, in the input
    std::uint64_t record_size;          // of the input
    bool coded = false;                 // its values were taken as pieces
  };

  Status prepare() {
    if (options_.inputs.empty())
      return Status(Code::kUsage, "found no inputs, expected at least one");
    if (!options_.block_name.empty()) {
      NMB_ASSIGN(template_, BlockTemplate::parse(options_.block_name));
    }
    NMB_ASSIGN(classic_template_, BlockTemplate::parse("{stem}"));
    NMB_ASSIGN(grouped_template_, BlockTemplate::parse("{stem}/{group}"));
    NMB_ASSIGN(samples_, SampleRule::parse(options_.samples));
    if (!options_.split_names.empty()) {
      NMB_ASSIGN(NameSplitter splitter, NameSplitter::compile(options_.split_names));
      splitter_.emplace(std::move(splitter));
      if (template_ && !template_->has_group())
        return Status(Code::kUsage, "found block name template \"" + options_.block_name +
                                        "\", expected one with {group} where names are split");
    }
    const auto in_process = static_cast<std::size_t>(ranks_.shares_memory() ? ranks_.size() : 1);
    pool_ = std::make_shared<FilePool>(std::max<std::size_t>(1, open_files() / in_process));
    cached_bytes_ = kCachedBytes / in_process;
    return {};
  }

  WriterOptions writer_options() {
    WriterOptions writer = options_.writer;
    writer.before_commit = [this]() -> Status {
      for (const auto& file : files_) NMB_TRY(file->check_unchanged());
      return {};
    };
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

  // All but values that are stored as they came: these were compared as they were written.
  Status check_result(const ByteSource& file) {
    FirstFinding first;
    VerifyOptions verify_options;
    verify_options.threads = options_.writer.threads;
    if (!options_.compression) verify_options.level = VerifyLevel::kBlocks;
    NMB_TRY(verify(file, verify_options, first).status());
    return first.status(file.name());
  }

  // Nobody asks for it where there is one rank.
  std::string origin(std::size_t input, std::uint64_t begin,
                     std::optional<std::string_view> block = {}) const {
    if (ranks_.size() == 1) return {};
    return ValueOrigin{static_cast<std::uint32_t>(input), begin, block}.text();
  }

  // Values of an input of another rank.
  Result<std::shared_ptr<const ByteSource>> open_values(std::string_view text) {
    const ValueOrigin origin = ValueOrigin::of(text);
    const std::string& path = options_.inputs[origin.input];
    NMB_ASSIGN(const std::shared_ptr<PooledFile> file, PooledFile::open(path, pool_));
    if (origin.block) {
      NMB_ASSIGN(const std::shared_ptr<const Reader> reader,
                 Reader::open(file, {.cache_bytes = kCachedBytesOfInput, .verify_values = true}));
      NMB_ASSIGN(std::optional<BlockEntry> entry, reader->find(*origin.block));
      if (entry)
        return std::shared_ptr<const ByteSource>(new LazyExtent(reader, std::move(*entry)));
    } else if (origin.begin <= file->size()) {
      return std::shared_ptr<const ByteSource>(
          new SharedRange(file, origin.begin, file->size() - origin.begin));
    }
    return Status(Code::kDamaged, path, kNoOffset, "", "the file changed while it was read");
  }

  // What is wrong with the inputs is no rank's own failure: whose it is does not matter.
  Status said_by_rank_0(const Status& status) {
    std::vector<std::byte> told;
    if (ranks_.rank() == 0) told = status_bytes(status);
    NMB_TRY(ranks_.broadcast(0, &told));
    return status_from(told);
  }

  Status verdict() {
    for (const Status& status : report_.unreadable)
      if (status.code() != Code::kDamaged) return status;
    if (!report_.unreadable.empty()) return report_.unreadable.front();
    if (report_.conflicts.empty() && options_.strict && !report_.warnings.empty())
      return Status(Code::kConflict, options_.output, kNoOffset, "",
                    std::to_string(report_.warnings.size()) +
                        (report_.warnings.size() == 1 ? " warning" : " warnings") +
                        " where none is allowed; nothing was written");
    if (report_.conflicts.empty()) return {};
    return Status(Code::kConflict, options_.output, kNoOffset, "",
                  std::to_string(report_.conflicts.size()) +
                      (report_.conflicts.size() == 1 ? " conflict" : " conflicts") +
                      "; nothing was written");
  }

  // Of the object that is looked at.
  void conflict(std::string kind, std::string object, std::size_t first, std::size_t second,
                std::string found, std::string expected) {
    conflict_at(here_, std::move(kind), std::move(object), first, second, std::move(found),
                std::move(expected));
  }
  void conflict_at(Occurrence at, std::string kind, std::string object, std::size_t first,
                   std::size_t second, std::string found, std::string expected) {
    conflicts_.push_back({at,
                          {std::move(kind), std::move(object), options_.inputs[first],
                           second == kNoInput ? std::string() : options_.inputs[second],
                           std::move(found), std::move(expected)}});
  }
  void same_block_name(Occurrence at, const std::string& name, std::size_t first) {
    conflict_at(at, "block name", name, first, at.input, "two inputs with this block name",
                "one; --block-name with {path} or {index} tells them apart");
  }
  void same_group(Occurrence at, const std::string& group, std::size_t first) {
    conflict_at(at, "group", group, first, at.input, "two inputs with this group",
                "one (--unique)");
  }

  // The id of a new block, or nullopt and a conflict.
  std::optional<BlockId> defined(Result<BlockId> id, const std::string& name, std::size_t input,
                                 Status* status) {
    ++here_.at;
    if (id.ok()) {
      block_inputs_.resize(*id + 1);
      block_inputs_[*id] = static_cast<std::uint32_t>(input);
      if (first_blocks_.size() < kFirstBlocks) first_blocks_.push_back(name);
      if (ranks_.size() > 1) block_names_.emplace_back(NameUse{name, input, {}}, here_);
      return *id;
    }
    if (id.status().code() == Code::kUsage) {
      conflict("block name", name, input, kNoInput, "a name that is not legal",
               "UTF-8 of at most 65535 bytes, without NUL and empty parts, \".\" and \"..\"; "
               "--block-name with {index} in place of {stem} and {path} makes one");
      return std::nullopt;
    }
    if (id.status().code() != Code::kExists) {
      *status = id.status();
      return std::nullopt;
    }
    Result<BlockId> first = writer_->find_block(name);
    same_block_name(here_, name, block_inputs_[*first]);
    return std::nullopt;
  }

  void note_group(const std::string& group, std::size_t input) {
    if (!options_.unique_groups || group.empty()) return;
    ++here_.at;
    auto [it, is_new] = groups_.emplace(group, Occurrence{input, here_.at});
    if (!is_new) same_group(here_, group, it->second.input);
  }

  Status plan(std::size_t index) {
    const std::string& path = options_.inputs[index];
    here_ = {index, 0};
    NMB_ASSIGN(std::shared_ptr<PooledFile> file, PooledFile::open(path, pool_));
    NMB_TRY(check_not_target(path));
    files_.push_back(file);
    ++report_.inputs;
    report_.bytes_in += file->size();
    NMB_ASSIGN(FileKind kind, kind_of(*file));
    if (kind == FileKind::kNmb) return plan_nmb(index, std::move(file));
    if (kind == FileKind::kHdf5) return plan_hdf5(index, std::move(file));
    if (!is_classic(kind)) return refused_kind(*file, kind);
    NMB_TRY(check_codec(path));
    NMB_ASSIGN(ClassicHeader header, decode_classic_header(*file, {}, std::move(room_)));
    warn(path, header);
    Status status =
        splitter_ ? plan_split(index, header) : plan_classic(index, std::move(file), header);
    room_ = std::move(header.metadata);
    return status;
  }

  // The target would take the input's place.
  Status check_not_target(const std::string& path) const {
    std::error_code none;
    if (!std::filesystem::equivalent(path, options_.output, none)) return {};
    return Status(Code::kExists, path, kNoOffset, "",
                  "found an input that is the target " + nmb::quoted(options_.output) +
                      " too, expected another file");
  }

  void warn(const std::string& path, const ClassicHeader& header) {
    for (const HeaderRemark& remark : header.remarks) {
      if (remark.rule != "R-CH-6") continue;
      report_.warnings.push_back(path + ": " + remark.text() + "; kept as it is");
      return;
    }
  }

  Result<std::uint64_t> samples(const Metadata& metadata, std::uint64_t records,
                                std::string_view group, const std::string& name,
                                std::size_t input) {
    Result<std::uint64_t> count = samples_.count(metadata, records, group);
    if (count.ok() || count.status().code() != Code::kConflict) return count;
    conflict("samples", name, input, kNoInput,
             std::to_string(metadata.variable_count()) + " variables",
             "a multiple of " + std::to_string(samples_.variables_per_sample()));
    return std::uint64_t{0};
  }

  Status plan_classic(std::size_t index, std::shared_ptr<PooledFile> file,
                      const ClassicHeader& header) {
    const BlockTemplate& names = template_ ? *template_ : *classic_template_;
    PackedBlock block;
    NMB_ASSIGN(block.name, names.expand(options_.inputs[index], index, ""));
    block.kind = header.layout.kind;
    block.dimensions = header.metadata.dimension_count();
    block.variables = header.metadata.variable_count();
    block.attributes = header.metadata.attribute_count();
    block.records = header.metadata.record_count(header.layout.records);
    NMB_ASSIGN(block.samples, samples(header.metadata, block.records, "", block.name, index));
    const std::uint64_t header_length = header.layout.header_length;
    block.extent_length = file->size() - header_length;
    block.body = std::make_shared<SharedRange>(file, 0, header_length);
    block.extent = std::make_shared<SharedRange>(file, header_length, block.extent_length);
    block.origin = origin(index, header_length);
    ValuesToCode values;
    values.values = block.extent;
    return pack_block(std::move(block), index, std::move(values));
  }

  // values: those of the block's that may be coded.
  Status pack_block(PackedBlock block, std::size_t index, ValuesToCode values) {
    const std::string name = block.name;
    Status status;
    const std::optional<BlockId> id =
        defined(writer_->pack_block(std::move(block)), name, index, &status);
    if (id) note_values(*id, std::move(values));
    return status;
  }

  Status plan_nmb(std::size_t index, std::shared_ptr<PooledFile> file) {
    if (splitter_)
      return Status(Code::kUnsupported, file->name(), kNoOffset, "",
                    "found an NMB file, whose blocks are groups already, expected classic files "
                    "with --split-names");
    ReadOptions read;
    read.cache_bytes = std::min(kCachedBytesOfInput, cached_bytes_ / options_.inputs.size());
    read.verify_values = true;
    NMB_ASSIGN(std::unique_ptr<Reader> opened, Reader::open(file, read));
    std::shared_ptr<const Reader> reader = std::move(opened);
    for (const Finding& finding : reader->warnings())
      report_.warnings.push_back(file->name() + ": " + finding.text());
    const BlockTemplate& names = template_ ? *template_ : *grouped_template_;
    if (!names.has_group() && reader->totals().blocks > 1) {
      conflict("block name", options_.block_name, index, kNoInput,
               "a template without {group} for a file of " +
                   std::to_string(reader->totals().blocks) + " blocks",
               "one with {group}");
      return {};
    }
    bool codec_checked = false;
    return reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      PackedBlock block;
      NMB_ASSIGN(block.name, names.expand(options_.inputs[index], index, entry.name));
      note_group(entry.name, index);
      block.kind = static_cast<Kind>(entry.kind);
      block.dimensions = entry.dimensions;
      block.variables = entry.variables;
      block.attributes = entry.attributes;
      block.records = entry.records;
      block.samples = entry.samples;
      // What is not sound is not passed on.
      NMB_ASSIGN(std::shared_ptr<const Block> loaded, reader->block(entry));
      if (samples_.by() != SampleRule::By::kDefault) {
        NMB_ASSIGN(block.samples,
                   samples(loaded->metadata, entry.records, entry.name, block.name, index));
      }
      const std::uint64_t piece =
          std::min<std::uint64_t>(reader->piece_size(), entry.extent_length);
      largest_load_ = std::max(largest_load_, loaded->metadata.memory() + entry.raw_length + piece);
      block.body = std::make_shared<LazyBody>(reader, entry);
      block.extent_length = entry.extent_length;
      NMB_ASSIGN(block.holes, reader->holes(entry));
      if (!entry.hole && entry.extent_length > 0)
        block.extent = std::make_shared<LazyExtent>(reader, entry);
      block.origin = origin(index, 0, entry.name);
      ValuesToCode values;
      if (loaded->metadata.extension() && options_.compression) {
        NMB_TRY(recode(*loaded, reader->file().name(), &block));
      } else {
        if (!std::exchange(codec_checked, true)) NMB_TRY(check_codec(file->name()));
        values.values = block.extent;
        values.holes = block.holes;
        values.file = file;
        if (!options_.compression) {
          NMB_ASSIGN(values.coded, reader->coded_pieces(entry));
        }
      }
      NMB_TRY(pack_block(std::move(block), index, std::move(values)));
      return true;
    });
  }

  // Codes the values of a block of kind 6 anew, as options_.compression says.
  Status recode(const Dataset& dataset, const std::string& file, PackedBlock* block) {
    if (!block->extent) return {};
    if (!recoded_) {
      NMB_ASSIGN(recoded_, SpoolFile::create());
    }
    std::vector<std::string> left;
    const WriterOptions& writer = options_.writer;
    NMB_ASSIGN(std::optional<RecodedBlock> coded,
               recode_values(dataset, {*options_.compression, writer.threads, writer.cancel},
                             recoded_, &left));
    for (const std::string& text : left)
      report_.warnings.push_back(file + ": block " + nmb::quoted(block->name) + ": " + text);
    if (!coded) return {};
    block->body = std::make_shared<OwnedBytes>(std::move(coded->body), file);
    block->extent_length = coded->extent_length;
    block->extent = std::move(coded->extent);
    block->holes.clear();
    block->origin.clear();
    return {};
  }

  Status plan_hdf5(std::size_t index, std::shared_ptr<PooledFile> file) {
    if (splitter_)
      return Status(Code::kUnsupported, file->name(), kNoOffset, "",
                    "found an HDF5 file, whose groups are blocks already, expected classic files "
                    "with --split-names");
    if (!spool_) {
      NMB_ASSIGN(spool_, SpoolFile::create());
    }
    const BlockTemplate& names = template_ ? *template_ : *grouped_template_;
    std::uint64_t groups = 0;
    const auto take = [&](hdf5::GroupBlock group) -> Status {
      if (!names.has_group() && ++groups > 1) {
        if (groups == 2)
          conflict("block name", options_.block_name, index, kNoInput,
                   "a template without {group} for a file of several groups", "one with {group}");
        return {};
      }
      PackedBlock block;
      NMB_ASSIGN(block.name, names.expand(options_.inputs[index], index, group.name));
      note_group(group.name, index);
      NMB_ASSIGN(ClassicHeader header,
                 decode_classic_header(MemorySource(group.body, file->name()),
                                       {.values_follow = false}, std::move(room_)));
      block.kind = header.layout.kind;
      block.dimensions = header.metadata.dimension_count();
      block.variables = header.metadata.variable_count();
      block.attributes = header.metadata.attribute_count();
      block.records = header.metadata.record_count(header.layout.records);
      NMB_ASSIGN(block.samples,
                 samples(header.metadata, block.records, group.name, block.name, index));
      largest_load_ =
          std::max<std::uint64_t>(largest_load_, header.metadata.memory() + group.body.size());
      block.body = std::make_shared<OwnedBytes>(std::move(group.body), file->name());
      block.extent_length = group.extent_length;
      block.extent = std::move(group.extent);
      if (options_.compression) {
        Dataset dataset;
        dataset.metadata = std::move(header.metadata);
        dataset.layout = header.layout;
        dataset.records = block.records;
        dataset.extent = block.extent;
        NMB_TRY(recode(dataset, file->name(), &block));
        header.metadata = std::move(dataset.metadata);
      }
      room_ = std::move(header.metadata);
      return pack_block(std::move(block), index, {});
    };
    return hdf5::read_file(
        file, spool_, take,
        options_.materialise ? hdf5::OtherFiles::kCopied : hdf5::OtherFiles::kLeft);
  }

  // The name without what carried the group; the whole name if it does not match or nothing is
  // left.
  Result<std::string_view> cut(std::string_view name) {
    NMB_ASSIGN(std::optional<SplitName> parts, splitter_->split(name));
    return parts && !parts->rest.empty() ? parts->rest : name;
  }

  // Copies variables of `from` (and the dimensions they use) into one Metadata that is empty.
  // names: of the variables there.
  struct Selection {
    std::vector<VarId> variables;
    std::vector<std::string_view> names;
  };
  Status copy_variables(const Metadata& from, const Selection& selection, const std::string& block,
                        std::size_t index, bool cut_names, NamesLike like, Metadata* to) {
    auto clash = [&](const char* kind, std::string_view name, const Status& status) -> Status {
      if (status.code() != Code::kExists && status.code() != Code::kUsage) return status;
      conflict(kind, block + "/" + std::string(name), index, kNoInput,
               status.code() == Code::kExists ? "two of this name" : "a name that is not legal",
               "names that are distinct and legal without what carries the group");
      return {};
    };
    std::vector<DimId> dims;
    for (std::size_t i = 0; i < selection.variables.size(); ++i) {
      const Variable variable = from.variable(selection.variables[i]);
      dims.clear();
      for (DimId id : variable.dimensions) {
        if (dim_stamp_[id] != stamp_) {
          const Dimension dimension = from.dimension(id);
          std::string_view name = dimension.name;
          if (cut_names) {
            NMB_ASSIGN(name, cut(name));
          }
          Result<DimId> added = like.add_dimension(*to, name, dimension.length);
          if (!added.ok()) return clash("dimension name", name, added.status());
          dim_stamp_[id] = stamp_;
          dim_local_[id] = *added;
        }
        dims.push_back(dim_local_[id]);
      }
      Result<VarId> added = like.add_variable(*to, selection.names[i], variable.type, dims);
      if (!added.ok()) {
        NMB_TRY(clash("variable name", selection.names[i], added.status()));
        continue;
      }
      Status status;
      from.for_each_attribute(selection.variables[i], [&](const Attribute& attribute) {
        if (status.ok())
          status = clash(
              "attribute name", std::string(selection.names[i]) + "@" + std::string(attribute.name),
              to->add_attribute(*added, attribute.name, attribute.type, attribute.values));
      });
      NMB_TRY(status);
    }
    return {};
  }

  Status plan_split(std::size_t index, const ClassicHeader& header) {
    const Metadata& from = header.metadata;
    const std::uint32_t variables = from.variable_count();
    const std::uint64_t records = from.record_dimension() ? header.layout.records : 0;
    const BlockTemplate& names = template_ ? *template_ : *grouped_template_;
    // Groups in order of first occurrence, and the variables of each in order of definition.
    std::vector<std::uint32_t> group_of(variables, kUnmatched);
    std::vector<std::string_view> rest_of(variables);
    std::vector<std::string_view> groups;
    std::unordered_map<std::string_view, std::uint32_t> ids;
    Selection unmatched;
    std::uint32_t last = kUnmatched;
    for (VarId v = 0; v < variables; ++v) {
      const std::string_view name = from.variable(v).name;
      NMB_ASSIGN(std::optional<SplitName> parts, splitter_->split(name));
      if (!parts || parts->group.empty()) {
        if (options_.keep_unmatched) {
          unmatched.variables.push_back(v);
          unmatched.names.push_back(name);
        } else {
          conflict("unmatched variable", std::string(name), index, kNoInput,
                   "a name that the expression does not match",
                   "a group in every name, or --unmatched=keep");
        }
        continue;
      }
      if (last == kUnmatched || groups[last] != parts->group) {
        auto [it, is_new] = ids.emplace(parts->group, static_cast<std::uint32_t>(groups.size()));
        if (is_new) groups.push_back(parts->group);
        last = it->second;
      }
      group_of[v] = last;
      rest_of[v] = parts->rest;
    }
    std::vector<std::uint32_t> first(groups.size() + 1, 0);
    for (std::uint32_t g : group_of)
      if (g != kUnmatched) ++first[g + 1];
    for (std::size_t g = 0; g < groups.size(); ++g) first[g + 1] += first[g];
    std::vector<VarId> ordered(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (VarId v = 0; v < variables; ++v)
      if (group_of[v] != kUnmatched) ordered[next[group_of[v]]++] = v;

    dim_stamp_.assign(from.dimension_count(), 0);
    dim_local_.resize(from.dimension_count());
    stamp_ = 0;
    NMB_TRY(plan_parent(index, from, unmatched, header, records, names));
    Selection selection;
    Metadata metadata, before;
    metadata.check_names_at_once();
    before.check_names_at_once();
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      const std::string group(groups[g]);
      note_group(group, index);
      NMB_ASSIGN(std::string name, names.expand(options_.inputs[index], index, group));
      selection.variables.assign(ordered.begin() + first[g], ordered.begin() + first[g + 1]);
      selection.names.clear();
      for (VarId v : selection.variables) selection.names.push_back(rest_of[v]);
      ++stamp_;
      std::swap(metadata, before);
      metadata.clear();
      NMB_TRY(copy_variables(from, selection, name, index, true, NamesLike(&before), &metadata));
      NMB_TRY(define_split(index, name, group, metadata, from, selection, header, records));
    }
    return {};
  }

  // Global attributes, and variables kept although they did not match, go to the block above the
  // groups.
  Status plan_parent(std::size_t index, const Metadata& from, const Selection& unmatched,
                     const ClassicHeader& header, std::uint64_t records,
                     const BlockTemplate& names) {
    if (from.attribute_count(kGlobal) == 0 && unmatched.variables.empty()) return {};
    NMB_ASSIGN(std::string name, names.expand(options_.inputs[index], index, ""));
    Metadata metadata;
    metadata.check_names_at_once();
    Status status;
    from.for_each_attribute(kGlobal, [&](const Attribute& attribute) {
      if (status.ok())
        status = metadata.add_attribute(kGlobal, attribute.name, attribute.type, attribute.values);
    });
    NMB_TRY(status);
    ++stamp_;
    NMB_TRY(copy_variables(from, unmatched, name, index, false, NamesLike(), &metadata));
    if (unmatched.variables.empty()) {
      // Inputs may share a parent whose attributes are the same.
      ++here_.at;
      auto [known, is_new] = parents_.try_emplace(name);
      known->second.push_back({here_, metadata});
      if (!is_new) {
        // What another rank has may come first.
        if (ranks_.size() == 1) {
          compare_attributes(name, known->second[0], known->second[1]);
          known->second.pop_back();
        }
        return {};
      }
    }
    return define_split(index, name, "", metadata, from, unmatched, header, records);
  }

  // A use of a parent block that is nothing but attributes.
  struct Parent {
    Occurrence occurrence;
    Metadata metadata;
  };

  void compare_attributes(const std::string& name, const Parent& first, const Parent& second) {
    auto differ = [&](const Attribute& attribute, const char* found) {
      conflict_at(second.occurrence, "attributes", name + "@" + std::string(attribute.name),
                  first.occurrence.input, second.occurrence.input, found,
                  "equal ones; --block-name '{stem}/{group}' keeps them apart");
    };
    auto same = [](const Attribute& a, const Attribute& b) {
      return a.type == b.type && std::ranges::equal(a.values, b.values);
    };
    second.metadata.for_each_attribute(kGlobal, [&](const Attribute& attribute) {
      std::optional<Attribute> other = first.metadata.find_attribute(kGlobal, attribute.name);
      if (!other || !same(*other, attribute))
        differ(attribute, "global attributes that differ for one block");
    });
    first.metadata.for_each_attribute(kGlobal, [&](const Attribute& attribute) {
      if (!second.metadata.find_attribute(kGlobal, attribute.name))
        differ(attribute, "a global attribute that is missing in the second file");
    });
  }

  // Names that inputs of other ranks use too.
  Status compare_with_other_ranks() {
    std::unordered_map<std::string, std::uint64_t> elsewhere;  // block names, first used there
    std::vector<NameUse> uses;
    auto describe = [&]() -> Status {
      for (auto& [use, at] : block_names_) {
        auto parent = parents_.find(use.name);
        if (parent != parents_.end() && parent->second[0].occurrence.input == use.input) {
          NMB_ASSIGN(use.about, encoded(parent->second[0].metadata));
        }
        uses.push_back(std::move(use));
      }
      return {};
    };
    NMB_TRY(ranks_.agree(describe()));
    NMB_ASSIGN(const std::vector<NameUse> first, first_uses(ranks_, uses));
    auto compare = [&]() -> Status {
      for (std::size_t i = 0; i < uses.size(); ++i) {
        const NameUse& use = uses[i];
        if (first[i].input == use.input) continue;
        if (use.about.empty() || first[i].about.empty()) {
          same_block_name(block_names_[i].second, use.name, first[i].input);
          elsewhere.emplace(use.name, first[i].input);
          continue;
        }
        NMB_ASSIGN(ClassicHeader header,
                   decode_classic_header(MemorySource(first[i].about, use.name),
                                         {.values_follow = false}));
        std::vector<Parent>& parents = parents_[use.name];
        parents.insert(parents.begin(), {{first[i].input, 0}, std::move(header.metadata)});
      }
      return {};
    };
    NMB_TRY(ranks_.agree(compare()));
    for (const auto& [name, parents] : parents_)
      for (std::size_t i = 1; i < parents.size(); ++i)
        compare_attributes(name, parents[0], parents[i]);

    std::vector<Occurrence> occurrences;
    uses.clear();
    for (const auto& [group, occurrence] : groups_) {
      uses.push_back({group, occurrence.input, {}});
      occurrences.push_back(occurrence);
    }
    NMB_ASSIGN(const std::vector<NameUse> first_groups, first_uses(ranks_, uses));
    std::unordered_map<std::string, std::uint64_t> groups_elsewhere;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (first_groups[i].input == uses[i].input) continue;
      same_group(occurrences[i], uses[i].name, first_groups[i].input);
      groups_elsewhere.emplace(uses[i].name, first_groups[i].input);
    }
    // What two inputs of this rank disagree about, they do with the first of all.
    for (auto& [occurrence, conflict] : conflicts_) {
      if (conflict.second_file.empty()) continue;
      const auto& firsts = conflict.kind == "block name" ? elsewhere : groups_elsewhere;
      auto found = conflict.kind == "block name" || conflict.kind == "group"
                       ? firsts.find(conflict.object)
                       : firsts.end();
      if (found != firsts.end()) conflict.first_file = options_.inputs[found->second];
    }
    return {};
  }

  static Result<std::vector<std::byte>> encoded(const Metadata& metadata) {
    std::vector<std::byte> out;
    NMB_TRY(encode_classic_header(metadata, Kind::kCdf5, 0,
                                  [&](std::span<const std::byte> part) -> Status {
                                    out.insert(out.end(), part.begin(), part.end());
                                    return {};
                                  }));
    return out;
  }

  Status define_split(std::size_t index, const std::string& name, std::string_view group,
                      const Metadata& metadata, const Metadata& from, const Selection& selection,
                      const ClassicHeader& header, std::uint64_t records) {
    if (!conflicts_.empty() && metadata.variable_count() != selection.variables.size()) return {};
    SplitBlock block{0, static_cast<std::uint32_t>(index), {}, header.layout.record_size};
    block.begins.reserve(selection.variables.size());
    for (VarId v : selection.variables) block.begins.push_back(from.begin(v));
    if (!metadata.record_dimension()) records = 0;
    NMB_ASSIGN(std::uint64_t count, samples(metadata, records, group, name, index));
    Status status;
    std::optional<BlockId> id =
        defined(writer_->define_block(name, metadata, records), name, index, &status);
    if (!id) return status;
    block.id = *id;
    NMB_TRY(writer_->set_samples(*id, count));
    split_.push_back(std::move(block));
    return {};
  }

  // Tells the writer where the values of a block lie in its input.
  Status take(SplitBlock& block) {
    NMB_ASSIGN(const Metadata* metadata, writer_->metadata(block.id));
    NMB_ASSIGN(ClassicLayout layout, writer_->layout(block.id));
    std::vector<ValueRuns> runs = runs_of(block, *metadata, layout);
    block.begins = {};
    if (runs.empty()) return {};
    return writer_->take_values(block.id, files_[block.input - share_.begin], std::move(runs),
                                origin(block.input, 0));
  }

  // Where the values of a block lie in its input.
  static std::vector<ValueRuns> runs_of(const SplitBlock& block, const Metadata& metadata,
                                        const ClassicLayout& layout) {
    std::vector<ValueRuns> runs;
    auto add = [&](std::uint64_t source, std::uint64_t begin, std::uint64_t length) {
      const std::uint64_t offset = begin - layout.header_length;
      if (length == 0) return;
      if (!runs.empty() && runs.back().extent_offset + runs.back().length == offset &&
          runs.back().source_offset + runs.back().length == source) {
        runs.back().length += length;
        return;
      }
      runs.push_back({source, 0, offset, 0, length, 1});
    };
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      if (!metadata.is_record_variable(v))
        add(block.begins[v], metadata.begin(v), metadata.slice_bytes(v).value_or(0));
    for (std::uint64_t r = 0; r < layout.records; ++r)
      for (VarId v = 0; v < metadata.variable_count(); ++v)
        if (metadata.is_record_variable(v))
          add(block.begins[v] + r * block.record_size, metadata.begin(v) + r * layout.record_size,
              metadata.slice_bytes(v).value_or(0));
    return runs;
  }

  static constexpr std::size_t kNoInput = ~std::size_t{0};
  static constexpr std::uint32_t kUnmatched = ~std::uint32_t{0};

  const PackOptions& options_;
  PackReport& report_;
  Communicator& ranks_;
  std::optional<BlockTemplate> template_, classic_template_, grouped_template_;
  SampleRule samples_;
  std::optional<NameSplitter> splitter_;
  std::shared_ptr<FilePool> pool_;
  InputShare share_{0, 0};
  std::vector<std::shared_ptr<PooledFile>> files_;  // of the share
  std::unique_ptr<Writer> writer_;
  std::vector<std::uint32_t> block_inputs_;                  // by BlockId
  std::vector<std::string> first_blocks_;                    // names of up to kFirstBlocks
  std::vector<std::pair<NameUse, Occurrence>> block_names_;  // kept where there are several ranks
  std::unordered_map<std::string, Occurrence> groups_;       // first uses
  // The first use and, until those of other ranks are known, the later ones.
  std::unordered_map<std::string, std::vector<Parent>> parents_;
  std::vector<FoundConflict> conflicts_;
  Occurrence here_;
  std::size_t cached_bytes_ = kCachedBytes;
  std::uint64_t largest_load_ = 0;  // bytes in memory to load the largest block of an NMB input
  std::vector<SplitBlock> split_;
  Metadata room_ = ClassicHeader().metadata;  // of the input before, for the next
  std::shared_ptr<const SpoolFile> spool_;    // of HDF5 inputs
  std::shared_ptr<SpoolFile> recoded_;        // values that are coded anew
  std::vector<std::pair<BlockId, ValuesToCode>> to_code_;
  // The group for which a dimension has its place in dim_local_.
  std::vector<std::uint32_t> dim_stamp_;
  std::vector<DimId> dim_local_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

Status pack(const PackOptions& options, PackReport* report, Communicator& ranks) {
  PackOptions with_progress = options;
  with_progress.writer.progress = options.progress;
  return Packer(with_progress, report, ranks).run();
}

Status pack(const PackOptions& options, PackReport* report) {
  Communicator alone;
  return pack(options, report, alone);
}

}  // namespace nmb
