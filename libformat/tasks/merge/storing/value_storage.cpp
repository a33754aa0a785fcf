#include "merge/storing/value_storage.h"

#include <algorithm>
#include <optional>

#include "convert/recode.h"
#include "model/name_rules.h"
#include "netcdf/shared_dimensions.h"
#include "origins/stored_values.h"
#include "sources/value_source.h"

namespace nmb {

namespace {

// A batch of blocks is encoded when the batch has kCodedBlocks blocks or at least kCodedBytes bytes
// of values.
constexpr std::size_t kCodedBlocks = 1024;
constexpr std::uint64_t kCodedBytes = std::uint64_t{1} << 30;

}  // namespace

void ValueStorage::begin_input(Source file) {
  file_ = std::move(file);
  is_codec_checked_ = false;
}

// Returns the codec with which pieces are encoded.
PieceCodec ValueStorage::codec() const {
  if (options_.hdf5) return PieceCodec::kNone;
  if (!options_.compression) return PieceCodec::kNone;
  return options_.compression->codec.value_or(PieceCodec::kNone);
}

bool ValueStorage::are_for_view(const std::vector<ExtentPiece>& coded) const {
  const Hdf5View view = options_.writer.hdf5_view;
  if (options_.hdf5 || options_.classic || (view != Hdf5View::kOn && view != Hdf5View::kAuto))
    return false;
  return codec() == PieceCodec::kNone
             ? std::ranges::any_of(
                   coded,
                   [](const ExtentPiece& piece) { return piece.codec == PieceCodec::kDeflate; })
             : codec() == PieceCodec::kDeflate;
}

// Records which of the requested chunk lengths apply to dimensions of a classic dataset.
void ValueStorage::note_dimensions(const Metadata& metadata) {
  for (std::size_t i = 0; i < chunk_uses_.size(); ++i) {
    const Compression::ChunkLength& asked = options_.compression->chunk[i];
    const std::uint64_t length = asked.length;
    const auto id = metadata.find_dimension(asked.dimension);
    for (VarId v = 0; id && v < metadata.variable_count(); ++v) {
      const auto& dimensions = metadata.variable(v).dimensions;
      if (std::ranges::find(dimensions, *id) == dimensions.end() ||
          !asked.is_for(metadata.variable(v).name))
        continue;
      ChunkUse& use = chunk_uses_[i];
      use.is_known = true;
      if (!options_.hdf5) continue;
      const Dimension dimension = metadata.dimension(*id);
      (dimension.is_record() || length <= dimension.length ? use.is_cut : use.is_clipped) = true;
    }
  }
}

namespace {

// Returns whether chunks and filters could apply to a variable of the dataset.
bool has_arrays(const Metadata& metadata) {
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    if (!metadata.variable(v).dimensions.empty()) return true;
  return false;
}

}  // namespace

Status ValueStorage::check_codec(const Metadata& metadata) {
  note_dimensions(metadata);
  if (!options_.compression || !has_arrays(metadata) || std::exchange(is_codec_checked_, true))
    return {};
  const std::string& path = file_->name();
  const Compression& wanted = *options_.compression;
  if (options_.hdf5 && wanted.codec && wanted.codec != PieceCodec::kNone &&
      wanted.codec != PieceCodec::kDeflate)
    return Status(Code::kUnsupported, path, kNoOffset, "",
                  "the values of a classic dataset can only be compressed with deflate in HDF5; "
                  "use Storing::codec \"deflate\"");
  if (!wanted.codec && (!options_.hdf5 || wanted.shuffle))
    return Status(Code::kUnsupported, path, kNoOffset, "",
                  options_.hdf5
                      ? "a classic dataset can only be shuffled together with compression; give "
                        "a codec"
                      : "a classic dataset cannot be shuffled or cut into chunks; give "
                        "a codec to compress its values");
  if (!options_.hdf5 && (wanted.shuffle || !wanted.chunk.empty()))
    warnings_.push_back(path +
                        ": the values of this classic dataset are compressed without shuffle and "
                        "chunks");
  return {};
}

Status ValueStorage::prepare(const Dataset& dataset, std::optional<std::int64_t> first_made_up,
                             std::vector<ExtentPiece> coded, CodedFiles coded_in,
                             PackedBlock* block, ValuesToCode* later) {
  if (options_.compression && !has_classic_values(dataset.metadata))
    return recode(dataset, first_made_up, block);
  NMB_TRY(check_codec(dataset.metadata));
  later->values = block->extent;
  later->holes = block->holes;
  later->files = std::move(coded_in);
  if (block->extent && !dataset.metadata.extension() && are_for_view(coded))
    later->for_view = pieces_for_view(dataset.metadata, dataset.layout, dataset.records,
                                      block->extent->size(), options_.writer.piece_size);
  later->coded = std::move(coded);
  return {};
}

// Encodes the values of a block of kind 6 again, with the chunks and filters that
// options_.compression requests.
Status ValueStorage::recode(const Dataset& dataset, std::optional<std::int64_t> first_made_up,
                            PackedBlock* block) {
  if (!dataset.extent) {
    Dataset without_values = dataset;
    without_values.extent = owned_bytes(std::vector<std::byte>(), file_->name());
    return recode(without_values, first_made_up, block);
  }
  if (!recoded_) {
    NMB_ASSIGN(recoded_, SpoolFile::create());
  }
  std::vector<std::string> left;
  const FileWriterOptions& writer = options_.writer;
  Result<std::optional<RecodedValues>> recoded =
      recode_values(dataset, {*options_.compression, first_made_up, writer.threads, writer.cancel},
                    recoded_, &left, &chunk_uses_);
  if (!recoded.ok()) return recoded.status();
  for (const std::string& text : left)
    warnings_.push_back(file_->name() + ": block " + in_quotes(block->name) + ": " + text);
  if (!*recoded) return {};
  RecodedValues& coded = **recoded;
  needs_plugin_ = needs_plugin_ || (coded.needs_plugin && options_.compression->codec);
  block->body = owned_bytes(std::move(coded.body), file_->name());
  block->extent_length = coded.extent_length;
  block->extent = coded.extent_length > 0 ? std::move(coded.extent) : nullptr;
  block->holes.clear();
  block->origin.clear();
  return {};
}

void ValueStorage::note_chunks(const WantedChunks& chunks) {
  needs_plugin_ = needs_plugin_ || chunks.needs_plugin;
  for (std::size_t i = 0; i < chunks.uses.size(); ++i) {
    ChunkUse& use = chunk_uses_[i];
    use.is_known |= chunks.uses[i].is_known;
    use.is_cut |= chunks.uses[i].is_cut;
    use.is_clipped |= chunks.uses[i].is_clipped;
  }
}

void ValueStorage::note(BlockId id, ValuesToCode values) {
  values.codec = codec();
  if (options_.compression) values.level = options_.compression->level;
  if (values.values && values.values->size() > options_.writer.inline_limit &&
      (values.codec != PieceCodec::kNone || !values.coded.empty())) {
    if (values.for_view) plain_for_view_ += bytes_outside(*values.for_view, values.values->size());
    to_code_.emplace_back(id, std::move(values));
  }
}

void ValueStorage::Batch::add(BlockId id, ValuesToCode more, OutputPart* part) {
  bytes += more.values->size();
  values.push_back(std::move(more));
  ids.push_back(id);
  parts.push_back(part);
}

bool ValueStorage::Batch::is_full() const {
  return values.size() >= kCodedBlocks || bytes >= kCodedBytes;
}

Status ValueStorage::code_all(FileWriter& writer, std::vector<OutputPart>& parts,
                              const std::vector<PartSource>& sources, ChunkHelpers* helpers) {
  ValueCoder coder(options_.writer.piece_size,
                   {options_.writer.threads, options_.writer.cancel, helpers});
  Batch batch;
  for (auto& [id, values] : to_code_) {
    batch.add(id, std::move(values), nullptr);
    if (batch.is_full()) NMB_TRY(code(coder, std::exchange(batch, {}), writer));
  }
  to_code_ = {};
  if (codec() == PieceCodec::kNone) return code(coder, std::move(batch), writer);
  for (OutputPart& part : parts) {
    NMB_ASSIGN(const Metadata* defined, writer.metadata(part.id));
    Metadata metadata = *defined;
    NMB_ASSIGN(ClassicLayout layout, layout_classic(metadata, Kind::kCdf5));
    NMB_ASSIGN(layout.records, writer.records(part.id));
    const std::uint64_t end = layout.records == 0 ? layout.fixed_end : layout.end(layout.records);
    const std::uint64_t length = end - layout.header_length;
    if (length <= options_.writer.inline_limit) continue;
    ValuesToCode values;
    values.values = source_of(
        form::Strided{sources[part.source].values, runs_of(part, metadata, layout), length});
    values.codec = codec();
    values.level = options_.compression->level;
    if (are_for_view({})) {
      values.for_view =
          pieces_for_view(metadata, layout, layout.records, length, options_.writer.piece_size);
      plain_for_view_ += bytes_outside(*values.for_view, length);
    }
    batch.add(part.id, std::move(values), &part);
    if (batch.is_full()) NMB_TRY(code(coder, std::exchange(batch, {}), writer));
  }
  return code(coder, std::move(batch), writer);
}

Status ValueStorage::code(ValueCoder& coder, Batch batch, FileWriter& writer) const {
  if (batch.values.empty()) return {};
  Result<std::vector<std::optional<CodedValues>>> coded = coder.code(batch.values);
  if (!coded.ok()) return coded.status().in_file(options_.output);
  for (std::size_t i = 0; i < coded->size(); ++i) {
    std::optional<CodedValues>& values = (*coded)[i];
    if (!values) continue;
    NMB_TRY(
        take_pieces(writer, batch.ids[i], std::move(values->pieces), std::move(values->stored)));
    if (batch.parts[i]) batch.parts[i]->coded = true;
  }
  return {};
}

}  // namespace nmb
