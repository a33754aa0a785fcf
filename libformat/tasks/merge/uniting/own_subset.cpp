#include "merge/uniting/own_subset.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "model/heap_value.h"
#include "sources/value_source.h"

namespace nmb {

namespace {

using OwnValues = ClassicView::OwnValues;

// The selected values of a variable, without gaps.
Source selected_array(const Dataset& subset, VarId variable) {
  const Metadata& metadata = subset.metadata;
  const std::uint64_t begin = metadata.begin(variable) - subset.layout.header_length;
  const std::uint64_t slice = metadata.slice_bytes(variable).value_or(0);
  if (!metadata.is_record_variable(variable)) return run_of(subset.extent, begin, slice);
  return source_of(
      form::Strided{subset.extent,
                    {{begin, subset.layout.record_size, 0, slice, slice, subset.records}},
                    subset.records * slice});
}

// Adds the elements of each value to the range [*begin, *end) of offsets.
void extend(std::span<const std::byte> values, std::uint64_t size,
            const std::vector<HeapPlace>& places, std::uint64_t* begin, std::uint64_t* end) {
  for (std::uint64_t at = 0; at + size <= values.size(); at += size)
    for (const HeapPlace& place : places) {
      const HeapValue value = HeapValue::load(values.data() + at + place.offset);
      if (value.is_null()) continue;
      const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - value.offset;
      *begin = std::min(*begin, value.offset);
      *end = std::max(*end, value.count > most / place.element_bytes
                                ? std::numeric_limits<std::uint64_t>::max()
                                : value.offset + value.count * place.element_bytes);
    }
}

// Reduces the heap of a variable to the part to which its selected values refer.
Status clip_heap(const Dataset& subset, OwnValues* own) {
  constexpr std::uint64_t kBytesAtOnce = 1 << 18;
  const std::uint64_t size = own->type().size;
  const auto places = heap_places(own->types, own->types.last());
  const Source array = selected_array(subset, *subset.metadata.find_variable(own->variable));
  const std::uint64_t at_once = std::max<std::uint64_t>(1, kBytesAtOnce / size) * size;
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
  std::vector<std::byte> values;
  for (std::uint64_t at = 0; at < array->size() && places; at += values.size()) {
    values.resize(std::min(at_once, array->size() - at));
    NMB_TRY(array->read_at(at, values));
    extend(values, size, *places, &begin, &end);
  }
  OwnValues::Heap& heap = own->heap;
  // Damaged values may refer to bytes outside the heap. They are found when the values are moved.
  begin = std::clamp(begin, heap.offset, heap.offset + heap.length);
  end = std::clamp(end, begin, heap.offset + heap.length);
  heap.begin += begin - heap.offset;
  heap.offset = begin;
  heap.length = end - begin;
  return {};
}

// Appends the heaps to the extent of the subset. whole: the extent of the whole dataset.
Status add_heaps(const Source& whole, std::vector<OwnValues>* own, Dataset* subset) {
  form::Spliced all{{subset->extent}, {}, subset->extent->size(), subset->extent->name()};
  all.runs.push_back({0, all.bytes, 0, 0});
  for (OwnValues& one : *own) {
    if (one.heap.length == 0) continue;
    NMB_TRY(clip_heap(*subset, &one));
    const std::uint64_t from = std::exchange(one.heap.begin, all.bytes);
    if (one.heap.length == 0) continue;
    all.runs.push_back(
        {all.bytes, one.heap.length, from, static_cast<std::uint32_t>(all.sources.size())});
    all.sources.push_back(whole);
    all.bytes += one.heap.length;
  }
  if (all.sources.size() > 1) subset->extent = source_of(std::move(all));
  return {};
}

// Leaves the attributes of variables that the subset has, with the new numbers of these variables.
template <class Attributes>
void renumber_owners(const Metadata& from, const Metadata& to, Attributes* attributes) {
  Attributes kept;
  for (auto& attribute : *attributes) {
    if (attribute.owner != kGlobal) {
      const auto owner = to.find_variable(from.variable(attribute.owner).name);
      if (!owner) continue;
      attribute.owner = *owner;
    }
    kept.push_back(std::move(attribute));
  }
  *attributes = std::move(kept);
}

}  // namespace

Status select_own(ClassicForm* form, Dataset* subset) {
  std::erase_if(form->own, [&](const OwnValues& own) {
    return !subset->metadata.find_variable(own.variable);
  });
  NMB_TRY(add_heaps(form->values, &form->own, subset));
  renumber_owners(form->dataset.metadata, subset->metadata, &form->own_attributes);
  renumber_owners(form->dataset.metadata, subset->metadata, &form->attribute_forms);
  return {};
}

}  // namespace nmb
