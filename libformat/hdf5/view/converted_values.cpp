#include "view/converted_values.h"

#include <algorithm>

#include "hdf5_types/memory_layout.h"
#include "model/heap_value.h"
#include "wire/checked.h"
#include "wire/items.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

std::uint64_t size_in_file(const TypeTable& types, Type type) {
  return hdf5::memory_size(types, type, hdf5::kStringInFile);
}

}  // namespace

void ConvertedValues::start(const ByteSource& region, bool adds_to_heap) {
  reason_ = LeftOutReason::kTooLarge;
  region_ = &region;
  adds_to_heap_ = adds_to_heap;
  left_ = region.size();
  lost_references_ = 0;
  window_.clear();
}

Status ConvertedValues::put(Type type, std::span<const std::byte> values, std::uint64_t count,
                            Hdf5Bytes& out) {
  const MemorySource region(values);
  start(region, true);
  return convert(type, values, count, out);
}

Status ConvertedValues::convert(Type type, std::span<const std::byte> values, std::uint64_t count,
                                Hdf5Bytes& out) {
  if (!types_.needs_heap(type)) {
    out.put(values.first(count * types_.value_size(type)));
    return {};
  }
  const std::uint64_t step = types_.value_size(type);
  std::vector<std::byte> value(size_in_file(types_, type));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::ranges::fill(value, std::byte{0});
    NMB_TRY(convert_one(type, values.data() + i * step, value));
    out.put(std::span<const std::byte>(value));
  }
  return {};
}

Status ConvertedValues::convert_one(Type type, const std::byte* value, std::span<std::byte> out) {
  if (!types_.needs_heap(type)) {
    std::copy_n(value, types_.value_size(type), out.data());
    return {};
  }
  const ExtendedType& t = types_.at(type);
  switch (t.type_class) {
    case TypeClass::kArray: {
      const std::uint64_t from = types_.value_size(t.base), to = size_in_file(types_, t.base);
      for (std::uint64_t i = 0; i < t.size / from; ++i)
        NMB_TRY(convert_one(t.base, value + i * from, out.subspan(i * to, to)));
      return {};
    }
    case TypeClass::kCompound:
      for (const ExtendedType::Field& field : t.fields)
        NMB_TRY(convert_one(field.type, value + field.offset,
                            out.subspan(hdf5::memory_offset(types_, t, field, hdf5::kStringInFile),
                                        size_in_file(types_, field.type))));
      return {};
    case TypeClass::kString: {
      if (HeapValue::load(value).is_null()) return {};
      NMB_ASSIGN(const std::vector<std::byte> text, bytes_of(value, 1));
      store_le(out.data(), static_cast<std::uint32_t>(text.size()));
      return add_to_heap(text, out.data() + 4);
    }
    case TypeClass::kVlen:
      return convert_list(value, t.base, out);
    case TypeClass::kReference: {
      NMB_ASSIGN(const std::vector<std::byte> reference, bytes_of(value, 1));
      if (reference.empty()) return {};
      if (t.reference == ReferenceKind::kRegion) return convert_region(reference, out);
      const std::string_view path(reinterpret_cast<const char*>(reference.data()),
                                  reference.size());
      store_le(out.data(), address_of(path));
      return {};
    }
    default:
      return failure(Code::kUnsupported, "HDF5 has no form for the values");
  }
}

std::uint64_t ConvertedValues::address_of(std::string_view path) {
  const std::uint64_t address = objects_.address(KnownObjects::key_of_path(path));
  if (address == 0) ++lost_references_;
  return address;
}

Result<std::vector<std::byte>> ConvertedValues::bytes_of(const std::byte* value,
                                                         std::uint64_t size) {
  // Programs that read the value with HDF5 hold the whole object of the heap in memory.
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;
  const HeapValue found = HeapValue::load(value);
  const std::uint64_t there = region_->size();
  std::uint64_t bytes = 0;
  const auto damaged = [&] {
    return Status(Code::kDamaged, "", kNoOffset, "R-XV-1",
                  joined_text("found a value of ", found.count, " elements at offset ",
                              found.offset, ", expected at most ", there, " bytes"));
  };
  if (!checked_mul(found.count, size, &bytes) || bytes > there) return damaged();
  if (found.is_null()) return std::vector<std::byte>();
  if (bytes > left_)
    return Status(Code::kDamaged, "", kNoOffset, "R-XV-2",
                  joined_text("found values that together refer to more than ", there, " bytes"));
  if (bytes > kMostBytes) return failure(Code::kUnsupported, "a value has ", bytes, " bytes");
  left_ -= bytes;
  if (found.offset > there - bytes) return damaged();
  std::vector<std::byte> out(bytes);
  NMB_TRY(read(found.offset, out));
  return out;
}

// Short reads take the bytes from window_.
Status ConvertedValues::read(std::uint64_t offset, std::span<std::byte> out) {
  constexpr std::uint64_t kWindow = 256 * 1024;
  if (out.size() >= kWindow / 4) return region_->read_at(offset, out);
  if (offset < window_begin_ || offset - window_begin_ > window_.size() ||
      out.size() > window_.size() - (offset - window_begin_)) {
    window_.resize(std::min(kWindow, region_->size() - offset));
    window_begin_ = offset;
    if (Status status = region_->read_at(offset, window_); !status.ok()) {
      window_.clear();
      return status;
    }
  }
  std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(offset - window_begin_), out.size(),
              out.begin());
  return {};
}

Status ConvertedValues::convert_list(const std::byte* value, Type base, std::span<std::byte> out) {
  const std::uint64_t from = types_.value_size(base), to = size_in_file(types_, base);
  NMB_ASSIGN(std::vector<std::byte> elements, bytes_of(value, from));
  if (elements.empty()) return {};
  const std::uint64_t count = elements.size() / from;
  if (types_.needs_heap(base)) {
    std::vector<std::byte> converted(count * to);
    for (std::uint64_t i = 0; i < count; ++i)
      NMB_TRY(
          convert_one(base, elements.data() + i * from, std::span(converted).subspan(i * to, to)));
    elements = std::move(converted);
  }
  store_le(out.data(), static_cast<std::uint32_t>(count));
  return add_to_heap(elements, out.data() + 4);
}

// In a block, a reference to a region is the object's path, then a selection in the form of
// H5Sencode. In an HDF5 file, it is the object's address, then the selection without the dataspace
// that precedes it.
Status ConvertedValues::convert_region(std::span<const std::byte> reference,
                                       std::span<std::byte> out) {
  constexpr const char* kRule = "R-XT-1";
  ItemsIn in(reference, 0);
  const std::string path = in.text(kRule);
  constexpr std::size_t kPrefix = 3;  // id, version, size of lengths
  (void)in.take(kPrefix, kRule);
  (void)in.take(in.number<std::uint32_t>(kRule), kRule);
  const std::span<const std::byte> selection = in.take(in.remaining(), kRule);
  if (!in.ok()) {
    reason_ = LeftOutReason::kType;
    return failure(Code::kUnsupported,
                   "a reference to a region does not have the form that HDF5 writes");
  }
  const std::uint64_t address = address_of(path);
  std::vector<std::byte> object(8);
  store_le(object.data(), address);
  object.insert(object.end(), selection.begin(), selection.end());
  std::vector<std::byte> place(12);
  NMB_TRY(add_to_heap(object, place.data()));
  if (address != 0) std::ranges::copy(place, out.begin());
  return {};
}

Status ConvertedValues::add_to_heap(std::span<const std::byte> object, std::byte* out) {
  if (!adds_to_heap_) return {};
  NMB_ASSIGN(const GlobalHeap::HeapId place, heap_.add(object));
  store_le(out, place.heap);
  store_le(out + 8, place.index);
  return {};
}

}  // namespace nmb
