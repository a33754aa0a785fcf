#include "import/values_in.h"

#include <cstring>

#include "hdf5_types/memory_layout.h"
#include "wire/endian.h"

namespace nmb::hdf5 {

namespace {

void put_heap_value(std::uint64_t count, std::uint64_t offset, std::byte* to) {
  store_le(to, count);
  store_le(to + 8, offset);
}

class Encoder {
 public:
  Encoder(const TypeTable& types, const References& references, Heap* heap)
      : types_(types), references_(references), heap_(heap) {}

  // Encodes one value. `to` points to memory for the encoded value; all bytes of this memory must
  // be zero.
  Status put(Type type, const std::byte* from, std::byte* to) {
    if (!types_.needs_heap(type)) {
      std::memcpy(to, from, types_.value_size(type));
      return {};
    }
    const ExtendedType& t = types_.at(type);
    switch (t.type_class) {
      case TypeClass::kString:
        put_string(from, to);
        return {};
      case TypeClass::kReference: {
        if (t.reference == ReferenceKind::kObject) {
          NMB_ASSIGN(const std::string path, references_.object(from));
          put_bytes(std::as_bytes(std::span(path.data(), path.size())), to);
        } else {
          NMB_ASSIGN(const std::vector<std::byte> region, references_.region(from));
          put_bytes(region, to);
        }
        return {};
      }
      case TypeClass::kVlen:
        return put_sequence(t.base, from, to);
      case TypeClass::kArray: {
        const std::uint64_t size = types_.value_size(t.base), step = memory_size(types_, t.base);
        for (std::uint64_t at = 0; at < t.size; at += size, from += step)
          NMB_TRY(put(t.base, from, to + at));
        return {};
      }
      default:
        for (const ExtendedType::Field& field : t.fields)
          NMB_TRY(put(field.type, from + memory_offset(types_, t, field), to + field.offset));
        return {};
    }
  }

 private:
  void put_bytes(std::span<const std::byte> bytes, std::byte* to) {
    if (!bytes.empty()) put_heap_value(bytes.size(), heap_->add(bytes), to);
  }
  void put_string(const std::byte* from, std::byte* to) {
    const char* text;
    std::memcpy(&text, from, sizeof text);
    if (!text) return;
    const std::size_t length = std::strlen(text);
    // An empty string has an offset; a null string has no offset.
    put_heap_value(length, heap_->add(std::as_bytes(std::span(text, length))), to);
  }
  Status put_sequence(Type base, const std::byte* from, std::byte* to) {
    hvl_t sequence;
    std::memcpy(&sequence, from, sizeof sequence);
    if (sequence.len == 0) return {};
    const std::uint64_t size = types_.value_size(base), step = memory_size(types_, base);
    std::vector<std::byte> elements(sequence.len * size);
    const auto* element = static_cast<const std::byte*>(sequence.p);
    for (std::size_t i = 0; i < sequence.len; ++i)
      NMB_TRY(put(base, element + i * step, elements.data() + i * size));
    put_heap_value(sequence.len, heap_->add(elements), to);
    return {};
  }

  const TypeTable& types_;
  const References& references_;
  Heap* const heap_;
};

}  // namespace

std::uint64_t Heap::add(std::span<const std::byte> bytes) {
  const std::uint64_t offset = end_;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  end_ += bytes.size();
  return offset;
}

Status encode_values(const TypeTable& types, Type type, const References& references,
                     const std::byte* from, std::uint64_t count, std::vector<std::byte>* out,
                     Heap* heap) {
  const std::uint64_t size = types.value_size(type), step = memory_size(types, type);
  const std::size_t at = out->size();
  out->resize(at + count * size);
  Encoder encoder(types, references, heap);
  for (std::uint64_t i = 0; i < count; ++i)
    NMB_TRY(encoder.put(type, from + i * step, out->data() + at + i * size));
  return {};
}

}  // namespace nmb::hdf5
