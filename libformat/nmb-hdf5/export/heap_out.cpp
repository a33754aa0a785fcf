#include "export/heap_out.h"

#include <algorithm>
#include <cstring>

#include "export/space_out.h"
#include "hdf5_error.h"
#include "wire/checked.h"
#include "wire/items.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint64_t kHeapWindow = 256 * 1024;
constexpr std::uint64_t kLongestReference = 16 << 20;

}  // namespace

HeapOut::HeapOut(TypesOut& types, const ByteSource& region, const FindObject& find_object)
    : types_(types), region_(region), find_object_(find_object), left_(region.size()) {}

void HeapOut::release() {
  held_.clear();
  held_bytes_ = 0;
  too_much_ = false;
}

std::byte* HeapOut::hold(std::uint64_t bytes) {
  // Each buffer needs some memory in addition to its bytes.
  const std::uint64_t cost = sizeof(void*) * 4;
  if (bytes > most_ || held_bytes_ + cost > most_ - bytes) {
    too_much_ = true;
    return nullptr;
  }
  held_bytes_ += bytes + cost;
  held_.push_back(std::make_unique<std::byte[]>(bytes));
  return held_.back().get();
}

Status HeapOut::read(std::uint64_t offset, std::span<std::byte> out) {
  if (out.size() >= kHeapWindow / 4) return region_.read_at(offset, out);
  if (offset < window_begin_ || offset - window_begin_ > window_.size() ||
      out.size() > window_.size() - (offset - window_begin_)) {
    window_.resize(std::min(kHeapWindow, region_.size() - offset));
    window_begin_ = offset;
    if (Status status = region_.read_at(offset, window_); !status.ok()) {
      window_.clear();
      return status;
    }
  }
  if (!out.empty()) std::memcpy(out.data(), window_.data() + (offset - window_begin_), out.size());
  return {};
}

Status HeapOut::convert(Type type, std::span<const std::byte> values, std::uint64_t count,
                        std::uint64_t most, std::byte* out) {
  most_ = most;
  const std::uint64_t left = left_;
  const std::uint64_t from = types_.table().value_size(type);
  const std::size_t to = types_.memory_bytes(type);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Status status = convert_one(type, values.data() + i * from, out + i * to);
    if (status.ok()) continue;
    if (too_much_) left_ = left;  // the caller will convert the same values again
    return status;
  }
  return {};
}

Status HeapOut::convert_one(Type type, const std::byte* value, std::byte* out) {
  if (!types_.table().needs_heap(type)) {
    std::memcpy(out, value, types_.table().value_size(type));
    return {};
  }
  const ExtendedType& t = types_.table().at(type);
  if (t.type_class == TypeClass::kArray) {
    const std::uint64_t from = types_.table().value_size(t.base);
    const std::size_t to = types_.memory_bytes(t.base);
    for (std::uint64_t i = 0; i < t.size / from; ++i)
      NMB_TRY(convert_one(t.base, value + i * from, out + i * to));
    return {};
  }
  if (t.type_class == TypeClass::kCompound) {
    const std::vector<std::uint64_t>& offsets = types_.field_offsets(type);
    for (std::size_t i = 0; i < t.fields.size(); ++i)
      NMB_TRY(convert_one(t.fields[i].type, value + t.fields[i].offset, out + offsets[i]));
    return {};
  }
  const auto count = load_le<std::uint64_t>(value), offset = load_le<std::uint64_t>(value + 8);
  if (offset == 0) {
    if (count == 0)
      return {};  // zero bytes in `out` are already a null pointer, an empty sequence
                  // or a null reference
    return damaged("found ", count, " elements at offset 0, where no elements can be");
  }
  const bool is_sequence = t.type_class == TypeClass::kVlen;
  std::uint64_t bytes = 0;
  if (!checked_mul(count, is_sequence ? types_.table().value_size(t.base) : 1, &bytes) ||
      offset > region_.size() || bytes > region_.size() - offset)
    return damaged("found a value that refers to ", count, " elements at ", offset,
                   ", but the region has only ", region_.size(), " bytes");
  if (bytes > left_)
    return Status(Code::kDamaged, region_.name(), kNoOffset, "R-XV-2",
                  joined_text("found values that together refer to more than the ", region_.size(),
                              " bytes of the region"));
  left_ -= bytes;
  if (is_sequence) return convert_sequence(t.base, count, offset, out);
  return t.type_class == TypeClass::kString ? convert_string(bytes, offset, out)
                                            : convert_reference(t.reference, bytes, offset, out);
}

Status HeapOut::convert_string(std::uint64_t count, std::uint64_t offset, std::byte* out) {
  std::byte* const text = hold(count + 1);
  if (!text) return failure(Code::kLimit, "found a string of ", count, " bytes");
  NMB_TRY(read(offset, {text, count}));
  if (std::memchr(text, 0, count))
    return unsupported("found a NUL within a string of variable length, which HDF5 cannot hold");
  std::memcpy(out, &text, sizeof text);
  return {};
}

Status HeapOut::convert_sequence(Type base, std::uint64_t count, std::uint64_t offset,
                                 std::byte* out) {
  if (count == 0) return {};
  const std::uint64_t from = types_.table().value_size(base);
  const std::size_t to = types_.memory_bytes(base);
  // In memory, an element is at most as long as in the region, so count * to does not overflow.
  std::byte* const elements = hold(count * to);
  if (!elements) return failure(Code::kLimit, "found a sequence of ", count * from, " bytes");
  if (!types_.table().needs_heap(base)) {
    NMB_TRY(read(offset, {elements, count * to}));
  } else {
    std::vector<std::byte> element(from);
    for (std::uint64_t i = 0; i < count; ++i) {
      NMB_TRY(read(offset + i * from, element));
      NMB_TRY(convert_one(base, element.data(), elements + i * to));
    }
  }
  const hvl_t sequence{count, elements};
  std::memcpy(out, &sequence, sizeof sequence);
  return {};
}

Status HeapOut::convert_reference(ReferenceKind kind, std::uint64_t count, std::uint64_t offset,
                                  std::byte* out) {
  if (count > kLongestReference)
    return failure(Code::kLimit, "found a reference of ", count, " bytes");
  std::vector<std::byte> bytes(count);
  NMB_TRY(read(offset, bytes));
  if (kind == ReferenceKind::kObject) {
    NMB_ASSIGN(const Handle object,
               find_object_({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    hobj_ref_t reference;
    NMB_TRY(check_hdf5(H5Rcreate(&reference, object.get(), ".", H5R_OBJECT, H5I_INVALID_HID),
                       "a reference to an object"));
    std::memcpy(out, &reference, sizeof reference);
    return {};
  }
  ItemsIn in(bytes, 0);
  const std::string path = in.text("R-XT-1");
  const std::span<const std::byte> selection = in.take(in.remaining(), "R-XT-1");
  if (!in.ok()) return in.status();
  NMB_ASSIGN(const Handle space, decode_selection(selection));
  if (H5Sselect_valid(space.get()) <= 0)
    return damaged("found a reference to a region outside of its space");
  NMB_ASSIGN(const Handle object, find_object_(path));
  hdset_reg_ref_t reference;
  NMB_TRY(check_hdf5(H5Rcreate(&reference, object.get(), ".", H5R_DATASET_REGION, space.get()),
                     "a reference to a region"));
  std::memcpy(out, &reference, sizeof reference);
  return {};
}

}  // namespace nmb::hdf5
