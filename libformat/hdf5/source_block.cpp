// Blocks to be written (see source_block.h).
#include "source_block.h"

#include <algorithm>

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
    if (const Status status = source->take_properties(); !status.ok())
      return Status(status.code(), status.file(), kNoOffset, status.rule(),
                    object_text("block", source->name()) + ", hdf5 section: " + status.message());
  }
  return source;
}

Status SourceBlock::take_properties() {
  NMB_ASSIGN(properties_, decode_properties(metadata().extension()->hdf5));
  for (std::size_t i = 0; i < properties_.size(); ++i) {
    const Property& p = properties_[i];
    const std::string which = joined_text(
        "property ", static_cast<unsigned>(p.number), " of ",
        p.owner == kGlobal ? std::string("the group") : joined_text("variable ", p.owner));
    if (p.owner != kGlobal && p.owner >= metadata().variable_count())
      return damaged("found ", which, ", but the block has only ", metadata().variable_count(),
                     " variables");
    if (p.attribute != kNoAttribute && p.attribute >= metadata().attribute_count(p.owner))
      return damaged("found ", which, ", attribute ", p.attribute,
                     ", but the number of attributes is ", metadata().attribute_count(p.owner));
    if (p.number == Property::Number::kTypeAttributes || p.number == Property::Number::kTypeComment)
      continue;  // these properties belong to named datatypes
    if (!places_.emplace(std::tuple(p.owner, p.attribute, static_cast<std::uint16_t>(p.number)), i)
             .second)
      return damaged("found " + which + " twice");
  }
  return {};
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
  // The parameter of shuffle may be the size of other values.
  for (Filter& filter : out.filters)
    if (filter.id == kShuffle)
      filter.parameters = {static_cast<std::uint32_t>(metadata().value_size(v.type))};
  return out;
}

std::optional<ChunkLayout> SourceBlock::new_chunks(VarId variable) const {
  if (style_.like) return chunks_like(variable);
  std::string why;
  return layout_ ? layout_->chunks(*block_, variable, properties_, &why) : std::nullopt;
}

const Property* SourceBlock::find(Property::Number number, std::uint32_t owner,
                                  std::uint32_t attribute) const {
  const auto place = places_.find({owner, attribute, static_cast<std::uint16_t>(number)});
  return place == places_.end() ? nullptr : &properties_[place->second];
}

Order SourceBlock::order(std::uint32_t owner) const {
  if (is_classic()) return {3, 3};  // tracked and indexed
  const Property* const p = find(Property::Number::kOrder, owner);
  return p ? p->order : Order();
}

std::string SourceBlock::path(VarId variable) const {
  return joined_path(name(), metadata().variable(variable).name);
}

std::string SourceBlock::text(VarId variable) const {
  return object_text("data set", path(variable));
}

Result<Space> SourceBlock::space(VarId variable) const {
  const Variable v = metadata().variable(variable);
  Space space;
  const Extension* const extension = metadata().extension().get();
  for (const DimId id : v.dimensions) {
    const Dimension dimension = metadata().dimension(id);
    const std::uint64_t length = dimension.is_record() ? block_->records : dimension.length;
    bool grows = dimension.is_record();
    if (extension)
      grows = grows || std::ranges::any_of(extension->unlimited,
                                           [&](const Unlimited& u) { return u.dimension == id; });
    space.lengths.push_back(length);
    space.maximum.push_back(grows ? kUnlimitedLength : length);
  }
  if (v.dimensions.empty()) space.space_class = SpaceClass::kScalar;
  const Property* const p = find(Property::Number::kSpace, variable);
  if (!p) return space;
  if (p->space.space_class != SpaceClass::kNull &&
      (p->space.space_class != space.space_class || p->space.lengths != space.lengths))
    return damaged(text(variable), ": found a space of ", p->space.lengths.size(),
                   " dimensions, whose class or lengths differ from the variable's");
  return p->space;
}

Result<Space> SourceBlock::space(std::uint32_t owner, std::uint32_t number,
                                 const Attribute& attribute) const {
  if (is_classic()) {
    if (attribute.count == 0) return Space{SpaceClass::kNull, {}, {}};
    if (attribute.type == Type::kChar) return Space{SpaceClass::kScalar, {}, {}};
    return Space{SpaceClass::kSimple, {attribute.count}, {attribute.count}};
  }
  const Property* const p = find(Property::Number::kSpace, owner, number);
  if (!p) {
    if (attribute.count == 1) return Space{SpaceClass::kScalar, {}, {}};
    return Space{SpaceClass::kSimple, {attribute.count}, {attribute.count}};
  }
  std::uint64_t count = p->space.space_class == SpaceClass::kNull ? 0 : 1;
  bool fits = true;
  for (const std::uint64_t length : p->space.lengths)
    fits = fits && checked_mul(count, length, &count);
  if (p->space.space_class != SpaceClass::kSimple) fits = fits && p->space.lengths.empty();
  if (!fits || count != attribute.count)
    return damaged("attribute ", attribute.name, ": found a space of ", count, " values, expected ",
                   attribute.count);
  return p->space;
}

}  // namespace nmb::hdf5
