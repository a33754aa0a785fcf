// Prepares blocks for writing (see source_block.h).
#include "source_block.h"

#include "hdf5_error.h"
#include "model/paths.h"
#include "values/chunk_filters.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

const TypeTable kNoTypes;

}  // namespace

Result<std::shared_ptr<SourceBlock>> SourceBlock::make(std::shared_ptr<const Block> block,
                                                       hid_t file, NamedTypes& named) {
  const Extension* const extension = block->metadata.extension().get();
  std::shared_ptr<SourceBlock> source(
      new SourceBlock(std::move(block), extension ? extension->types : kNoTypes, file, named));
  if (extension) {
    Result<BlockProperties> found = BlockProperties::of(source->metadata());
    if (const Status& status = found.status(); !found.ok())
      return Status(status.code(), status.file(), kNoOffset, status.rule(),
                    object_text("block", source->name()) + ", hdf5 section: " + status.message());
    source->properties_ = std::move(*found);
  }
  return source;
}

Status SourceBlock::set_style(WriteStyle style) {
  style_ = std::move(style);
  if (!style_.relayout) return {};
  NMB_ASSIGN(layout_, Cmip7Layout::of(*block_));
  return {};
}

bool SourceBlock::becomes_little(VarId variable) const {
  if (!style_.like || !style_.like->metadata.extension()) return false;
  const Metadata& like = style_.like->metadata;
  const Variable v = metadata().variable(variable);
  const auto same = like.find_variable(v.name);
  if (!same) return false;
  const TypeTable& types = like.extension()->types;
  const Type type = like.variable(*same).type;
  return types.is_swapped(type) && types.classic(type) == v.type;
}

std::optional<ChunkLayout> SourceBlock::chunks_like(VarId variable) const {
  const Metadata& like = style_.like->metadata;
  const Variable v = metadata().variable(variable);
  const auto same = like.find_variable(v.name);
  const Storage* const storage =
      same && like.extension() ? like.extension()->storage_of(*same) : nullptr;
  if (!storage || storage->kind != StorageKind::kChunked ||
      storage->chunk.size() != v.dimensions.size() || unknown_filter(storage->filters))
    return std::nullopt;
  ChunkLayout out{storage->chunk, storage->filters};
  std::uint64_t bytes = metadata().value_size(v.type);
  for (std::size_t i = 0; i < out.chunk.size(); ++i) {
    const Dimension dimension = metadata().dimension(v.dimensions[i]);
    if (!dimension.is_record()) out.chunk[i] = std::min(out.chunk[i], dimension.length);
    if (out.chunk[i] == 0 || !checked_mul(bytes, out.chunk[i], &bytes)) return std::nullopt;
  }
  // The parameter of shuffle is the size of a value, which may differ in the file LIKE.
  for (Filter& filter : out.filters)
    if (filter.id == kShuffle)
      filter.parameters = {static_cast<std::uint32_t>(metadata().value_size(v.type))};
  return out;
}

std::optional<ChunkLayout> SourceBlock::new_chunks(VarId variable) const {
  if (style_.like) return chunks_like(variable);
  std::string why;
  return layout_ ? layout_->chunks(*block_, variable, properties(), &why) : std::nullopt;
}

Order SourceBlock::order(std::uint32_t owner) const {
  if (is_classic()) return {3, 3};  // tracked and indexed
  return properties_.order(owner);
}

std::string SourceBlock::path(VarId variable) const {
  return joined_path(name(), metadata().variable(variable).name);
}

std::string SourceBlock::text(VarId variable) const {
  return object_text("data set", path(variable));
}

Result<Space> SourceBlock::space(VarId variable) const {
  Result<Space> found = properties_.space(metadata(), block_->records, variable);
  if (found.ok()) return found;
  return found.status().of_object(text(variable));
}

Result<Space> SourceBlock::space(std::uint32_t owner, std::uint32_t number,
                                 const Attribute& attribute) const {
  if (is_classic()) {
    if (attribute.count == 0) return Space{SpaceClass::kNull, {}, {}};
    if (attribute.type == Type::kChar) return Space{SpaceClass::kScalar, {}, {}};
    return Space{SpaceClass::kSimple, {attribute.count}, {attribute.count}};
  }
  return properties_.space(owner, number, attribute);
}

}  // namespace nmb::hdf5
