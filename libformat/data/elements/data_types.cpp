#include "elements/data_types.h"

#include <algorithm>

#include "wire/joined_text.h"

namespace nmb {

DataType classic_data_type(Type type) {
  DataType out;
  out.size = type_size(type);
  switch (type) {
    case Type::kChar:
      out.data_class = DataClass::kText;
      break;
    case Type::kFloat:
    case Type::kDouble:
      out.data_class = DataClass::kFloat;
      break;
    case Type::kByte:
    case Type::kShort:
    case Type::kInt:
    case Type::kInt64:
      out.is_signed = true;
      break;
    default:
      break;
  }
  return out;
}

bool DataType::has_parts() const {
  switch (data_class) {
    case DataClass::kString:
    case DataClass::kSequence:
    case DataClass::kReference:
      return true;
    case DataClass::kArray:
      return base.front().has_parts();
    case DataClass::kCompound:
      return std::ranges::any_of(members, [](const DataMember& m) { return m.type.has_parts(); });
    default:
      return false;
  }
}

std::string DataType::text() const {
  switch (data_class) {
    case DataClass::kInteger:
      return joined_text(is_signed ? "int" : "uint", size * 8);
    case DataClass::kFloat:
      return joined_text("float", size * 8);
    case DataClass::kText:
      return size == 1 ? "char" : joined_text("text(", size, ")");
    case DataClass::kBitfield:
      return joined_text("bitfield", size * 8);
    case DataClass::kOpaque:
      return joined_text("opaque(", size, ")");
    case DataClass::kEnum:
      return "enum " + base.front().text();
    case DataClass::kString:
      return "string";
    case DataClass::kReference:
      return is_region ? "region" : "reference";
    case DataClass::kSequence:
      return base.front().text() + "(*)";
    case DataClass::kArray: {
      std::string out = base.front().text() + "(";
      for (std::size_t i = 0; i < lengths.size(); ++i)
        out += joined_text(i ? ", " : "", lengths[i]);
      return out + ")";
    }
    case DataClass::kCompound: {
      std::string out = "compound{";
      for (std::size_t i = 0; i < members.size(); ++i) out += (i ? ", " : "") + members[i].name;
      return out + "}";
    }
  }
  return {};
}

bool DataType::operator==(const DataType& other) const {
  return data_class == other.data_class && size == other.size && name == other.name &&
         is_signed == other.is_signed && is_utf8 == other.is_utf8 && is_region == other.is_region &&
         tag == other.tag && enumerators == other.enumerators && members == other.members &&
         base == other.base && lengths == other.lengths;
}

}  // namespace nmb
