#include "import/types_in.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "export/types_out.h"
#include "hdf5_error.h"
#include "hdf5_types/memory_layout.h"
#include "model/classic.h"
#include "model/metadata.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr const char* kType = "a datatype";

Result<std::string> take_text(char* text) {
  if (!text) return hdf5_failure(kType, Code::kDamaged);
  std::string out = text;
  H5free_memory(text);
  return out;
}

// Returns the classic type that equals this type bit by bit, or Type{} if there is none. Classic
// types are big-endian.
Type classic_type(hid_t type) {
  if (H5Tget_order(type) == H5T_ORDER_LE && H5Tget_size(type) > 1) return {};
  for (const Type code : {Type::kShort, Type::kInt, Type::kFloat, Type::kDouble, Type::kByte,
                          Type::kUByte, Type::kUShort, Type::kUInt, Type::kInt64, Type::kUInt64})
    if (H5Tequal(type, classic_datatype(code)) > 0) return code;
  return {};
}

Status describe_bits(hid_t type, ExtendedType* out) {
  NMB_ASSIGN(const H5T_order_t order, read_value(H5Tget_order(type), kType));
  if (order == H5T_ORDER_MIXED) return unsupported("a datatype of mixed byte orders");
  out->order = order == H5T_ORDER_NONE ? ByteOrder::kLittle : static_cast<ByteOrder>(order);
  H5T_pad_t low = H5T_PAD_ZERO, high = H5T_PAD_ZERO;
  NMB_TRY(check_read(H5Tget_pad(type, &low, &high), kType));
  out->low_padding = static_cast<BitPadding>(low);
  out->high_padding = static_cast<BitPadding>(high);
  NMB_ASSIGN(const int offset, read_value(H5Tget_offset(type), kType));
  out->bit_offset = static_cast<std::uint32_t>(offset);
  out->precision = static_cast<std::uint32_t>(H5Tget_precision(type));
  return {};
}

Status describe_float(hid_t type, ExtendedType* out) {
  std::size_t sign = 0, exponent = 0, exponent_size = 0, mantissa = 0, mantissa_size = 0;
  NMB_TRY(check_read(
      H5Tget_fields(type, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size), kType));
  out->sign_position = static_cast<std::uint32_t>(sign);
  out->exponent_position = static_cast<std::uint32_t>(exponent);
  out->exponent_size = static_cast<std::uint32_t>(exponent_size);
  out->mantissa_position = static_cast<std::uint32_t>(mantissa);
  out->mantissa_size = static_cast<std::uint32_t>(mantissa_size);
  out->exponent_bias = H5Tget_ebias(type);
  NMB_ASSIGN(const H5T_norm_t norm, read_value(H5Tget_norm(type), kType));
  out->normalization = norm == H5T_NORM_IMPLIED  ? Normalization::kImplied
                       : norm == H5T_NORM_MSBSET ? Normalization::kMostSignificantSet
                                                 : Normalization::kNone;
  NMB_ASSIGN(const H5T_pad_t inner, read_value(H5Tget_inpad(type), kType));
  out->inner_padding = static_cast<BitPadding>(inner);
  return {};
}

Status describe_string(hid_t type, ExtendedType* out) {
  NMB_ASSIGN(const htri_t variable, read_value(H5Tis_variable_str(type), kType));
  NMB_ASSIGN(const H5T_cset_t character_set, read_value(H5Tget_cset(type), kType));
  NMB_ASSIGN(const H5T_str_t padding, read_value(H5Tget_strpad(type), kType));
  out->variable_length = variable > 0;
  if (out->variable_length) out->size = TypeTable::kHeapValue;
  out->character_set = static_cast<CharacterSet>(character_set);
  out->padding = static_cast<StringPadding>(padding);
  return {};
}

// Refuses attributes of a named datatype to which no link leads: a block has no place for them.
Status check_type_attributes(hid_t type, const std::string& path) {
  if (!path.starts_with("//")) return {};
  H5O_info_t info;
  NMB_TRY(check_read(H5Oget_info2(type, &info, H5O_INFO_NUM_ATTRS), kType));
  if (info.num_attrs == 0) return {};
  return Status(
      Code::kUnsupported,
      "found attributes of a named datatype without a link; an NMB file cannot store them");
}

}  // namespace

Result<Type> TypesIn::code_of(hid_t type) {
  NMB_ASSIGN(const htri_t is_named, read_value(H5Tcommitted(type), kType));
  if (is_named > 0) {
    NMB_ASSIGN(ExtendedType described, describe(type));
    NMB_ASSIGN(described.name, path_of_(type));
    NMB_TRY(check_type_attributes(type, described.name));
    return add(std::move(described));
  }
  // The key is HDF5's encoding of the type, which contains all properties. One call returns it,
  // whereas the single properties would need a dozen calls. The trailing zeros of the encoding may
  // be dropped, because the other bytes determine its length.
  std::array<char, 128> written{};  // enough for all types except large compounds and enums
  std::size_t length = written.size();
  const bool fits = H5Tencode(type, written.data(), &length) >= 0 && length <= written.size();
  std::string_view key(written.data(), written.size());
  key = key.substr(0, key.find_last_not_of('\0') + 1);
  if (fits)
    if (const auto found = met_.find(key); found != met_.end()) return found->second;
  Type code = H5Tget_class(type) <= H5T_FLOAT ? classic_type(type) : Type{};
  if (code == Type{}) {
    NMB_ASSIGN(ExtendedType described, describe(type));
    NMB_ASSIGN(code, add(std::move(described)));
  }
  if (fits) met_.emplace(key, code);
  return code;
}

Result<Type> TypesIn::add(ExtendedType type) {
  std::vector<std::byte> key = encode_type(type);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const Result<Type> added = table_.add(std::move(type));
  if (!added.ok()) return added.status().of_object(kType);
  known_.emplace(std::move(key), *added);
  return added;
}

// Returns the base type of an enum, a sequence or an array.
Result<Type> TypesIn::base_of(hid_t type) {
  NMB_ASSIGN(const Handle base, read_handle(H5Tget_super(type), kType));
  return code_of(base.get());
}

Status TypesIn::describe_fields(hid_t compound, ExtendedType* out) {
  NMB_ASSIGN(const int count, read_value(H5Tget_nmembers(compound), kType));
  // Offset of a field in memory, and how many bytes longer a value of this field is when stored.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> growth;
  for (unsigned n = 0; n < static_cast<unsigned>(count); ++n) {
    ExtendedType::Field field;
    NMB_ASSIGN(field.name, take_text(H5Tget_member_name(compound, n)));
    field.offset = H5Tget_member_offset(compound, n);
    NMB_ASSIGN(const Handle member, read_handle(H5Tget_member_type(compound, n), kType));
    NMB_ASSIGN(field.type, code_of(member.get()));
    if (table_.needs_heap(field.type))
      growth.emplace_back(field.offset,
                          table_.value_size(field.type) - memory_size(table_, field.type));
    out->fields.push_back(std::move(field));
  }
  for (ExtendedType::Field& field : out->fields) {
    const std::uint64_t in_memory = field.offset;
    for (const auto& [offset, more] : growth)
      if (offset < in_memory) field.offset += more;
  }
  for (const auto& [offset, more] : growth) out->size += more;
  return {};
}

Result<ExtendedType> TypesIn::describe(hid_t type) {
  ExtendedType out;
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class < H5T_INTEGER || type_class > H5T_ARRAY)
    return unsupported("a datatype of class ", static_cast<int>(type_class));
  out.type_class = static_cast<TypeClass>(type_class);
  out.size = H5Tget_size(type);
  switch (out.type_class) {
    case TypeClass::kInteger: {
      NMB_TRY(describe_bits(type, &out));
      NMB_ASSIGN(const H5T_sign_t sign, read_value(H5Tget_sign(type), kType));
      out.is_signed = sign == H5T_SGN_2;
      break;
    }
    case TypeClass::kTime:
    case TypeClass::kBitfield:
      NMB_TRY(describe_bits(type, &out));
      break;
    case TypeClass::kFloat:
      NMB_TRY(describe_bits(type, &out));
      NMB_TRY(describe_float(type, &out));
      break;
    case TypeClass::kString:
      NMB_TRY(describe_string(type, &out));
      break;
    case TypeClass::kOpaque: {
      NMB_ASSIGN(out.tag, take_text(H5Tget_tag(type)));
      break;
    }
    case TypeClass::kCompound:
      NMB_TRY(describe_fields(type, &out));
      break;
    case TypeClass::kReference:
      out.reference =
          H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? ReferenceKind::kObject : ReferenceKind::kRegion;
      out.size = TypeTable::kHeapValue;
      break;
    case TypeClass::kEnum: {
      NMB_ASSIGN(out.base, base_of(type));
      NMB_ASSIGN(const int count, read_value(H5Tget_nmembers(type), kType));
      for (unsigned n = 0; n < static_cast<unsigned>(count); ++n) {
        NMB_ASSIGN(std::string name, take_text(H5Tget_member_name(type, n)));
        out.names.push_back(std::move(name));
        const std::size_t at = out.values.size();
        out.values.resize(at + out.size);
        NMB_TRY(check_read(H5Tget_member_value(type, n, out.values.data() + at), kType));
      }
      break;
    }
    case TypeClass::kVlen: {
      NMB_ASSIGN(out.base, base_of(type));
      out.size = TypeTable::kHeapValue;
      break;
    }
    case TypeClass::kArray: {
      NMB_ASSIGN(out.base, base_of(type));
      NMB_ASSIGN(const int rank, read_value(H5Tget_array_ndims(type), kType));
      std::vector<hsize_t> lengths(static_cast<std::size_t>(rank));
      NMB_TRY(check_read(H5Tget_array_dims2(type, lengths.data()), kType));
      out.lengths.assign(lengths.begin(), lengths.end());
      out.size = table_.value_size(out.base);
      for (const std::uint64_t length : out.lengths) out.size *= length;
      break;
    }
  }
  return out;
}

}  // namespace nmb::hdf5
