// If a type contains another type, HDF5 makes a copy of the inner type. Types are therefore made on
// demand, and their total number is limited.
#include "export/types_out.h"

#include <string_view>
#include <utility>

#include "hdf5_error.h"
#include "hdf5_types/memory_layout.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint64_t kMostNodes = 1'000'000;
// Limits of the datatype message in an object header.
constexpr std::uint32_t kMostMembers = 65535, kMostBits = 65535, kMostFloatBits = 255;

H5T_order_t order_of(ByteOrder order) { return static_cast<H5T_order_t>(order); }
H5T_pad_t pad_of(BitPadding padding) { return static_cast<H5T_pad_t>(padding); }

H5T_norm_t norm_of(Normalization normalization) {
  return normalization == Normalization::kImplied              ? H5T_NORM_IMPLIED
         : normalization == Normalization::kMostSignificantSet ? H5T_NORM_MSBSET
                                                               : H5T_NORM_NONE;
}

// Sets the properties of a float. HDF5 checks each property against the current values of the
// others, so the type is made wider than needed at first.
bool set_float(hid_t id, const ExtendedType& t) {
  const std::size_t wide = t.size + 64;
  return H5Tset_size(id, wide) >= 0 && H5Tset_precision(id, wide * 8) >= 0 &&
         H5Tset_fields(id, t.sign_position, t.exponent_position, t.exponent_size,
                       t.mantissa_position, t.mantissa_size) >= 0 &&
         H5Tset_offset(id, t.bit_offset) >= 0 && H5Tset_precision(id, t.precision) >= 0 &&
         H5Tset_size(id, t.size) >= 0 && H5Tset_ebias(id, t.exponent_bias) >= 0 &&
         H5Tset_norm(id, norm_of(t.normalization)) >= 0 &&
         H5Tset_inpad(id, pad_of(t.inner_padding)) >= 0;
}

bool is_float(hid_t id, const ExtendedType& t) {
  std::size_t sign = 0, exponent = 0, exponent_size = 0, mantissa = 0, mantissa_size = 0;
  return H5Tget_fields(id, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size) >= 0 &&
         sign == t.sign_position && exponent == t.exponent_position &&
         exponent_size == t.exponent_size && mantissa == t.mantissa_position &&
         mantissa_size == t.mantissa_size && H5Tget_ebias(id) == t.exponent_bias;
}

}  // namespace

hid_t classic_datatype(Type type) {
  switch (type) {
    case Type::kByte:
      return H5T_STD_I8BE;
    case Type::kChar:
      return H5T_C_S1;
    case Type::kShort:
      return H5T_STD_I16BE;
    case Type::kInt:
      return H5T_STD_I32BE;
    case Type::kFloat:
      return H5T_IEEE_F32BE;
    case Type::kDouble:
      return H5T_IEEE_F64BE;
    case Type::kUByte:
      return H5T_STD_U8BE;
    case Type::kUShort:
      return H5T_STD_U16BE;
    case Type::kUInt:
      return H5T_STD_U32BE;
    case Type::kInt64:
      return H5T_STD_I64BE;
    case Type::kUInt64:
      return H5T_STD_U64BE;
  }
  return H5I_INVALID_HID;
}

std::string path_of(const ExtendedType& type) {
  return type.name.starts_with('/') ? type.name.substr(1) : type.name;
}

Status TypesOut::count_nodes(Type type, std::uint64_t* nodes) {
  *nodes = 1;
  if (!TypeTable::is_extended(type)) return {};
  std::uint64_t& known = nodes_[static_cast<std::uint32_t>(type) - TypeTable::kFirst];
  if (known == 0) {
    const ExtendedType& t = types_.at(type);
    known = 1 + t.names.size();
    const auto add = [&](Type part) -> Status {
      std::uint64_t inner = 0;
      NMB_TRY(count_nodes(part, &inner));
      known += inner;
      if (known > kMostNodes)
        return failure(Code::kLimit, "found more than ", kMostNodes, " types within ",
                       types_.text(type));
      return {};
    };
    Status status = add(t.base);
    for (const ExtendedType::Field& field : t.fields) {
      if (!status.ok()) break;
      status = add(field.type);
    }
    if (!status.ok()) {
      known = 0;
      return status;
    }
  }
  *nodes = known;
  return {};
}

Result<hid_t> TypesOut::plain(Type type) {
  if (!TypeTable::is_extended(type)) return classic_datatype(type);
  const std::size_t number = static_cast<std::uint32_t>(type) - TypeTable::kFirst;
  if (!made_[number].id.ok()) {
    std::uint64_t nodes = 0;
    NMB_TRY(count_nodes(type, &nodes));
    all_nodes_ += nodes;
    if (all_nodes_ > kMostNodes)
      return failure(Code::kLimit, "found more than ", kMostNodes,
                     " types within the types of the block");
    const ExtendedType& t = types_.at(type);
    std::vector<std::uint64_t> offsets;
    NMB_ASSIGN(Handle made,
               t.type_class == TypeClass::kCompound ? make_compound(type, t, &offsets) : make(t));
    const std::size_t bytes = H5Tget_size(made.get());
    if (bytes == 0 || bytes > t.size || (bytes != t.size && !types_.needs_heap(type)))
      return unsupported(types_.text(type), ": found ", t.size, " bytes, but in HDF5 the type has ",
                         bytes, " bytes");
    made_[number] = {std::move(made), bytes, std::move(offsets)};
  }
  return made_[number].id.get();
}

Result<hid_t> TypesOut::stored(Type type) {
  NMB_ASSIGN(const hid_t made, plain(type));
  if (!TypeTable::is_extended(type) || types_.at(type).name.empty()) return made;
  std::string path = path_of(types_.at(type));
  for (auto there = named_.find(path); there != named_.end(); there = named_.find(path)) {
    if (H5Tequal(there->second.get(), made) > 0) return there->second.get();
    // A type without a link has a number in place of a path, and a type from another file may have
    // the same number.
    if (path.starts_with('/')) {
      path += '/';
      continue;
    }
    return damaged(object_text("named datatype", path) +
                   ": blocks have different types with this path");
  }
  NMB_ASSIGN(Handle named, check_handle(H5Tcopy(made), object_text("named datatype", path)));
  NMB_ASSIGN(const Handle tcpl, new_object_properties(H5P_DATATYPE_CREATE, "properties"));
  NMB_TRY(check_hdf5(H5Tcommit_anon(file_, named.get(), tcpl.get(), H5P_DEFAULT),
                     object_text("named datatype", path)));
  return named_.emplace(path, std::move(named)).first->second.get();
}

bool TypesOut::has_reference(Type type) const {
  if (!types_.has(type) || !types_.needs_heap(type)) return false;
  const ExtendedType& t = types_.at(type);
  switch (t.type_class) {
    case TypeClass::kReference:
      return true;
    case TypeClass::kVlen:
    case TypeClass::kArray:
      return TypeTable::is_extended(t.base) && has_reference(t.base);
    case TypeClass::kCompound:
      for (const ExtendedType::Field& field : t.fields)
        if (TypeTable::is_extended(field.type) && has_reference(field.type)) return true;
      return false;
    default:
      return false;
  }
}

Result<Handle> TypesOut::make(const ExtendedType& t) {
  switch (t.type_class) {
    case TypeClass::kInteger:
    case TypeClass::kFloat:
    case TypeClass::kTime:
    case TypeClass::kBitfield:
      return make_atomic(t);
    case TypeClass::kString: {
      NMB_ASSIGN(Handle id, check_handle(H5Tcopy(H5T_C_S1), "a string"));
      if (H5Tset_size(id.get(), t.variable_length ? H5T_VARIABLE : t.size) < 0 ||
          H5Tset_cset(id.get(), static_cast<H5T_cset_t>(t.character_set)) < 0 ||
          H5Tset_strpad(id.get(), static_cast<H5T_str_t>(t.padding)) < 0)
        return hdf5_failure("a string");
      return id;
    }
    case TypeClass::kOpaque: {
      NMB_ASSIGN(const std::string tag, c_text(t.tag, "an opaque type"));
      NMB_ASSIGN(Handle id, check_handle(H5Tcreate(H5T_OPAQUE, t.size), "an opaque type"));
      NMB_TRY(check_hdf5(H5Tset_tag(id.get(), tag.c_str()), "the tag of an opaque type"));
      return id;
    }
    case TypeClass::kReference:
      return check_handle(
          H5Tcopy(t.reference == ReferenceKind::kObject ? H5T_STD_REF_OBJ : H5T_STD_REF_DSETREG),
          "a reference");
    case TypeClass::kEnum:
      return make_enum(t);
    case TypeClass::kVlen: {
      NMB_ASSIGN(const hid_t base, plain(t.base));
      return check_handle(H5Tvlen_create(base), "a sequence");
    }
    case TypeClass::kArray: {
      if (t.lengths.size() > H5S_MAX_RANK)
        return unsupported("found an array of ", t.lengths.size(), " dimensions, expected at most ",
                           H5S_MAX_RANK);
      NMB_ASSIGN(const hid_t base, plain(t.base));
      const std::vector<hsize_t> lengths(t.lengths.begin(), t.lengths.end());
      return check_handle(
          H5Tarray_create2(base, static_cast<unsigned>(lengths.size()), lengths.data()),
          "an array");
    }
    case TypeClass::kCompound:
      break;
  }
  return unsupported("found a type of an unknown class");
}

Result<Handle> TypesOut::make_atomic(const ExtendedType& t) {
  const bool has_fields = t.type_class == TypeClass::kFloat;
  if (t.precision > kMostBits || t.bit_offset > kMostBits || t.size > kMostBits / 8 + 1 ||
      (has_fields && (t.sign_position > kMostFloatBits || t.exponent_position > kMostFloatBits ||
                      t.exponent_size > kMostFloatBits || t.mantissa_position > kMostFloatBits ||
                      t.mantissa_size > kMostFloatBits || t.exponent_bias > ~std::uint32_t{0})))
    return unsupported("found a number of ", t.size, " bytes, ", t.precision, " bits from ",
                       t.bit_offset, " on, which HDF5 cannot store");
  if (t.low_padding == BitPadding::kBackground || t.high_padding == BitPadding::kBackground ||
      t.inner_padding == BitPadding::kBackground)
    return unsupported(
        "found a number whose padding bits keep their old values; HDF5 needs padding with 0 or 1");
  const bool is_integer = t.type_class == TypeClass::kInteger;
  const hid_t from = is_integer                         ? H5T_STD_I8LE
                     : has_fields                       ? H5T_IEEE_F64LE
                     : t.type_class == TypeClass::kTime ? H5T_UNIX_D32LE
                                                        : H5T_STD_B8LE;
  const std::string what = joined_text("a number of ", t.size, " bytes");
  NMB_ASSIGN(Handle id, check_handle(H5Tcopy(from), what));
  const hid_t h = id.get();
  const bool sized = has_fields
                         ? set_float(h, t)
                         : H5Tset_size(h, t.size) >= 0 && H5Tset_precision(h, t.precision) >= 0 &&
                               H5Tset_offset(h, t.bit_offset) >= 0;
  if (!sized || H5Tset_order(h, order_of(t.order)) < 0 ||
      H5Tset_pad(h, pad_of(t.low_padding), pad_of(t.high_padding)) < 0 ||
      (is_integer && H5Tset_sign(h, t.is_signed ? H5T_SGN_2 : H5T_SGN_NONE) < 0))
    return hdf5_failure(what);
  if (H5Tget_size(h) != t.size || H5Tget_precision(h) != t.precision ||
      H5Tget_offset(h) != static_cast<int>(t.bit_offset) || (has_fields && !is_float(h, t)))
    return unsupported(what + ": HDF5 changes its properties");
  return id;
}

// Makes a compound. The offset of a field in memory is less than its offset in the block, because
// the fields before it are shorter in memory.
Result<Handle> TypesOut::make_compound(Type code, const ExtendedType& t,
                                       std::vector<std::uint64_t>* offsets) {
  const std::string what = types_.text(code);
  const std::size_t count = t.fields.size();
  if (count > kMostMembers)
    return unsupported(
        joined_text("found a compound of ", count, " fields, expected at most ", kMostMembers));
  std::vector<hid_t> members;
  for (const ExtendedType::Field& field : t.fields) {
    NMB_ASSIGN(const hid_t member, plain(field.type));
    members.push_back(member);
  }
  MemoryFields placed = memory_fields(types_, t);
  if (placed.overlapping)
    return unsupported("field " + placed.overlapping->name + " of " + what +
                       " overlaps another field, which HDF5 does not support");
  *offsets = std::move(placed.offsets);
  NMB_ASSIGN(Handle id, check_handle(H5Tcreate(H5T_COMPOUND, memory_size(types_, code)), what));
  for (std::size_t i = 0; i < count; ++i) {
    NMB_ASSIGN(const std::string name, c_text(t.fields[i].name, what));
    NMB_TRY(check_hdf5(H5Tinsert(id.get(), name.c_str(), (*offsets)[i], members[i]),
                       "field " + name + " of " + what));
  }
  return id;
}

Result<Handle> TypesOut::make_enum(const ExtendedType& t) {
  if (t.names.size() > kMostMembers)
    return unsupported(joined_text("found an enum of ", t.names.size(),
                                   " members, expected at most ", kMostMembers));
  NMB_ASSIGN(const hid_t base, plain(t.base));
  NMB_ASSIGN(Handle id, check_handle(H5Tenum_create(base), "an enum"));
  const std::size_t size = t.size;
  for (std::size_t i = 0; i < t.names.size(); ++i) {
    NMB_ASSIGN(const std::string name, c_text(t.names[i], "a member of an enum"));
    NMB_TRY(check_hdf5(H5Tenum_insert(id.get(), name.c_str(), t.values.data() + i * size),
                       "member " + t.names[i] + " of an enum"));
  }
  return id;
}

}  // namespace nmb::hdf5
