// Datatypes of HDF5 as types of a block (see types_in.h).
#include "types_in.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "hdf5_id.h"
#include "memory_layout.h"
#include "nmb/classic.h"
#include "nmb/metadata.h"

namespace nmb::hdf5 {

namespace {

constexpr const char* kType = "a datatype";

std::string take_text(char* text) {
  if (!text) fail(kType);
  std::string out = text;
  H5free_memory(text);
  return out;
}

// The classic type that is this one, bit by bit. These have the high byte first.
Type classic_type(hid_t type) {
  if (H5Tget_order(type) == H5T_ORDER_LE && H5Tget_size(type) > 1) return {};
  const std::array<std::pair<hid_t, Type>, 10> kClassic = {{{H5T_STD_I16BE, Type::kShort},
                                                            {H5T_STD_I32BE, Type::kInt},
                                                            {H5T_IEEE_F32BE, Type::kFloat},
                                                            {H5T_IEEE_F64BE, Type::kDouble},
                                                            {H5T_STD_I8BE, Type::kByte},
                                                            {H5T_STD_U8BE, Type::kUByte},
                                                            {H5T_STD_U16BE, Type::kUShort},
                                                            {H5T_STD_U32BE, Type::kUInt},
                                                            {H5T_STD_I64BE, Type::kInt64},
                                                            {H5T_STD_U64BE, Type::kUInt64}}};
  for (const auto& [standard, code] : kClassic)
    if (H5Tequal(type, standard) > 0) return code;
  return {};
}

void describe_bits(hid_t type, ExtendedType* out) {
  switch (checked(H5Tget_order(type), kType)) {
    case H5T_ORDER_LE:
    case H5T_ORDER_NONE:
      out->order = ByteOrder::kLittle;
      break;
    case H5T_ORDER_BE:
      out->order = ByteOrder::kBig;
      break;
    case H5T_ORDER_VAX:
      out->order = ByteOrder::kVax;
      break;
    default:
      throw Failure(Code::kUnsupported, "a datatype of mixed byte orders");
  }
  H5T_pad_t low = H5T_PAD_ZERO, high = H5T_PAD_ZERO;
  checked(H5Tget_pad(type, &low, &high), kType);
  out->low_padding = static_cast<BitPadding>(low);
  out->high_padding = static_cast<BitPadding>(high);
  out->bit_offset = static_cast<std::uint32_t>(checked(H5Tget_offset(type), kType));
  out->precision = static_cast<std::uint32_t>(H5Tget_precision(type));
}

}  // namespace

Type TypesIn::code_of(hid_t type) {
  if (checked(H5Tcommitted(type), kType) > 0) {
    ExtendedType described = describe(type);
    described.name = path_of_(type);
    return add(std::move(described));
  }
  // What HDF5 writes of a type tells all of it, in one call in place of a dozen. It does not say
  // how much that is, but its form does: zeros behind it may go.
  std::array<char, 128> written{};  // all but large compounds and enums
  std::size_t length = written.size();
  const bool fits = H5Tencode(type, written.data(), &length) >= 0 && length <= written.size();
  std::string_view key(written.data(), written.size());
  key = key.substr(0, key.find_last_not_of('\0') + 1);
  if (fits)
    if (const auto found = met_.find(key); found != met_.end()) return found->second;
  Type code = H5Tget_class(type) <= H5T_FLOAT ? classic_type(type) : Type{};
  if (code == Type{}) code = add(describe(type));
  if (fits) met_.emplace(key, code);
  return code;
}

Type TypesIn::add(ExtendedType type) {
  std::vector<std::byte> key = encode_type(type);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const Result<Type> added = table_.add(std::move(type));
  if (!added.ok()) throw Failure(added.status().code(), "a datatype: " + added.status().message());
  known_.emplace(std::move(key), *added);
  return *added;
}

ExtendedType TypesIn::describe(hid_t type) {
  ExtendedType out;
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class < H5T_INTEGER || type_class > H5T_ARRAY)
    throw Failure(Code::kUnsupported,
                  "a datatype of class " + std::to_string(static_cast<int>(type_class)));
  out.type_class = static_cast<TypeClass>(type_class);
  out.size = H5Tget_size(type);
  switch (out.type_class) {
    case TypeClass::kInteger:
      describe_bits(type, &out);
      out.is_signed = checked(H5Tget_sign(type), kType) == H5T_SGN_2;
      break;
    case TypeClass::kTime:
    case TypeClass::kBitfield:
      describe_bits(type, &out);
      break;
    case TypeClass::kFloat: {
      describe_bits(type, &out);
      std::size_t sign = 0, exponent = 0, exponent_size = 0, mantissa = 0, mantissa_size = 0;
      checked(H5Tget_fields(type, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size),
              kType);
      out.sign_position = static_cast<std::uint32_t>(sign);
      out.exponent_position = static_cast<std::uint32_t>(exponent);
      out.exponent_size = static_cast<std::uint32_t>(exponent_size);
      out.mantissa_position = static_cast<std::uint32_t>(mantissa);
      out.mantissa_size = static_cast<std::uint32_t>(mantissa_size);
      out.exponent_bias = H5Tget_ebias(type);
      switch (checked(H5Tget_norm(type), kType)) {
        case H5T_NORM_IMPLIED:
          out.normalization = Normalization::kImplied;
          break;
        case H5T_NORM_MSBSET:
          out.normalization = Normalization::kMostSignificantSet;
          break;
        default:
          out.normalization = Normalization::kNone;
      }
      out.inner_padding = static_cast<BitPadding>(checked(H5Tget_inpad(type), kType));
      break;
    }
    case TypeClass::kString:
      out.variable_length = checked(H5Tis_variable_str(type), kType) > 0;
      if (out.variable_length) out.size = TypeTable::kHeapValue;
      out.character_set = static_cast<CharacterSet>(checked(H5Tget_cset(type), kType));
      out.padding = static_cast<StringPadding>(checked(H5Tget_strpad(type), kType));
      break;
    case TypeClass::kOpaque:
      out.tag = take_text(H5Tget_tag(type));
      break;
    case TypeClass::kCompound: {
      const int count = checked(H5Tget_nmembers(type), kType);
      std::vector<std::pair<std::uint64_t, std::uint64_t>> growth;  // by offset in memory
      for (int i = 0; i < count; ++i) {
        const auto n = static_cast<unsigned>(i);
        ExtendedType::Field field;
        field.name = take_text(H5Tget_member_name(type, n));
        field.offset = H5Tget_member_offset(type, n);
        const Id member(H5Tget_member_type(type, n), H5Tclose, kType);
        field.type = code_of(member);
        if (table_.needs_heap(field.type))
          growth.emplace_back(field.offset,
                              table_.value_size(field.type) - memory_size(table_, field.type));
        out.fields.push_back(std::move(field));
      }
      for (ExtendedType::Field& field : out.fields) {
        const std::uint64_t in_memory = field.offset;
        for (const auto& [offset, more] : growth)
          if (offset < in_memory) field.offset += more;
      }
      for (const auto& [offset, more] : growth) out.size += more;
      break;
    }
    case TypeClass::kReference:
      out.reference =
          H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? ReferenceKind::kObject : ReferenceKind::kRegion;
      out.size = TypeTable::kHeapValue;
      break;
    case TypeClass::kEnum: {
      const Id base(H5Tget_super(type), H5Tclose, kType);
      out.base = code_of(base);
      const int count = checked(H5Tget_nmembers(type), kType);
      for (int i = 0; i < count; ++i) {
        const auto n = static_cast<unsigned>(i);
        out.names.push_back(take_text(H5Tget_member_name(type, n)));
        const std::size_t at = out.values.size();
        out.values.resize(at + out.size);
        checked(H5Tget_member_value(type, n, out.values.data() + at), kType);
      }
      break;
    }
    case TypeClass::kVlen: {
      const Id base(H5Tget_super(type), H5Tclose, kType);
      out.base = code_of(base);
      out.size = TypeTable::kHeapValue;
      break;
    }
    case TypeClass::kArray: {
      const Id base(H5Tget_super(type), H5Tclose, kType);
      out.base = code_of(base);
      const int rank = checked(H5Tget_array_ndims(type), kType);
      std::vector<hsize_t> lengths(static_cast<std::size_t>(rank));
      checked(H5Tget_array_dims2(type, lengths.data()), kType);
      out.lengths.assign(lengths.begin(), lengths.end());
      out.size = table_.value_size(out.base);
      for (const std::uint64_t length : out.lengths) out.size *= length;
      break;
    }
  }
  return out;
}

}  // namespace nmb::hdf5
