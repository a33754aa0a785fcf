// Checks and keeps the types that a block defines (see model/extension.h; rules R-XT of
// spec/extended.md).
#include "model/extension.h"

#include <algorithm>
#include <map>
#include <utility>

#include "wire/bytes.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

Status wrong(const std::string& found, const std::string& expected) {
  return Status(Code::kDamaged, "found " + found + ", expected " + expected);
}

// Checks that no two fields share a byte. If they could, nested compounds might pack any number of
// values into a few bytes.
Status check_fields(std::vector<ByteRange> fields) {
  std::ranges::sort(fields, {}, &ByteRange::begin);
  for (std::size_t i = 1; i < fields.size(); ++i)
    if (fields[i].begin < fields[i - 1].end)
      return wrong(joined_text("a field at ", fields[i].begin),
                   joined_text("at least ", fields[i - 1].end, ", where another field ends"));
  return {};
}

}  // namespace

Status TypeTable::check(const ExtendedType& type) const {
  constexpr std::uint64_t kMostBytes = ~std::uint32_t{0};
  if (type.size == 0 || type.size > kMostBytes)
    return wrong(joined_text("a type of ", type.size, " bytes"), "1 to 2^32 - 1");
  const auto check_base = [&](Type base) -> Status {
    if (has(base)) return {};
    return wrong(joined_text("type ", static_cast<std::uint32_t>(base)),
                 "a type that is defined before");
  };
  const auto check_size = [&](std::uint64_t expected) -> Status {
    if (type.size == expected) return {};
    return wrong(joined_text("a size of ", type.size, " bytes"), std::to_string(expected));
  };
  switch (type.type_class) {
    case TypeClass::kInteger:
    case TypeClass::kFloat:
    case TypeClass::kTime:
    case TypeClass::kBitfield:
      if (type.precision == 0 || std::uint64_t{type.precision} + type.bit_offset > type.size * 8)
        return wrong(
            joined_text(type.precision, " bits from ", type.bit_offset, " on"),
            joined_text("at least 1, and at most the ", type.size * 8, " bits of the value"));
      return {};
    case TypeClass::kString:
      return type.variable_length ? check_size(kHeapValue) : Status();
    case TypeClass::kReference:
      return check_size(kHeapValue);
    case TypeClass::kOpaque:
      return {};
    case TypeClass::kVlen:
      NMB_TRY(check_base(type.base));
      return check_size(kHeapValue);
    case TypeClass::kEnum:
      NMB_TRY(check_base(type.base));
      if (is_extended(type.base)
              ? at(type.base).type_class != TypeClass::kInteger
              : type.base == Type::kChar || type.base == Type::kFloat || type.base == Type::kDouble)
        return wrong("an enum of " + text(type.base), "an enum of integers");
      if (type.values.size() != type.names.size() * value_size(type.base))
        return wrong(joined_text(type.values.size(), " bytes of values"),
                     joined_text(type.names.size(), " values"));
      return check_size(value_size(type.base));
    case TypeClass::kArray: {
      NMB_TRY(check_base(type.base));
      if (type.lengths.empty()) return wrong("an array without dimensions", "at least one");
      std::uint64_t bytes = value_size(type.base);
      for (const std::uint64_t length : type.lengths) {
        if (length == 0) return wrong("an array with a dimension of length 0", "at least 1");
        if (!checked_mul(bytes, length, &bytes) || bytes > kMostBytes)
          return wrong("an array of more than 2^32 - 1 bytes", "at most 2^32 - 1 bytes");
      }
      return check_size(bytes);
    }
    case TypeClass::kCompound: {
      std::vector<ByteRange> fields;
      if (type.fields.empty()) return wrong("a compound without fields", "at least one");
      for (const ExtendedType::Field& field : type.fields) {
        NMB_TRY(check_base(field.type));
        const std::uint64_t size = value_size(field.type);
        if (size > type.size || field.offset > type.size - size)
          return wrong(joined_text("field ", field.name, " of ", size, " bytes at ", field.offset),
                       joined_text("an end of at most ", type.size));
        fields.push_back({field.offset, field.offset + size});
      }
      return check_fields(std::move(fields));
    }
  }
  return wrong(joined_text("class ", static_cast<std::uint16_t>(type.type_class)), "0 to 10");
}

Result<Type> TypeTable::add(ExtendedType type) {
  NMB_TRY(check(type));
  if (types_.size() == kMost)
    return failure(Code::kLimit, "found more than ", kMost, " types in a block");
  Traits traits;
  traits.heap = type.type_class == TypeClass::kVlen || type.type_class == TypeClass::kReference ||
                type.variable_length;
  const auto contain = [&](Type part) {
    if (!is_extended(part)) return;
    const Traits& inner = traits_[static_cast<std::uint32_t>(part) - kFirst];
    // The elements of a sequence lie in the heap.
    traits.heap = traits.heap || inner.heap;
    traits.depth = std::max(traits.depth, inner.depth + 1);
  };
  contain(type.base);
  for (const ExtendedType::Field& field : type.fields) contain(field.type);
  if (traits.depth > kMostDepth)
    return wrong(joined_text("types within types, ", traits.depth, " deep"),
                 joined_text("at most ", kMostDepth));
  traits_.push_back(traits);
  types_.push_back(std::move(type));
  return static_cast<Type>(kFirst + types_.size() - 1);
}

namespace {

// Copies types from one table to another.
class TypeCopier {
 public:
  TypeCopier(const TypeTable& from, TypeTable::Names names, TypeTable* to)
      : from_(from), names_(names), to_(*to) {
    for (std::size_t i = 0; i < to_.size(); ++i)
      known_.emplace(encode_type(to_[i]), static_cast<Type>(TypeTable::kFirst + i));
  }

  // Types have a limited depth, so the recursion has, too.
  Result<Type> copy(Type type) {
    if (!TypeTable::is_extended(type)) return type;
    if (const auto made = made_.find(type); made != made_.end()) return made->second;
    ExtendedType own = from_.at(type);
    if (names_ == TypeTable::Names::kDropped) own.name.clear();
    NMB_ASSIGN(own.base, copy(own.base));
    for (ExtendedType::Field& field : own.fields) NMB_ASSIGN(field.type, copy(field.type));
    const auto [place, is_new] = known_.try_emplace(encode_type(own), Type{});
    if (is_new) NMB_ASSIGN(place->second, to_.add(std::move(own)));
    made_.emplace(type, place->second);
    return place->second;
  }

 private:
  const TypeTable& from_;
  const TypeTable::Names names_;
  TypeTable& to_;
  std::map<std::vector<std::byte>, Type> known_;  // types of `to`, by their encoding
  std::map<Type, Type> made_;
};

}  // namespace

Result<Type> TypeTable::add_from(const TypeTable& other, Type type) {
  return TypeCopier(other, Names::kKept, this).copy(type);
}

TypeTable TypeTable::only(Type type, Names names) const {
  TypeTable out;
  // This cannot fail, because this table has the same types.
  (void)TypeCopier(*this, names, &out).copy(type).ok();
  return out;
}

std::optional<Type> TypeTable::classic(Type type) const {
  if (!is_extended(type)) return type;
  const ExtendedType& t = at(type);
  const bool whole = t.bit_offset == 0 && t.precision == t.size * 8 && t.order != ByteOrder::kVax;
  if (t.type_class == TypeClass::kInteger && whole) {
    if (t.size == 1) return t.is_signed ? Type::kByte : Type::kUByte;
    if (t.size == 2) return t.is_signed ? Type::kShort : Type::kUShort;
    if (t.size == 4) return t.is_signed ? Type::kInt : Type::kUInt;
    if (t.size == 8) return t.is_signed ? Type::kInt64 : Type::kUInt64;
  }
  if (t.type_class == TypeClass::kFloat && whole && t.normalization == Normalization::kImplied &&
      t.mantissa_position == 0) {
    if (t.size == 4 && t.sign_position == 31 && t.exponent_position == 23 && t.exponent_size == 8 &&
        t.mantissa_size == 23 && t.exponent_bias == 127)
      return Type::kFloat;
    if (t.size == 8 && t.sign_position == 63 && t.exponent_position == 52 &&
        t.exponent_size == 11 && t.mantissa_size == 52 && t.exponent_bias == 1023)
      return Type::kDouble;
  }
  if (t.type_class == TypeClass::kString && !t.variable_length && t.size == 1) return Type::kChar;
  return std::nullopt;
}

std::string TypeTable::text(Type type) const {
  if (!is_extended(type)) return std::string(type_name(type));
  if (!has(type)) return joined_text("type ", static_cast<std::uint32_t>(type));
  const ExtendedType& t = at(type);
  if (!t.name.empty()) return t.name;
  if (const std::optional<Type> same = classic(type)) return std::string(type_name(*same));
  const auto sized = [&](const char* name) {
    return joined_text(name, t.size * 8, t.order == ByteOrder::kLittle ? "_le" : "_be");
  };
  switch (t.type_class) {
    case TypeClass::kInteger:
      return sized(t.is_signed ? "int" : "uint");
    case TypeClass::kFloat:
      return sized("float");
    case TypeClass::kTime:
      return sized("time");
    case TypeClass::kBitfield:
      return sized("bitfield");
    case TypeClass::kString:
      return t.variable_length ? "string" : joined_text("string(", t.size, ")");
    case TypeClass::kOpaque:
      return joined_text("opaque(", t.size, ")");
    case TypeClass::kReference:
      return t.reference == ReferenceKind::kObject ? "reference" : "region";
    case TypeClass::kVlen:
      return text(t.base) + "(*)";
    case TypeClass::kEnum:
      return "enum " + text(t.base);
    case TypeClass::kArray: {
      std::string out = text(t.base) + "(";
      for (std::size_t i = 0; i < t.lengths.size(); ++i)
        out += joined_text(i ? ", " : "", t.lengths[i]);
      return out + ")";
    }
    case TypeClass::kCompound: {
      std::string out = "compound{";
      for (std::size_t i = 0; i < t.fields.size(); ++i) out += (i ? ", " : "") + t.fields[i].name;
      return out + "}";
    }
  }
  return {};
}

}  // namespace nmb
