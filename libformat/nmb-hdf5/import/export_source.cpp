#include "import/export_source.h"

#include "hdf5_error.h"
#include "model/paths.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

const TypeTable kNoTypes;

}  // namespace

Result<std::shared_ptr<ExportSource>> ExportSource::make(std::shared_ptr<const LoadedBlock> block,
                                                         hid_t file, NamedTypes& named) {
  const Extension* const extension = block->metadata.extension().get();
  std::shared_ptr<ExportSource> source(
      new ExportSource(std::move(block), extension ? extension->types : kNoTypes, file, named));
  if (extension) {
    Result<PropertyTable> found = PropertyTable::of(source->metadata());
    if (const Status& status = found.status(); !found.ok())
      return Status(status.code(), status.file(), kNoOffset, status.rule(),
                    object_text("block", source->name()) + ", hdf5 section: " + status.message());
    source->properties_ = std::move(*found);
  }
  return source;
}

Status ExportSource::set_style(WriteStyle style) {
  style_ = std::move(style);
  if (!style_.relayout) return {};
  NMB_ASSIGN(layout_, Cmip7Layout::of(*block_));
  return {};
}

std::optional<ChunkLayout> ExportSource::new_chunks(VarId variable) const {
  std::string why;
  return layout_ ? layout_->chunks(*block_, variable, properties(), &why) : std::nullopt;
}

Order ExportSource::order(std::uint32_t owner) const {
  if (is_classic()) return {3, 3};  // tracked and indexed
  return properties_.order(owner);
}

std::string ExportSource::path(VarId variable) const {
  return joined_path(name(), metadata().variable(variable).name);
}

std::string ExportSource::text(VarId variable) const {
  return object_text("data set", path(variable));
}

Result<Space> ExportSource::space(VarId variable) const {
  Result<Space> found = properties_.space(metadata(), block_->records, variable);
  if (found.ok()) return found;
  return found.status().of_object(text(variable));
}

Result<Space> ExportSource::space(std::uint32_t owner, std::uint32_t number,
                                  const Attribute& attribute) const {
  if (is_classic() && !find(Property::Number::kSpace, owner, number)) {
    if (attribute.count == 0) return Space{SpaceClass::kNull, {}, {}};
    if (attribute.type == Type::kChar) return Space{SpaceClass::kScalar, {}, {}};
    return Space{SpaceClass::kSimple, {attribute.count}, {attribute.count}};
  }
  return properties_.space(owner, number, attribute);
}

}  // namespace nmb::hdf5
