// Defines fill values, and the pattern of bytes in place of values that were never written
// (spec/format.md, section 10).
#include <algorithm>
#include <bit>
#include <cstring>

#include "model/extension.h"
#include "model/values.h"
#include "values/hole_value.h"
#include "values/stored_type.h"
#include "wire/endian.h"

namespace nmb {
namespace {

template <class Bits>
std::vector<std::byte> external(Bits bits) {
  std::vector<std::byte> out(sizeof bits);
  store_be(out.data(), bits);
  return out;
}

// Fills `out` with copies of `value`. The first copy begins with byte number `phase` of `value`.
void repeat(std::span<const std::byte> value, std::uint64_t phase, std::span<std::byte> out) {
  const std::size_t once = std::min(out.size(), value.size());
  for (std::size_t i = 0; i < once; ++i) out[i] = value[(phase + i) % value.size()];
  for (std::size_t done = once; done < out.size();) {
    const std::size_t more = std::min(done, out.size() - done);
    std::memcpy(out.data() + done, out.data(), more);
    done += more;
  }
}

}  // namespace

std::vector<std::byte> default_fill_value(Type type) {
  constexpr float kFloatFill = 9.9692099683868690e+36F;  // 15 * 2^119
  switch (type) {
    case Type::kByte:
      return external(static_cast<std::uint8_t>(-127));
    case Type::kChar:
      return external(std::uint8_t{0});
    case Type::kShort:
      return external(static_cast<std::uint16_t>(-32767));
    case Type::kInt:
      return external(static_cast<std::uint32_t>(-2147483647));
    case Type::kFloat:
      return external(std::bit_cast<std::uint32_t>(kFloatFill));
    case Type::kDouble:
      return external(std::bit_cast<std::uint64_t>(double{kFloatFill}));
    case Type::kUByte:
      return external(std::uint8_t{255});
    case Type::kUShort:
      return external(std::uint16_t{65535});
    case Type::kUInt:
      return external(std::uint32_t{4294967295});
    case Type::kInt64:
      return external(static_cast<std::uint64_t>(-9223372036854775806));
    case Type::kUInt64:
      return external(std::uint64_t{18446744073709551614U});
  }
  return {};
}

std::vector<std::byte> fill_value(const Metadata& metadata, VarId variable) {
  const Type type = metadata.variable(variable).type;
  if (TypeTable::is_extended(type)) return {};
  const auto attribute = metadata.find_attribute(variable, "_FillValue");
  if (attribute && attribute->type == type && attribute->count == 1)
    return {attribute->values.begin(), attribute->values.end()};
  return default_fill_value(type);
}

namespace {

// Returns the _FillValue of a variable in external form. Returns nothing unless the attribute has
// exactly one value of the variable's type, in either byte order. type: the classic type of the
// variable.
std::vector<std::byte> stated_fill(const Metadata& metadata, VarId variable, Type type) {
  const auto attribute = metadata.find_attribute(variable, "_FillValue");
  if (!attribute || classic_of(metadata, attribute->type) != type || attribute->count != 1)
    return {};
  std::vector<std::byte> value(attribute->values.begin(), attribute->values.end());
  if (is_swapped(metadata, attribute->type)) std::ranges::reverse(value);
  return value;
}

}  // namespace

std::vector<std::byte> shown_fill_value(const Metadata& metadata, VarId variable) {
  const std::optional<Type> type = classic_of(metadata, metadata.variable(variable).type);
  if (!type) return {};
  std::vector<std::byte> value = stated_fill(metadata, variable, *type);
  return value.empty() ? default_fill_value(*type) : value;
}

std::vector<std::byte> hole_value(const Metadata& metadata, VarId variable,
                                  std::span<const hdf5::Property> properties) {
  const Type type = metadata.variable(variable).type;
  const bool is_classic = !TypeTable::is_extended(type);
  std::vector<std::byte> value;
  if (is_classic) value = stated_fill(metadata, variable, type);
  if (!value.empty()) return value;
  const auto set = hdf5::fill_value_set(properties, variable, metadata.value_size(type));
  if (!set.empty()) return {set.begin(), set.end()};
  return is_classic ? default_fill_value(type) : value;
}

// Sorts the slots. Cuts each slot where the next slot begins, and the last slot at `limit`.
void FillPattern::close(std::vector<Slot>* slots, std::uint64_t limit) {
  std::stable_sort(slots->begin(), slots->end(),
                   [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < slots->size(); ++i) {
    const std::uint64_t next = i + 1 < slots->size() ? (*slots)[i + 1].begin : limit;
    (*slots)[i].end = std::min((*slots)[i].end, std::max((*slots)[i].begin, next));
  }
}

FillPattern::FillPattern(const Metadata& metadata, const ClassicLayout& layout)
    : metadata_(metadata), layout_(layout), record_size_(layout.record_size) {
  if (record_size_ > 0) record_begin_ = layout.record_begin - layout.header_length;
}

void FillPattern::make() const {
  const Extension* const extension = metadata_.extension().get();
  std::vector<hdf5::Property> properties;
  // The fill values of a damaged section are not known.
  if (extension)
    if (auto decoded = hdf5::decode_properties(extension->hdf5); decoded.ok())
      properties = *std::move(decoded);
  for (VarId v = 0; v < metadata_.variable_count(); ++v) {
    const bool is_record = metadata_.is_record_variable(v);
    const std::uint64_t base = is_record ? layout_.record_begin : layout_.header_length;
    const std::uint64_t begin = metadata_.begin(v);
    if (begin < base) continue;
    // A variable whose unstored bytes read as zero gets no slot.
    if (extension && extension->storage_of(v)) continue;
    std::vector<std::byte> value = hole_value(metadata_, v, properties);
    if (value.empty()) continue;
    Slot slot{begin - base, ~std::uint64_t{0}, std::move(value)};
    if (const auto bytes = metadata_.slice_bytes(v); bytes && *bytes < slot.end - slot.begin)
      slot.end = slot.begin + *bytes;
    (is_record ? record_ : fixed_).push_back(std::move(slot));
  }
  close(&fixed_, record_size_ > 0 ? record_begin_ : ~std::uint64_t{0});
  close(&record_, record_size_);
}

void FillPattern::fill_slots(const std::vector<Slot>& slots, std::uint64_t offset,
                             std::span<std::byte> out) {
  const std::uint64_t end = offset + out.size();
  auto slot = std::upper_bound(slots.begin(), slots.end(), offset,
                               [](std::uint64_t at, const Slot& s) { return at < s.end; });
  for (; slot != slots.end() && slot->begin < end; ++slot) {
    const std::uint64_t from = std::max(offset, slot->begin), to = std::min(end, slot->end);
    if (from >= to) continue;
    repeat(slot->value, (from - slot->begin) % slot->value.size(),
           out.subspan(from - offset, to - from));
  }
}

void FillPattern::fill(std::uint64_t offset, std::span<std::byte> out) const {
  std::call_once(made_, [this] { make(); });
  std::fill(out.begin(), out.end(), std::byte{0});
  if (record_size_ == 0 || offset < record_begin_) {
    std::size_t fixed = out.size();
    if (record_size_ > 0 && record_begin_ - offset < fixed) fixed = record_begin_ - offset;
    fill_slots(fixed_, offset, out.first(fixed));
    offset += fixed;
    out = out.subspan(fixed);
  }
  while (!out.empty()) {
    const std::uint64_t place = (offset - record_begin_) % record_size_;
    const std::size_t part = std::min<std::uint64_t>(out.size(), record_size_ - place);
    fill_slots(record_, place, out.first(part));
    offset += part;
    out = out.subspan(part);
  }
}

}  // namespace nmb
