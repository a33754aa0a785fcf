// Presents the values of a variable as one array (see model/values.h). The sources of the array
// decode chunks and swap bytes. The sources return fill values for values that were never written.
#include <algorithm>
#include <array>
#include <utility>

#include "hdf5_types/hdf5_section.h"
#include "model/values.h"
#include "sources/value_source.h"
#include "values/chunk_filters.h"
#include "values/chunked_source.h"
#include "values/open_array.h"
#include "wire/checked.h"
#include "wire/joined_text.h"
#include "wire/swap_values.h"

namespace nmb {

namespace {

// Returns the same values, each with its bytes in reverse order.
Source swapped_array(Source source, std::uint64_t value_size) {
  ValueConversion swap{value_size, value_size, true, {}};
  swap.convert = [value_size](std::span<const std::byte> values, std::span<std::byte> out) {
    swap_values(values.data(), out.data(), values.size() / value_size, value_size);
  };
  return source_of(form::Converted{std::move(source), std::move(swap)});
}

// The unstored values of a variable, according to the hdf5 section.
struct Unstored {
  std::string why_absent;         // empty: the values are there
  bool are_elsewhere = false;     // whether they are in other files
  std::vector<std::byte> value;   // the fill value; zeros if none is set
  std::vector<std::byte> region;  // the fill value and the heap bytes to which it refers
};

Unstored unstored_values(std::span<const hdf5::Property> properties, VarId variable,
                         std::uint64_t value_size) {
  Unstored out;
  out.value.resize(value_size);
  out.why_absent = hdf5::why_absent(properties, variable);
  for (const hdf5::Property& p : properties) {
    using Number = hdf5::Property::Number;
    if (p.owner != variable || p.attribute != hdf5::kNoAttribute) continue;
    out.are_elsewhere |= p.number == Number::kExternalFiles || p.number == Number::kVirtual;
    if (p.number == Number::kCreation && p.creation.fill_state == hdf5::FillState::kUser &&
        p.creation.fill_value.size() >= value_size) {
      out.region = p.creation.fill_value;
      out.value.assign(out.region.begin(),
                       out.region.begin() + static_cast<std::ptrdiff_t>(value_size));
    }
  }
  return out;
}

}  // namespace

std::vector<std::byte> unstored_value(std::span<const hdf5::Property> properties, VarId variable,
                                      std::uint64_t value_size) {
  return unstored_values(properties, variable, value_size).value;
}

Result<ValueArray> stored_array(const Metadata& metadata, const ClassicLayout& layout,
                                std::uint64_t records, VarId variable,
                                std::shared_ptr<const ByteSource> extent,
                                std::span<const hdf5::Property> properties,
                                const std::shared_ptr<ChunkCache>& cache) {
  NMB_ASSIGN(VariableShape shape, find_shape(metadata, layout, variable, records));
  const Variable v = metadata.variable(variable);
  ValueArray array{std::move(shape), v.type, extent, nullptr};
  const Extension* const extension = metadata.extension().get();
  const Storage* const storage = extension ? extension->storage_of(variable) : nullptr;
  if (!extension || (!TypeTable::is_extended(v.type) && !storage)) return array;

  const std::uint64_t size = array.shape.element_size;
  const std::uint64_t bytes = metadata.array_bytes(variable).value_or(0);
  const auto range = [&](std::uint64_t length) -> Result<std::shared_ptr<const ByteSource>> {
    if (v.begin > extent->size() || length > extent->size() - v.begin)
      return failure(Code::kDamaged, "found ", extent->size(), " bytes of values, expected ",
                     length, " from offset ", v.begin, " on");
    return run_of(extent, v.begin, length);
  };
  if (storage && storage->kind != StorageKind::kHeap) {
    Unstored unstored = unstored_values(properties, variable, size);
    if (!unstored.why_absent.empty())
      return Status(
          Code::kUnsupported,
          "found values that " + unstored.why_absent +
              (unstored.are_elsewhere ? " (external \"any\" reads those of an HDF5 file)" : ""));
    if (storage->kind == StorageKind::kNone || bytes == 0) {
      array.source = source_of(form::Repeated{std::move(unstored.value), bytes, extent->name()});
      if (extension->types.needs_heap(v.type))
        array.region = owned_bytes(std::move(unstored.region), extent->name());
    } else {
      NMB_TRY(check_filters(storage->filters));
      NMB_ASSIGN(std::shared_ptr<const ByteSource> region, range(storage->region_length));
      array.source =
          std::make_shared<ChunkedSource>(std::move(region), *storage, array.shape.lengths, size,
                                          std::move(unstored.value), bytes, cache);
    }
    array.shape.begin = 0;
  } else if (!array.shape.record_size) {
    NMB_ASSIGN(array.source, range(storage ? storage->region_length : bytes));
    if (storage) array.region = array.source;
    array.shape.begin = 0;
  }
  return array;
}

Result<std::shared_ptr<const ByteSource>> contiguous_array(
    const Dataset& dataset, VarId variable, std::span<const hdf5::Property> properties,
    const std::shared_ptr<ChunkCache>& cache) {
  NMB_ASSIGN(const ValueArray array, stored_array(dataset.metadata, dataset.layout, dataset.records,
                                                  variable, dataset.extent, properties, cache));
  if (array.shape.record_size > 0) return variable_array(array.source, array.shape, "");
  return run_of(array.source, array.shape.begin, array.source->size() - array.shape.begin);
}

Result<bool> has_null_space(const Metadata& metadata, VarId variable) {
  if (!metadata.extension() || !metadata.variable(variable).dimensions.empty()) return false;
  constexpr std::array kWanted{hdf5::Property::Number::kSpace};
  NMB_ASSIGN(const std::vector<hdf5::Property> properties,
             hdf5::decode_properties(metadata.extension()->hdf5, kWanted));
  return std::ranges::any_of(properties, [&](const hdf5::Property& p) {
    return p.owner == variable && p.attribute == hdf5::kNoAttribute &&
           p.space.space_class == hdf5::SpaceClass::kNull;
  });
}

Result<ValueArray> open_array(const Metadata& metadata, const ClassicLayout& layout,
                              std::uint64_t records, VarId variable,
                              std::shared_ptr<const ByteSource> extent,
                              std::span<const hdf5::Property> properties,
                              const std::shared_ptr<ChunkCache>& cache) {
  NMB_ASSIGN(ValueArray array, stored_array(metadata, layout, records, variable, std::move(extent),
                                            properties, cache));
  if (!TypeTable::is_extended(array.type)) return array;
  const TypeTable& types = metadata.extension()->types;
  const Type type = array.type;
  const std::optional<Type> same = types.classic(type);
  if (!same) return array;
  array.type = *same;
  if (!types.is_swapped(type)) return array;
  if (array.shape.record_size)
    return Status(Code::kUnsupported, "found a record variable with little-endian values");
  array.source = swapped_array(array.source, array.shape.element_size);
  return array;
}

Result<ValueArray> value_array(const Metadata& metadata, const ClassicLayout& layout,
                               std::uint64_t records, VarId variable,
                               std::shared_ptr<const ByteSource> extent) {
  constexpr std::uint64_t kCache = 64 << 20;
  std::vector<hdf5::Property> properties;
  if (const auto& extension = metadata.extension(); extension && extension->storage_of(variable)) {
    NMB_ASSIGN(properties, hdf5::decode_properties(extension->hdf5));
  }
  Result<ValueArray> array = open_array(metadata, layout, records, variable, std::move(extent),
                                        properties, std::make_shared<ChunkCache>(kCache));
  if (array.ok()) return array;
  return array.status().of_object(joined_text("variable ", metadata.variable(variable).name));
}

}  // namespace nmb
