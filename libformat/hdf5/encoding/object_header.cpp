#include "encoding/object_header.h"

#include <algorithm>

#include "model/name_rules.h"

namespace nmb {

void ObjectHeader::start(unsigned attribute_order) {
  constexpr unsigned kSizeOf4Bytes = 2;  // of the chunk
  tracks_order_ = (attribute_order & 1) != 0;
  bytes_.clear();
  bytes_.put("OHDR");
  bytes_.put8(2);  // version
  bytes_.put8(kSizeOf4Bytes | attribute_order << 2);
  bytes_.put32(0);  // size of the chunk, set at the end
}

void ObjectHeader::begin(HeaderMessage type, unsigned flags, std::uint64_t number) {
  message_ = bytes_.size();
  bytes_.put8(static_cast<unsigned>(type));
  bytes_.put16(0);
  bytes_.put8(flags);
  if (tracks_order_) bytes_.put16(number);
}

bool ObjectHeader::end() {
  const std::size_t size = bytes_.size() - message_ - message_prefix();
  bytes_.set16(message_ + 1, size);
  return size <= 0xFFFF;
}

std::span<const std::byte> ObjectHeader::finish() {
  bytes_.set32(kPrefix - 4, bytes_.size() - kPrefix);
  bytes_.put_checksum();
  return bytes_.bytes();
}

namespace {

constexpr unsigned kSpaceVersion = 2;
enum class SpaceClass : std::uint8_t { kScalar, kSimple, kNull };

void put_space_prefix(Hdf5Bytes& out, std::size_t rank, unsigned flags, SpaceClass kind) {
  out.put8(kSpaceVersion);
  out.put8(static_cast<unsigned>(rank));
  out.put8(flags);
  out.put8(static_cast<unsigned>(kind));
}

void put_type_prefix(Hdf5Bytes& out, unsigned type_class, unsigned bits, std::uint64_t size) {
  put_datatype_prefix(out, 1, type_class, bits, size);
}

constexpr unsigned kBigEndian = 1, kSigned = 8, kImpliedBit = 0x20;
enum TypeClass : unsigned { kFixed = 0, kFloating = 1, kText = 3, kReference = 7, kSequence = 9 };

void put_integer_type(Hdf5Bytes& out, unsigned bits, std::size_t size) {
  put_type_prefix(out, kFixed, bits, size);
  out.put16(0);
  out.put16(8 * size);
}

}  // namespace

void put_datatype_prefix(Hdf5Bytes& out, unsigned version, unsigned type_class, unsigned bits,
                         std::uint64_t size) {
  out.put32((std::uint64_t{bits} << 8) | version << 4 | type_class);
  out.put32(size);
}

void put_scalar_space(Hdf5Bytes& out) { put_space_prefix(out, 0, 0, SpaceClass::kScalar); }
void put_null_space(Hdf5Bytes& out) { put_space_prefix(out, 0, 0, SpaceClass::kNull); }

void put_simple_space(Hdf5Bytes& out, std::span<const std::uint64_t> lengths, bool grows) {
  std::vector<std::uint64_t> maximum(lengths.begin(), lengths.end());
  if (grows) maximum[0] = ~std::uint64_t{0};
  put_simple_space(out, lengths, maximum);
}

void put_simple_space(Hdf5Bytes& out, std::span<const std::uint64_t> lengths,
                      std::span<const std::uint64_t> maximum) {
  const bool differ = !std::ranges::equal(lengths, maximum);
  put_space_prefix(out, lengths.size(), differ ? 1 : 0, SpaceClass::kSimple);
  for (const std::uint64_t length : lengths) out.put64(length);
  if (!differ) return;
  for (const std::uint64_t length : maximum) out.put64(length);
}

void put_text_type(Hdf5Bytes& out, std::uint64_t bytes) {
  put_type_prefix(out, kText, 0, bytes);  // null-terminated, ASCII
}

void put_type(Hdf5Bytes& out, Type type) {
  const std::size_t size = type_size(type);
  const unsigned order = size > 1 ? kBigEndian : 0;
  switch (type) {
    case Type::kChar:
      return put_text_type(out, 1);
    case Type::kFloat:
    case Type::kDouble: {
      const bool is_double = type == Type::kDouble;
      put_type_prefix(out, kFloating, order | kImpliedBit | (is_double ? 63u : 31u) << 8, size);
      out.put16(0);                   // bit offset
      out.put16(8 * size);            // precision
      out.put8(is_double ? 52 : 23);  // exponent: first bit, number of bits
      out.put8(is_double ? 11 : 8);
      out.put8(0);  // mantissa: first bit, number of bits
      out.put8(is_double ? 52 : 23);
      out.put32(is_double ? 1023 : 127);
      return;
    }
    case Type::kByte:
    case Type::kShort:
    case Type::kInt:
    case Type::kInt64:
      return put_integer_type(out, order | kSigned, size);
    default:
      return put_integer_type(out, order, size);
  }
}

void put_int32_type(Hdf5Bytes& out) { put_integer_type(out, kSigned, 4); }

void put_reference_list_type(Hdf5Bytes& out) {
  put_type_prefix(out, kSequence, 0, 16);
  put_type_prefix(out, kReference, 0, 8);
}

bool is_utf8_beyond_ascii(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) > 0x7F; }) &&
         is_utf8(text);
}

void put_attribute_prefix(Hdf5Bytes& out, std::string_view name, std::size_t type_bytes,
                          std::size_t space_bytes) {
  put_attribute_prefix(out, name, type_bytes, space_bytes, is_utf8_beyond_ascii(name), false);
}

void put_attribute_prefix(Hdf5Bytes& out, std::string_view name, std::size_t type_bytes,
                          std::size_t space_bytes, bool is_utf8, bool type_is_named) {
  out.put8(3);
  out.put8(type_is_named ? 1 : 0);
  out.put16(name.size() + 1);
  out.put16(type_bytes);
  out.put16(space_bytes);
  out.put8(is_utf8 ? 1 : 0);
  out.put(name);
  out.put8(0);
}

void add_attribute_info(ObjectHeader& to, std::uint64_t count, unsigned order) {
  constexpr unsigned kTracked = 1, kIndexed = 2;
  constexpr std::uint64_t kMost = 0xFFFF;
  if (count == 0) return;
  to.begin(HeaderMessage::kAttributeInfo);
  Hdf5Bytes& out = to.bytes();
  out.put8(0);
  out.put8(order);
  if (order & kTracked) out.put16(std::min(count, kMost));
  out.put64(kUndefinedAddress);
  out.put64(kUndefinedAddress);
  if (order & kIndexed) out.put64(kUndefinedAddress);
  (void)to.end();
}

bool add_text_attribute(ObjectHeader& to, std::string_view name, std::string_view text,
                        std::size_t bytes) {
  to.begin(HeaderMessage::kAttribute);
  Hdf5Bytes& out = to.bytes();
  put_attribute_prefix(out, name, 8, 4);
  put_text_type(out, std::max<std::size_t>(bytes, 1));
  bytes > 0 ? put_scalar_space(out) : put_null_space(out);
  out.put(text);
  out.zeros(bytes - text.size());
  return to.end();
}

bool add_number_attribute(ObjectHeader& to, std::string_view name, Type type, std::uint64_t count,
                          std::span<const std::byte> values) {
  to.begin(HeaderMessage::kAttribute);
  Hdf5Bytes& out = to.bytes();
  const bool floating = type == Type::kFloat || type == Type::kDouble;
  put_attribute_prefix(out, name, floating ? 20 : 12, count > 0 ? 12 : 4);
  put_type(out, type);
  count > 0 ? put_simple_space(out, std::span(&count, 1)) : put_null_space(out);
  out.put(values);
  return to.end();
}

}  // namespace nmb
