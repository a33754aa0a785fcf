// Reads elements of any type through the handles of a Reader (see nmb/reader.h).
#include <algorithm>
#include <map>
#include <utility>

#include "handles/handle_parts.h"
#include "handles/reader_state.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"
#include "nmb/reader.h"
#include "values/stored_type.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

const TypeTable* types_of(const Metadata& metadata) {
  return metadata.extension() ? &metadata.extension()->types : nullptr;
}

// Resizes *bytes for `count` elements of a type.
Status make_room(const DataType& type, std::uint64_t count, std::vector<std::byte>* bytes) {
  std::uint64_t size = 0;
  if (checked_mul(count, type.size, &size)) {
    try {
      bytes->resize(size);
      return {};
    } catch (const std::exception&) {  // std::bad_alloc or std::length_error
    }
  }
  return failure(Code::kLimit, count, " elements of type ", type.text(), " do not fit in memory");
}

}  // namespace

Result<std::shared_ptr<BlockElements>> ReaderState::elements(
    const std::shared_ptr<const Dataset>& dataset) const {
  constexpr std::size_t kKept = 8;
  constexpr std::uint64_t kCache = 64 << 20;
  const auto is_it = [&](const auto& held) { return &held->dataset() == dataset.get(); };
  {
    const std::scoped_lock lock(mutex_);
    if (!chunks_) chunks_ = std::make_shared<ChunkCache>(kCache);
    const auto found = std::ranges::find_if(elements_, is_it);
    if (found != elements_.end()) {
      elements_.splice(elements_.begin(), elements_, found);
      return elements_.front();
    }
  }
  NMB_ASSIGN(std::shared_ptr<BlockElements> made, BlockElements::of(dataset, chunks_));
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(elements_, is_it);
  if (found != elements_.end()) return *found;
  elements_.push_front(made);
  if (elements_.size() > kKept) elements_.pop_back();
  return made;
}

Result<FileDimensions> ReaderState::dimensions(const Dataset& dataset) const {
  if (!dataset.metadata.extension()) return FileDimensions();
  const std::scoped_lock lock(dimensions_mutex_);
  if (!dimensions_) dimensions_.emplace(file.blocks());
  return dimensions_->of(dataset);
}

// --- attributes ---

Result<DataType> AttView::try_datatype() const {
  NMB_TRY(check_handle(dataset_));
  const Metadata& metadata = dataset_->metadata;
  NMB_ASSIGN(const ElementForm form,
             ElementForm::of(types_of(metadata), metadata.find_attribute(owner_, name_)->type));
  return form.type();
}

Result<Elements> AttView::try_elements() const {
  NMB_ASSIGN(const DataType type, try_datatype());
  Elements out;
  NMB_TRY(make_room(type, count_, &out.values));
  const Metadata& metadata = dataset_->metadata;
  NMB_TRY(read_attribute(metadata, *metadata.find_attribute(owner_, name_), out.values, &out.heap)
              .of_object(joined_text("block \"", dataset_->name, "\": attribute \"", name_, "\"")));
  return out;
}

// --- variables ---

Result<DataType> VarView::try_datatype() const {
  NMB_TRY(check_handle(dataset_));
  const Metadata& metadata = dataset_->metadata;
  NMB_ASSIGN(const ElementForm form,
             ElementForm::of(types_of(metadata), metadata.variable(id_).type));
  return form.type();
}

Result<Elements> VarView::try_elements() const {
  NMB_ASSIGN(const Hyperslab slab, try_whole());
  return try_elements(slab);
}

Result<Elements> VarView::try_elements(const Hyperslab& slab) const {
  NMB_ASSIGN(const std::uint64_t count, try_count(slab));
  NMB_ASSIGN(const DataType type, try_datatype());
  Elements out;
  NMB_TRY(make_room(type, count, &out.values).in_file(file_->path()));
  NMB_TRY(try_read_elements(slab, out.values, &out.heap));
  return out;
}

Status VarView::try_read_elements(const Hyperslab& slab, std::span<std::byte> out,
                                  std::vector<std::byte>* heap) const {
  NMB_TRY(check_handle(dataset_));
  const auto read = [&]() -> Status {
    NMB_ASSIGN(const std::shared_ptr<BlockElements> elements, file_->elements(dataset_));
    return elements->read(id_, slab, out, heap);
  };
  return read().in_file(file_->path());
}

Result<FillValue> VarView::try_fill_value() const {
  NMB_TRY(check_handle(dataset_));
  NMB_ASSIGN(const std::shared_ptr<BlockElements> elements, file_->elements(dataset_));
  NMB_ASSIGN(auto fill, elements->fill(id_));
  FillValue out;
  out.element = std::move(fill.first);
  switch (fill.second) {
    case FillOrigin::kAttribute:
      out.from = FillValue::From::kAttribute;
      break;
    case FillOrigin::kSet:
      out.from = FillValue::From::kSet;
      break;
    case FillOrigin::kDefault:
      out.from = FillValue::From::kDefault;
      break;
  }
  return out;
}

Result<StoredValues> VarView::try_stored() const {
  NMB_TRY(check_handle(dataset_));
  const Metadata& metadata = dataset_->metadata;
  StoredValues out;
  const Extension* const extension = metadata.extension().get();
  if (!extension) return out;
  const Type type = metadata.variable(id_).type;
  if (TypeTable::is_extended(type))
    out.is_little_endian = extension->types.at(type).order == ByteOrder::kLittle;
  if (const Storage* const storage = extension->storage_of(id_)) {
    out.chunk = storage->chunk;
    for (const Filter& filter : storage->filters)
      out.filters.push_back({filter.id, filter.name, filter.parameters});
  }
  NMB_ASSIGN(const std::shared_ptr<BlockElements> elements, file_->elements(dataset_));
  out.is_null = elements->is_null(id_);
  if (const hdf5::Creation* const creation = elements->creation(id_);
      creation && out.chunk.empty()) {
    out.chunk = creation->chunk;
    for (const Filter& filter : creation->filters)
      out.filters.push_back({filter.id, filter.name, filter.parameters});
  }
  return out;
}

// --- blocks ---

bool BlockView::is_classic() const {
  check(check_handle(entry_));
  return entry_->kind != static_cast<std::uint16_t>(Kind::kExtended);
}

Result<ShownBlock> BlockView::try_shown() const {
  NMB_TRY(check_handle(entry_));
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_->file.dataset(*entry_));
  NMB_ASSIGN(const FileDimensions dimensions, file_->dimensions(*dataset));
  const NetcdfView view = netcdf_view(*dataset, &dimensions.lengths, dimensions.first_made_up);
  ShownBlock out;
  for (const NetcdfView::Dimension& dimension : view.dimensions)
    out.dims.push_back({dimension.name, dimension.length, false, dimension.may_grow});
  if (const auto record = dataset->metadata.record_dimension())
    for (DimView& dimension : out.dims)
      dimension.is_record = dimension.name == dataset->metadata.dimension(*record).name;
  const auto shown_atts = [&](VarId owner) {
    std::vector<AttView> atts;
    const AttributeShapes shapes = ReaderState::shapes(*dataset, owner);
    dataset->metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
      if (!view.hides(owner, attribute.name))
        atts.push_back(ReaderState::view(dataset, owner, attribute, shapes));
    });
    return atts;
  };
  for (const NetcdfView::Variable& variable : view.variables)
    out.vars.push_back({file_->view(dataset, variable.id), variable.name, variable.dimensions,
                        shown_atts(variable.id)});
  out.atts = shown_atts(kGlobal);
  return out;
}

}  // namespace nmb
