#include "dump/type_names.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Describes one type. of: the digests of the earlier types.
class TypeDescription {
 public:
  TypeDescription(const TypeTable& types, const std::vector<Digest>& of) : types_(types), of_(of) {}

  Digest digest(Type code) {
    const ExtendedType& type = types_.at(code);
    text_ = joined_text(static_cast<int>(type.type_class), " ");
    if (const std::optional<Type> same = types_.classic(code); same && *same != Type::kChar)
      return digest_of_classic(*same);
    switch (type.type_class) {
      case TypeClass::kString:
        put(type.variable_length ? 0 : type.size);
        break;
      case TypeClass::kOpaque:
        put(type.size);
        put(type.tag);
        break;
      case TypeClass::kCompound:
        for (const ExtendedType::Field& field : type.fields) {
          put(field.name);
          put_type(field.type);
        }
        break;
      case TypeClass::kReference:
        put(static_cast<std::uint64_t>(type.reference));
        break;
      case TypeClass::kEnum:
        put_type(type.base);
        put_members(type);
        break;
      case TypeClass::kVlen:
        put_type(type.base);
        break;
      case TypeClass::kArray:
        put_type(type.base);
        for (const std::uint64_t length : type.lengths) put(length);
        break;
      default:
        put(type.size);
        put(type.precision);
        put(type.is_signed ? 1 : 0);
    }
    return digest_of(std::as_bytes(std::span(text_)));
  }

 private:
  Digest digest_of_classic(Type type) {
    text_ = joined_text("classic ", static_cast<int>(type));
    return digest_of(std::as_bytes(std::span(text_)));
  }
  void put(std::uint64_t number) { text_ += joined_text(number, " "); }
  void put(std::string_view text) { text_ += joined_text(text.size(), ":", text, " "); }
  void put(const Digest& digest) {
    put(digest.high);
    put(digest.low);
  }
  void put_type(Type type) {
    if (TypeTable::is_extended(type))
      put(of_[static_cast<std::uint32_t>(type) - TypeTable::kFirst]);
    else
      put(TypeDescription(types_, of_).digest_of_classic(type));
  }
  // Writes the values in big-endian order.
  void put_members(const ExtendedType& type) {
    const std::size_t size = types_.value_size(type.base);
    const bool is_swapped = types_.classic(type.base) && types_.is_swapped(type.base);
    for (std::size_t i = 0; i < type.names.size(); ++i) {
      put(type.names[i]);
      std::string value(reinterpret_cast<const char*>(type.values.data()) + i * size, size);
      if (is_swapped) std::ranges::reverse(value);
      put(value);
    }
  }

  const TypeTable& types_;
  const std::vector<Digest>& of_;
  std::string text_;
};

}  // namespace

bool is_user_type(const ExtendedType& type) {
  switch (type.type_class) {
    case TypeClass::kCompound:
    case TypeClass::kVlen:
    case TypeClass::kOpaque:
    case TypeClass::kEnum:
      return !type.name.empty() && !type.name.starts_with("//");
    default:
      return false;
  }
}

std::vector<Digest> type_digests(const TypeTable& types) {
  std::vector<Digest> digests;
  digests.reserve(types.size());
  for (std::uint32_t n = 0; n < types.size(); ++n)
    digests.push_back(
        TypeDescription(types, digests).digest(static_cast<Type>(TypeTable::kFirst + n)));
  return digests;
}

void TypeNames::add(const TypeTable& types, const std::vector<Digest>& digests, Type code) {
  paths_.emplace(digests[static_cast<std::uint32_t>(code) - TypeTable::kFirst],
                 types.at(code).name);
}

std::optional<std::string> TypeNames::find(const Digest& digest) const {
  const auto found = paths_.find(digest);
  return found == paths_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace nmb
