#include "merge/uniting/value_comparison.h"

#include <algorithm>
#include <span>

#include "dump/extended_text.h"
#include "dump/value_text.h"
#include "model/heap_value.h"
#include "netcdf/own_attribute.h"
#include "wire/endian.h"

namespace nmb {

namespace {

std::string text_of(Type type, const std::array<std::byte, 8>& value) {
  return value_text({"", type, 1, std::span(value).first(type_size(type))});
}

}  // namespace

Result<std::optional<ValuesDiffer>> first_difference(const ByteSlices& found,
                                                     const ByteSlices& expected, Type type,
                                                     std::uint64_t slices, std::uint64_t length) {
  NMB_ASSIGN(const std::optional<std::uint64_t> byte,
             first_different_byte(found, expected, length, slices));
  if (!byte) return std::optional<ValuesDiffer>();
  const std::uint64_t size = type_size(type);
  const std::uint64_t slice = *byte / length, at = *byte % length / size * size;
  ValuesDiffer differ{*byte / size, {}, {}};
  NMB_TRY(found.source->read_at(found.begin + slice * found.step + at,
                                std::span(differ.found).first(size)));
  NMB_TRY(expected.source->read_at(expected.begin + slice * expected.step + at,
                                   std::span(differ.expected).first(size)));
  return std::optional(differ);
}

namespace {

// Reads the values of an array, each with the bytes to which it refers. Values with the same
// elements have the same bytes: those between the fields of compounds are zero.
class OwnReader {
 public:
  OwnReader(const OwnArray& array, const TypeTable& types)
      : array_(array),
        size_(types.at(types.last()).size),
        places_(heap_places(types, types.last()).value_or(std::vector<HeapPlace>())) {
    std::vector<bool> is_value(size_);
    note_values(types, types.last(), 0, &is_value);
    for (std::size_t i = 0; i < is_value.size(); ++i)
      if (!is_value[i]) gaps_.push_back(i);
  }

  std::uint64_t count() const { return array_.array->size() / size_; }
  Result<std::vector<std::byte>> read(std::uint64_t element) {
    std::vector<std::byte> value(size_);
    NMB_TRY(values_.read(*array_.array, element * size_, value));
    for (const std::size_t at : gaps_) value[at] = std::byte{0};
    for (const HeapPlace& place : places_) {
      const HeapValue found = HeapValue::load(value.data() + place.offset);
      if (found.is_null()) {
        store_le(value.data() + place.offset, std::uint64_t{0});
        continue;
      }
      const ClassicView::OwnValues::Heap& heap = array_.heap;
      const std::uint64_t begin = found.offset - heap.offset;
      if (found.offset < heap.offset || begin > heap.length ||
          found.count > (heap.length - begin) / place.element_bytes)
        return Status(Code::kDamaged, array_.array->name(), kNoOffset, "R-XV-1",
                      "found a value of variable length outside its region");
      const std::size_t at = value.size();
      store_le(value.data() + place.offset + 8, std::uint64_t{at});
      value.resize(at + found.count * place.element_bytes);
      NMB_TRY(
          elements_.read(*array_.heap_source, heap.begin + begin, std::span(value).subspan(at)));
    }
    return value;
  }

 private:
  // Reads a source in ascending order, many bytes at a time.
  class Window {
   public:
    Status read(const ByteSource& source, std::uint64_t at, std::span<std::byte> out) {
      constexpr std::uint64_t kBytes = 64 << 10;
      if (out.size() >= kBytes) return source.read_at(at, out);
      if (at < begin_ || at + out.size() > begin_ + bytes_.size()) {
        bytes_.resize(std::min(kBytes, source.size() - at));
        begin_ = at;
        NMB_TRY(source.read_at(at, bytes_));
      }
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at - begin_), out.size(),
                  out.begin());
      return {};
    }

   private:
    std::vector<std::byte> bytes_;
    std::uint64_t begin_ = 0;
  };

  // Notes the bytes of a value that are not between the fields of compounds.
  static void note_values(const TypeTable& types, Type type, std::uint64_t begin,
                          std::vector<bool>* is_value) {
    const bool is_compound =
        TypeTable::is_extended(type) && types.at(type).type_class == TypeClass::kCompound;
    const bool is_array =
        TypeTable::is_extended(type) && types.at(type).type_class == TypeClass::kArray;
    if (is_compound) {
      for (const ExtendedType::Field& field : types.at(type).fields)
        note_values(types, field.type, begin + field.offset, is_value);
    } else if (is_array) {
      const Type base = types.at(type).base;
      const std::uint64_t step = types.value_size(base);
      for (std::uint64_t at = 0; step > 0 && at < types.at(type).size; at += step)
        note_values(types, base, begin + at, is_value);
    } else {
      const std::uint64_t end =
          std::min<std::uint64_t>(is_value->size(), begin + types.value_size(type));
      for (std::uint64_t at = begin; at < end; ++at) (*is_value)[at] = true;
    }
  }

  const OwnArray& array_;
  const std::uint64_t size_;
  const std::vector<HeapPlace> places_;
  std::vector<std::size_t> gaps_;  // bytes between the fields of compounds
  Window values_, elements_;
};

// Calls put(out) and returns the text that it wrote, or its first bytes.
template <class Put>
std::string short_text(const Put& put) {
  constexpr std::size_t kMost = 180;
  std::string text;
  const TextSink sink = [&](std::string_view piece) {
    text += piece;
    return Status();
  };
  TextOut out(sink);
  if (!put(out).ok()) return "a value that cannot be read";
  (void)out.finish().ok();  // this sink never fails
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  // Ends before a character of UTF-8.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string own_value_text(const TypeTable& types, const std::vector<std::byte>& value) {
  const MemorySource region(value);
  return short_text([&](TextOut& out) {
    return ExtendedText(out, types, &region, ValueFormat::kCdl).put(types.last(), value.data());
  });
}

}  // namespace

Result<std::optional<OwnDiffer>> first_difference(const OwnArray& found, const OwnArray& expected,
                                                  const TypeTable& types, std::uint64_t from) {
  OwnReader ours(found, types), theirs(expected, types);
  for (std::uint64_t element = from; element < ours.count(); ++element) {
    NMB_ASSIGN(const std::vector<std::byte> one, ours.read(element));
    NMB_ASSIGN(const std::vector<std::byte> other, theirs.read(element));
    if (one == other) continue;
    OwnDiffer differ{element, own_value_text(types, one), own_value_text(types, other)};
    if (differ.found == differ.expected) differ.found += " with different bytes";
    return std::optional(std::move(differ));
  }
  return std::optional<OwnDiffer>();
}

std::string own_text(std::span<const std::byte> encoded) {
  const Result<OwnAttributeValues> own = decode_own(encoded);
  if (!own.ok()) return "values that cannot be read";
  if (own->count == 0) return "no values";
  return short_text([&](TextOut& out) {
    return put_extended_attribute(out, own->types, own->attribute(""), ValueFormat::kCdl);
  });
}

std::string own_type_text(const Attribute* attribute) {
  if (!attribute) return std::string(type_name(Type::kChar));
  const Result<OwnAttributeValues> own = decode_own(attribute->values);
  return own.ok() ? own->types.text(own->types.last()) : "an unknown type";
}

std::string place_text(std::uint64_t element, const std::vector<IndexRange>& part) {
  if (part.empty()) return {};
  std::string place;
  for (auto range = part.rbegin(); range != part.rend(); ++range) {
    place =
        std::to_string(range->first + element % range->count) + (place.empty() ? "" : ",") + place;
    element /= range->count;
  }
  return " at [" + place + "]";
}

std::pair<std::string, std::string> difference_text(const ValuesDiffer& differ, Type type,
                                                    const std::vector<IndexRange>& part) {
  std::string found = text_of(type, differ.found), expected = text_of(type, differ.expected);
  if (found == expected) found += " with different bits";
  found += place_text(differ.element, part);
  return {std::move(found), std::move(expected)};
}

}  // namespace nmb
