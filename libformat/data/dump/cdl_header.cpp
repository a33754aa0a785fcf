#include "dump/cdl_header.h"

#include <algorithm>
#include <array>
#include <optional>

#include "dump/extended_text.h"
#include "model/paths.h"
#include "model/text.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::size_t kTypeLineLength = 78;
constexpr std::size_t kMostIndented = 64;

// Returns the text that write(out) writes.
template <class Write>
std::string text_of(Write write) {
  std::string text;
  const TextSink sink = [&](std::string_view piece) {
    text += piece;
    return Status();
  };
  TextOut out(sink);
  write(out);
  (void)out.finish().ok();  // this sink never fails
  return text;
}

}  // namespace

void CdlHeader::indent() {
  for (std::size_t i = 0; i < std::min(level_, kMostIndented); ++i) out_.put("  ");
}

void CdlHeader::put(const ShownGroup& group) {
  put_types(group);
  put_dimensions(group);
  bool any = false;
  for (std::uint32_t v = 0; v < group.shown().variable_count(); ++v) {
    const ShownHeader::Variable variable = group.shown().variable(v);
    if (!group.is_shown(group.metadata().variable(variable.id).type)) continue;
    if (!any) {
      indent();
      out_.put("variables:\n");
    }
    any = true;
    put_variable(group, variable);
  }
  any = false;
  group.for_each_attribute(kGlobal, [&](const Attribute& attribute, std::uint32_t number) {
    if (!any) {
      out_.put('\n');
      indent();
      out_.put(level_ == 0 ? "// global attributes:\n" : "// group attributes:\n");
    }
    any = true;
    put_attribute(group, kGlobal, {}, attribute, number);
  });
}

void CdlHeader::put_types(const ShownGroup& group) {
  if (group.declared_types().empty()) return;
  indent();
  out_.put("types:\n");
  ++level_;
  for (const Type type : group.declared_types()) put_type(group, type);
  --level_;
}

void CdlHeader::put_type(const ShownGroup& group, Type code) {
  const ExtendedType& type = group.type(code);
  const std::string_view name = split_path(type.name).name;
  indent();
  switch (type.type_class) {
    case TypeClass::kVlen:
      put_type_name(group, type.base);
      out_.put("(*) ");
      put_name(name);
      out_.put(" ;\n");
      break;
    case TypeClass::kOpaque:
      out_.put(joined_text("opaque(", type.size, ") "));
      put_name(name);
      out_.put(" ;\n");
      break;
    case TypeClass::kEnum:
      put_enum(group, code);
      break;
    default:
      out_.put("compound ");
      put_name(name);
      out_.put(" {\n");
      for (const ExtendedType::Field& field : type.fields) put_field(group, field);
      indent();
      out_.put("}; // ");
      put_name(name);
      out_.put('\n');
  }
}

void CdlHeader::put_field(const ShownGroup& group, const ExtendedType::Field& field) {
  indent();
  out_.put("  ");
  const bool is_array =
      TypeTable::is_extended(field.type) && group.type(field.type).type_class == TypeClass::kArray;
  const Type type = is_array ? group.type(field.type).base : field.type;
  if (group.shown().is_netcdf() && TypeTable::is_extended(type) &&
      group.type(type).type_class == TypeClass::kString && !group.type(type).variable_length)
    out_.put("char");
  else
    put_type_name(group, type);
  out_.put(' ');
  put_name(field.name);
  if (is_array) {
    const std::vector<std::uint64_t>& lengths = group.type(field.type).lengths;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      out_.put(joined_text(i == 0 ? "(" : ", ", lengths[i]));
    out_.put(')');
  }
  out_.put(" ;\n");
}

void CdlHeader::put_enum(const ShownGroup& group, Type code) {
  const ExtendedType& type = group.type(code);
  const auto name_text = [&](std::string_view name) {
    return text_of([&](TextOut& out) { put_cdl_name(out, name, form_); });
  };
  const auto base =
      text_of([&](TextOut& out) { CdlHeader(out, form_, false).put_type_name(group, type.base); });
  put_wrapped(joined_text(base, " enum ", name_text(split_path(type.name).name), " {"));
  for (std::size_t i = 0; i < type.names.size(); ++i)
    put_wrapped(joined_text(name_text(type.names[i]), " = ", group.enum_value(type, i),
                            i + 1 < type.names.size() ? ", " : "} ;\n"));
  column_ = 2 * level_;
}

void CdlHeader::put_wrapped(std::string_view text) {
  if (column_ + text.size() > kTypeLineLength && text.size() > 2) {
    out_.put('\n');
    indent();
    out_.put("    ");
    column_ = 4 + 2 * level_;
  }
  out_.put(text);
  column_ += text.size();
}

void CdlHeader::put_dimensions(const ShownGroup& group) {
  bool any = false;
  group.for_each_own_dimension([&](const ShownHeader::Dimension& dimension) {
    if (!any) {
      indent();
      out_.put("dimensions:\n");
    }
    any = true;
    indent();
    out_.put('\t');
    put_name(dimension.name);
    const std::string length = std::to_string(dimension.length);
    out_.put(dimension.may_grow ? " = UNLIMITED ; // (" + length + " currently)\n"
                                : " = " + length + " ;\n");
  });
}

void CdlHeader::put_variable(const ShownGroup& group, const ShownHeader::Variable& variable) {
  indent();
  out_.put('\t');
  put_type_name(group, group.metadata().variable(variable.id).type);
  out_.put(' ');
  put_name(variable.name);
  for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
    out_.put(d == 0 ? "(" : ", ");
    put_name(group.dimension_reference(variable.dimensions[d]));
  }
  out_.put(variable.dimensions.empty() ? " ;\n" : ") ;\n");
  group.for_each_attribute(variable.id, [&](const Attribute& attribute, std::uint32_t number) {
    put_attribute(group, variable.id, variable.name, attribute, number);
  });
}

void CdlHeader::put_type_name(const ShownGroup& group, Type code) {
  if (!TypeTable::is_extended(code)) return out_.put(type_name(code));
  const ExtendedType& type = group.type(code);
  if (const std::optional<std::string> name = group.type_reference(code)) return put_name(*name);
  const std::optional<Type> same = group.types().classic(code);
  const std::optional<Type> number = group.shown().is_netcdf() ? group.number(code) : same;
  if (number) return out_.put(type_name(*number));
  if (type.type_class == TypeClass::kString && (type.variable_length || group.shown().is_netcdf()))
    return out_.put("string");
  out_.put(printable(group.types().text(code)));
}

void CdlHeader::put_attribute(const ShownGroup& group, VarId id, std::string_view owner,
                              const Attribute& attribute, std::uint32_t number) {
  indent();
  out_.put("\t\t");
  const Type type = attribute.type;
  const bool is_text = group.is_text(id, number, attribute);
  if (TypeTable::is_extended(type) && !is_text) {
    const bool is_string = group.type(type).type_class == TypeClass::kString;
    if (is_string) out_.put("string ");
    if (const std::optional<std::string> name = group.type_reference(type)) {
      put_name(*name);
      out_.put(' ');
    }
  }
  put_name(owner);
  // A CDL parser reads "data:" as a keyword, but not "data :" with a blank.
  constexpr std::array<std::string_view, 5> kWords = {"types", "dimensions", "variables", "data",
                                                      "group"};
  if (std::find(kWords.begin(), kWords.end(), owner) != kWords.end()) out_.put(' ');
  out_.put(':');
  put_name(attribute.name);
  out_.put(" = ");
  const bool is_ncdump = form_ == CdlForm::kNcdump;
  if (attribute.count == 0 || type == Type::kChar || (is_text && is_ncdump)) {
    CdlString string(out_, breaks_lines_ ? ",\n\t\t\t" : "", !is_ncdump, form_);
    string.add({reinterpret_cast<const char*>(attribute.values.data()), attribute.values.size()});
    string.close();
  } else if (TypeTable::is_extended(type)) {
    const Status status =
        put_extended_attribute(out_, group.types(), attribute, ValueFormat::kCdl, form_);
    if (!status.ok()) out_.put("/* " + status.message() + " */");
  } else {
    for (std::uint64_t i = 0; i < attribute.count; ++i) {
      if (i > 0) out_.put(", ");
      put_cdl_constant(out_, type, attribute.values.data() + i * type_size(type), form_);
    }
  }
  out_.put(" ;\n");
}

}  // namespace nmb
