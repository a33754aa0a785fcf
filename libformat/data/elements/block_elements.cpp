#include "elements/block_elements.h"

#include <algorithm>
#include <utility>

#include "values/gather.h"
#include "values/open_array.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Fails unless there is room for `count` elements, and a heap if they need one.
Status check_room(const ElementForm& form, std::uint64_t count, std::size_t bytes, bool has_heap) {
  std::uint64_t expected = 0;
  if (!checked_mul(count, form.type().size, &expected) || expected != bytes)
    return failure(Code::kUsage, "found room for ", bytes, " bytes, expected ", count,
                   " elements of ", form.type().size, " bytes");
  if (form.type().has_parts() && !has_heap)
    return failure(Code::kUsage, "found no heap for elements of type ", form.type().text());
  return {};
}

// Returns the only run of a selection that lies in one piece, or nullopt.
std::optional<std::uint64_t> only_run(const VariableShape& shape, const Hyperslab& slab,
                                      std::uint64_t count) {
  std::optional<std::uint64_t> found;
  const Status whole =
      for_each_run(shape, slab, [&](std::uint64_t offset, std::uint64_t, std::uint64_t elements) {
        if (elements == count) found = offset;
        return elements == count ? Status() : Status(Code::kUsage, "several runs");
      });
  return whole.ok() ? found : std::nullopt;
}

}  // namespace

Result<std::shared_ptr<BlockElements>> BlockElements::of(std::shared_ptr<const Dataset> dataset,
                                                         std::shared_ptr<ChunkCache> cache) {
  std::shared_ptr<BlockElements> out(new BlockElements(std::move(dataset), std::move(cache)));
  if (out->dataset_->metadata.extension())
    NMB_ASSIGN(out->properties_, hdf5::PropertyTable::of(out->dataset_->metadata));
  return out;
}

const TypeTable* BlockElements::types() const {
  const auto& extension = dataset_->metadata.extension();
  return extension ? &extension->types : nullptr;
}

Result<ElementForm> BlockElements::form(VarId variable) const {
  return ElementForm::of(types(), dataset_->metadata.variable(variable).type);
}

Result<std::shared_ptr<const ValueArray>> BlockElements::array(VarId variable) const {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = arrays_.find(variable); found != arrays_.end()) return found->second;
  }
  NMB_ASSIGN(ValueArray opened,
             stored_array(dataset_->metadata, dataset_->layout, dataset_->records, variable,
                          dataset_->extent, properties_.all(), cache_));
  auto made = std::make_shared<const ValueArray>(std::move(opened));
  const std::scoped_lock lock(mutex_);
  return arrays_.emplace(variable, std::move(made)).first->second;
}

Status BlockElements::read(VarId variable, const Hyperslab& slab, std::span<std::byte> out,
                           std::vector<std::byte>* heap) const {
  const auto read = [&]() -> Status {
    NMB_ASSIGN(const ElementForm form, this->form(variable));
    NMB_ASSIGN(const std::shared_ptr<const ValueArray> array, this->array(variable));
    NMB_TRY(check_hyperslab(array->shape, slab));
    const std::uint64_t count = element_count(slab);
    NMB_TRY(check_room(form, count, out.size(), heap != nullptr));
    if (count == 0) return {};
    // Bytes that need no conversion go into the caller's memory at once.
    if (form.is_copy())
      if (const auto offset = only_run(array->shape, slab, count))
        return array->source->read_at(*offset, out);
    std::vector<std::byte> none;
    HeapReader reader(array->region.get(), heap ? heap : &none);
    std::byte* to = out.data();
    return gather(array->shape, slab, *array->source, [&](std::span<const std::byte> stored) {
      std::byte* const here = to;
      to += stored.size() / form.stored_bytes() * form.type().size;
      return form.convert(stored, here, &reader);
    });
  };
  return read().of_object(joined_text("variable ", dataset_->metadata.variable(variable).name));
}

Result<std::pair<Elements, FillOrigin>> BlockElements::fill(VarId variable) const {
  const Metadata& metadata = dataset_->metadata;
  const Type type = metadata.variable(variable).type;
  NMB_ASSIGN(const ElementForm form, this->form(variable));
  Elements out;
  out.values.resize(form.type().size);
  const auto stated = metadata.find_attribute(variable, "_FillValue");
  if (stated && stated->count == 1) {
    NMB_ASSIGN(const ElementForm of_attribute, ElementForm::of(types(), stated->type));
    if (of_attribute.type() == form.type()) {
      NMB_TRY(read_attribute(metadata, *stated, out.values, &out.heap));
      return std::pair(std::move(out), FillOrigin::kAttribute);
    }
  }
  std::vector<std::byte> stored(form.stored_bytes());
  FillOrigin origin = FillOrigin::kDefault;
  const hdf5::Creation* const created = creation(variable);
  if (created && created->fill_state == hdf5::FillState::kUser &&
      created->fill_value.size() >= stored.size()) {
    stored = created->fill_value;
    origin = FillOrigin::kSet;
  }
  if (origin == FillOrigin::kDefault && !TypeTable::is_extended(type))
    stored = default_fill_value(type);
  const MemorySource region(stored);
  HeapReader heap(&region, &out.heap);
  NMB_TRY(form.convert(std::span(stored).first(form.stored_bytes()), out.values.data(), &heap));
  return std::pair(std::move(out), origin);
}

bool BlockElements::is_null(VarId variable) const {
  const hdf5::Property* const p = properties_.find(hdf5::Property::Number::kSpace, variable);
  return p && p->space.space_class == hdf5::SpaceClass::kNull;
}

const hdf5::Creation* BlockElements::creation(VarId variable) const {
  const hdf5::Property* const p = properties_.find(hdf5::Property::Number::kCreation, variable);
  return p ? &p->creation : nullptr;
}

Status read_attribute(const Metadata& metadata, const Attribute& attribute,
                      std::span<std::byte> out, std::vector<std::byte>* heap) {
  const auto& extension = metadata.extension();
  NMB_ASSIGN(const ElementForm form,
             ElementForm::of(extension ? &extension->types : nullptr, attribute.type));
  NMB_TRY(check_room(form, attribute.count, out.size(), heap != nullptr));
  const MemorySource region(attribute.values);
  std::vector<std::byte> none;
  HeapReader reader(&region, heap ? heap : &none);
  return form.convert(attribute.values.first(attribute.count * form.stored_bytes()), out.data(),
                      &reader);
}

}  // namespace nmb
