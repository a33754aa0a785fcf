#include "encoding/datatype_message.h"

#include "encoding/object_header.h"
#include "hdf5_types/memory_layout.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr unsigned kOldest = 1, kPacked = 3;  // versions of the message
constexpr std::size_t kLongest = 0xFFFF;

Status unwritable(const auto&... what) { return failure(Code::kUnsupported, what...); }

class DatatypeMessage {
 public:
  DatatypeMessage(const TypeTable& types, Hdf5Bytes& out)
      : types_(types), out_(out), start_(out.size()) {}

  Status put(Type type) {
    if (out_.size() - start_ > kLongest)
      return unwritable("the datatype needs more than 65,535 bytes");
    if (!TypeTable::is_extended(type)) {
      const bool is_byte = type == Type::kByte || type == Type::kUByte;
      is_byte ? put_byte(type == Type::kByte) : put_type(out_, type);
      return {};
    }
    const ExtendedType& t = types_.at(type);
    const std::uint64_t size = hdf5::memory_size(types_, type, hdf5::kStringInFile);
    if (size > ~std::uint32_t{0}) return unwritable("a value has ", size, " bytes");
    switch (t.type_class) {
      case TypeClass::kInteger:
      case TypeClass::kFloat:
      case TypeClass::kTime:
      case TypeClass::kBitfield:
        return put_number(t);
      case TypeClass::kString:
        return put_string(t);
      case TypeClass::kOpaque:
        return put_opaque(t);
      case TypeClass::kCompound:
        return put_compound(type, t, size);
      case TypeClass::kReference:
        prefix(kOldest, t, t.reference == ReferenceKind::kObject ? 0 : 1, size);
        return {};
      case TypeClass::kEnum:
        return put_enum(t);
      case TypeClass::kVlen:
        prefix(kOldest, t, 0, size);
        return put(t.base);
      case TypeClass::kArray:
        return put_array(t, size);
    }
    return unwritable("HDF5 has no class for the datatype");
  }

 private:
  void prefix(unsigned version, const ExtendedType& t, unsigned bits, std::uint64_t size) {
    put_datatype_prefix(out_, version, static_cast<unsigned>(t.type_class), bits, size);
  }

  // HDF5 records a byte order even for a type of one byte.
  void put_byte(bool is_signed) {
    constexpr unsigned kBig = 1, kSigned = 8;
    put_datatype_prefix(out_, kOldest, static_cast<unsigned>(TypeClass::kInteger),
                        kBig | (is_signed ? kSigned : 0), 1);
    out_.put16(0);
    out_.put16(8);
  }

  static unsigned number_bits(const ExtendedType& t) {
    return (t.order == ByteOrder::kBig ? 1u : 0u) | (t.low_padding == BitPadding::kOne ? 2u : 0u) |
           (t.high_padding == BitPadding::kOne ? 4u : 0u);
  }

  Status put_number(const ExtendedType& t) {
    constexpr std::uint32_t kMostBits = 0xFFFF, kMostPlace = 0xFF;
    const bool is_float = t.type_class == TypeClass::kFloat;
    if (t.bit_offset > kMostBits || t.precision > kMostBits ||
        (is_float && (t.sign_position > kMostPlace || t.exponent_position > kMostPlace ||
                      t.exponent_size > kMostPlace || t.mantissa_position > kMostPlace ||
                      t.mantissa_size > kMostPlace || t.exponent_bias > ~std::uint32_t{0})))
      return unwritable("an HDF5 message cannot describe a number of ", t.size, " bytes with ",
                        t.precision, " bits from bit ", t.bit_offset, " of the value");
    if (t.low_padding == BitPadding::kBackground || t.high_padding == BitPadding::kBackground ||
        t.inner_padding == BitPadding::kBackground)
      return unwritable("the padding of a number is neither 0 nor 1");
    if (t.order == ByteOrder::kVax && !is_float)
      return unwritable("a number that is not a float has VAX order");
    unsigned bits = number_bits(t);
    if (is_float) return put_float(t, bits);
    if (t.type_class == TypeClass::kTime) {
      if (t.bit_offset != 0) return unwritable("a time has a bit offset");
      prefix(kOldest, t, bits & 1, t.size);
      out_.put16(t.precision);
      return {};
    }
    if (t.type_class == TypeClass::kInteger && t.is_signed) bits |= 8;
    prefix(kOldest, t, bits, t.size);
    out_.put16(t.bit_offset);
    out_.put16(t.precision);
    return {};
  }

  Status put_float(const ExtendedType& t, unsigned bits) {
    constexpr unsigned kVaxBits = 0x41;
    const bool vax = t.order == ByteOrder::kVax;
    if (vax) bits |= kVaxBits;
    if (t.inner_padding == BitPadding::kOne) bits |= 8;
    bits |= static_cast<unsigned>(t.normalization) << 4;
    prefix(vax ? kPacked : kOldest, t, bits | t.sign_position << 8, t.size);
    out_.put16(t.bit_offset);
    out_.put16(t.precision);
    for (const std::uint32_t part :
         {t.exponent_position, t.exponent_size, t.mantissa_position, t.mantissa_size})
      out_.put8(part);
    out_.put32(t.exponent_bias);
    return {};
  }

  Status put_string(const ExtendedType& t) {
    const auto padding = static_cast<unsigned>(t.padding);
    const auto characters = static_cast<unsigned>(t.character_set);
    if (!t.variable_length) {
      prefix(kOldest, t, padding | characters << 4, t.size);
      return {};
    }
    constexpr unsigned kString = 1;
    put_datatype_prefix(out_, kOldest, static_cast<unsigned>(TypeClass::kVlen),
                        kString | padding << 4 | characters << 8, hdf5::kStringInFile);
    put_type(out_, Type::kUByte);
    return {};
  }

  Status put_opaque(const ExtendedType& t) {
    constexpr std::size_t kLongestTag = 248;
    if (t.tag.size() > kLongestTag || t.tag.find('\0') != t.tag.npos)
      return unwritable("an opaque type has a tag that HDF5 cannot hold");
    const std::size_t length = round_up(t.tag.size(), 8);
    prefix(kOldest, t, static_cast<unsigned>(length), t.size);
    out_.put(t.tag);
    out_.zeros(length - t.tag.size());
    return {};
  }

  Status put_name(std::string_view name) {
    if (name.find('\0') != name.npos) return unwritable("a name in the datatype has a NUL");
    out_.put(name);
    out_.put8(0);
    return {};
  }

  Status put_compound(Type type, const ExtendedType& t, std::uint64_t size) {
    if (t.fields.size() > kLongest)
      return unwritable("a compound has ", t.fields.size(), " fields");
    const hdf5::MemoryFields placed = hdf5::memory_fields(types_, t, hdf5::kStringInFile);
    if (placed.overlapping && types_.needs_heap(type))
      return unwritable("the fields of a compound overlap");
    prefix(kPacked, t, static_cast<unsigned>(t.fields.size()), size);
    std::size_t offset_bytes = 1;
    for (std::uint64_t rest = size >> 8; rest != 0; rest >>= 8) ++offset_bytes;
    for (std::size_t n = 0; n < t.fields.size(); ++n) {
      NMB_TRY(put_name(t.fields[n].name));
      for (std::size_t i = 0; i < offset_bytes; ++i)
        out_.put8(static_cast<unsigned>(placed.offsets[n] >> (8 * i) & 0xFF));
      NMB_TRY(put(t.fields[n].type));
    }
    return {};
  }

  Status put_enum(const ExtendedType& t) {
    if (t.names.size() > kLongest) return unwritable("an enum has ", t.names.size(), " names");
    prefix(kPacked, t, static_cast<unsigned>(t.names.size()), t.size);
    NMB_TRY(put(t.base));
    for (const std::string& name : t.names) NMB_TRY(put_name(name));
    out_.put(t.values);
    return {};
  }

  Status put_array(const ExtendedType& t, std::uint64_t size) {
    constexpr std::size_t kMostRank = 32;
    if (t.lengths.size() > kMostRank)
      return unwritable("an array has ", t.lengths.size(), " dimensions");
    prefix(kPacked, t, 0, size);
    out_.put8(static_cast<unsigned>(t.lengths.size()));
    for (const std::uint64_t length : t.lengths) {
      if (length > ~std::uint32_t{0}) return unwritable("an array has length ", length);
      out_.put32(length);
    }
    return put(t.base);
  }

  const TypeTable& types_;
  Hdf5Bytes& out_;
  const std::size_t start_;
};

}  // namespace

Status put_datatype(const TypeTable& types, Type type, Hdf5Bytes& out) {
  const std::size_t start = out.size();
  NMB_TRY(DatatypeMessage(types, out).put(type));
  if (out.size() - start > kLongest) return unwritable("the datatype needs more than 65,535 bytes");
  return {};
}

}  // namespace nmb
