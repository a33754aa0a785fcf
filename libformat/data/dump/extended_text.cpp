#include "dump/extended_text.h"

#include <algorithm>
#include <array>
#include <string>

#include "dump/cdl_text.h"
#include "dump/json_text.h"
#include "model/heap_value.h"
#include "model/text.h"
#include "netcdf/classic_type.h"
#include "wire/endian.h"

namespace nmb {

void ExtendedText::put_number(Type classic, const std::byte* value, bool swapped,
                              std::size_t size) {
  std::array<std::byte, 8> external;
  std::copy_n(value, size, external.begin());
  if (swapped) std::reverse(external.begin(), external.begin() + static_cast<std::ptrdiff_t>(size));
  if (format_ == ValueFormat::kJson)
    put_json_number(out_, classic, external.data());
  else if (is_ncdump() && depth_ > 0)
    put_ncdump_part(out_, classic, external.data());
  else
    put_cdl_constant(out_, classic, external.data(), form_);
}

void ExtendedText::put_text(std::span<const std::byte> text) {
  const std::string_view characters(reinterpret_cast<const char*>(text.data()), text.size());
  if (format_ == ValueFormat::kJson) {
    put_json_string(out_, characters);
    return;
  }
  CdlString string(out_, "", !is_ncdump(), form_);
  string.add(characters);
  string.close();
}

// Writes bytes in hexadecimal, like opaque values in CDL.
void ExtendedText::put_bits(std::span<const std::byte> bytes) {
  const std::string_view digits = is_ncdump() ? "0123456789ABCDEF" : "0123456789abcdef";
  const bool json = format_ == ValueFormat::kJson;
  out_.put(json ? "\"0x" : is_ncdump() ? "0X" : "0x");
  for (const std::byte b : bytes) {
    out_.put(digits[std::to_integer<unsigned>(b) >> 4]);
    out_.put(digits[std::to_integer<unsigned>(b) & 15]);
  }
  if (json) out_.put('"');
}

Result<std::vector<std::byte>> ExtendedText::content(const std::byte* value, std::uint64_t size,
                                                     std::uint64_t* count) {
  const HeapValue heap = HeapValue::load(value);
  *count = heap.is_null() ? 0 : heap.count;
  const MemorySource nothing({});
  return heap.read(region_ ? *region_ : nothing, size, &left_);
}

Status ExtendedText::put_texts(std::span<const std::byte> characters, std::uint64_t length) {
  out_.put('{');
  for (std::size_t at = 0; at < characters.size(); at += length) {
    if (at > 0) out_.put(", ");
    put_text(characters.subspan(at, length));
  }
  out_.put('}');
  return {};
}

Status ExtendedText::put_list(Type base, const std::byte* values, std::uint64_t count) {
  out_.put(format_ == ValueFormat::kJson ? '[' : '{');
  const std::uint64_t size = types_.value_size(base);
  ++depth_;
  for (std::uint64_t i = 0; i < count && out_.status().ok(); ++i) {
    if (i > 0) out_.put(format_ == ValueFormat::kJson ? "," : ", ");
    NMB_TRY(put(base, values + i * size));
  }
  --depth_;
  out_.put(format_ == ValueFormat::kJson ? ']' : '}');
  return {};
}

Status ExtendedText::put(Type type, const std::byte* value) {
  if (const std::optional<Type> same = types_.classic(type); same && *same != Type::kChar) {
    put_number(*same, value, types_.is_swapped(type), types_.value_size(type));
    return {};
  }
  const std::span<const std::byte> bytes(value, types_.value_size(type));
  if (type == Type::kChar) {
    put_text(bytes);
    return {};
  }
  const ExtendedType& t = types_.at(type);
  std::uint64_t count = 0;
  switch (t.type_class) {
    case TypeClass::kString: {
      if (t.variable_length) {
        if (is_ncdump() && HeapValue::load(value).is_null()) {
          out_.put("NIL");
          return {};
        }
        NMB_ASSIGN(const std::vector<std::byte> text, content(value, 1, &count));
        put_text(text);
        return {};
      }
      const std::byte pad =
          t.padding == StringPadding::kSpacePadded ? std::byte{' '} : std::byte{0};
      std::size_t length = bytes.size();
      if (t.padding == StringPadding::kNullTerminated || is_ncdump())
        length = static_cast<std::size_t>(std::find(bytes.begin(), bytes.end(), std::byte{0}) -
                                          bytes.begin());
      else
        while (length > 0 && bytes[length - 1] == pad) --length;
      put_text(bytes.first(length));
      return {};
    }
    case TypeClass::kReference: {
      NMB_ASSIGN(const std::vector<std::byte> target, content(value, 1, &count));
      if (t.reference == ReferenceKind::kObject) {
        put_text(target);
        return {};
      }
      // Write only the path of the data set, without the selection, because HDF5 encodes it in a
      // form of its own.
      if (target.size() < 4 || load_le<std::uint32_t>(target.data()) > target.size() - 4) {
        put_text({});
        return {};
      }
      put_text(std::span(target).subspan(4, load_le<std::uint32_t>(target.data())));
      return {};
    }
    case TypeClass::kVlen: {
      NMB_ASSIGN(const std::vector<std::byte> elements,
                 content(value, types_.value_size(t.base), &count));
      return put_list(t.base, elements.data(), count);
    }
    case TypeClass::kArray:
      // ncdump joins characters along the last dimension.
      if (is_ncdump() && types_.classic(t.base) == Type::kChar && !t.lengths.empty())
        return put_texts(bytes, t.lengths.back());
      return put_list(t.base, value, t.size / types_.value_size(t.base));
    case TypeClass::kEnum: {
      const std::size_t size = bytes.size();
      for (std::size_t i = 0; i < t.names.size(); ++i) {
        if (!std::equal(bytes.begin(), bytes.end(),
                        t.values.begin() + static_cast<std::ptrdiff_t>(i * size)))
          continue;
        if (format_ == ValueFormat::kJson)
          put_json_string(out_, t.names[i]);
        else if (is_ncdump() && depth_ > 0)
          out_.put(printable(t.names[i]));
        else
          put_cdl_name(out_, t.names[i], form_);
        return {};
      }
      return put(t.base, value);
    }
    case TypeClass::kCompound: {
      const bool json = format_ == ValueFormat::kJson;
      out_.put('{');
      ++depth_;
      for (std::size_t i = 0; i < t.fields.size(); ++i) {
        if (i > 0) out_.put(json ? "," : ", ");
        if (json) {
          put_json_string(out_, t.fields[i].name);
          out_.put(':');
        }
        NMB_TRY(put(t.fields[i].type, value + t.fields[i].offset));
      }
      --depth_;
      out_.put('}');
      return {};
    }
    case TypeClass::kFloat:
      if (const std::optional<ClassicType> number = classic_type(types_, type)) {
        std::array<std::byte, 8> external;
        const std::size_t size = number->value_bytes();
        ClassicValues(types_, type, *number).convert(bytes, std::span(external).first(size));
        put_number(number->type, external.data(), false, size);
        return {};
      }
      put_bits(bytes);
      return {};
    default:
      put_bits(bytes);
      return {};
  }
}

Status put_extended_attribute(TextOut& out, const TypeTable& types, const Attribute& attribute,
                              ValueFormat format, CdlForm form) {
  const MemorySource region(attribute.values);
  ExtendedText text(out, types, &region, format, form);
  const std::uint64_t size = types.value_size(attribute.type);
  for (std::uint64_t i = 0; i < attribute.count; ++i) {
    if (i > 0) out.put(format == ValueFormat::kJson ? "," : ", ");
    NMB_TRY(text.put(attribute.type, attribute.values.data() + i * size));
  }
  return {};
}

}  // namespace nmb
