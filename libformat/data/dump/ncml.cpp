// Writes a dataset, or all blocks of a file, as NcML 2.2 (see dump/dump.h).
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "dump/group_walk.h"
#include "dump/shown_group.h"
#include "dump/text_out.h"
#include "model/paths.h"
#include "model/utf8_split.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Writes text as the value of an XML attribute. XML cannot hold most control characters, so they
// are written like bytes that are not UTF-8 (see json_text()).
class XmlText {
 public:
  explicit XmlText(TextOut& out) : out_(out) {}

  void put(std::string_view bytes) {
    const auto put = [this](std::string_view character, bool valid) {
      this->put(character, valid);
    };
    Utf8Splitter splitter;
    splitter.feed(bytes, put);
    splitter.finish(put);
  }

 private:
  void put(std::string_view character, bool valid) {
    const auto lead = static_cast<unsigned char>(character[0]);
    const bool is_code = valid && lead == 0xEE && static_cast<unsigned char>(character[1]) >= 0xBC;
    const bool is_noncharacter = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
    switch (character[0]) {
      case '&':
        return out_.put("&amp;");
      case '<':
        return out_.put("&lt;");
      case '>':
        return out_.put("&gt;");
      case '"':
        return out_.put("&quot;");
      case '\t':
        return out_.put("&#9;");
      case '\n':
        return out_.put("&#10;");
      case '\r':
        return out_.put("&#13;");
      default:
        if (valid && lead >= 0x20 && !is_code && !is_noncharacter) return out_.put(character);
        for (const char c : character)
          out_.put(
              joined_text("&#", 0xEF00 + static_cast<int>(static_cast<unsigned char>(c)), ";"));
    }
  }

  TextOut& out_;
};

// A type of NcML. NcML has no unsigned types.
struct NcmlType {
  std::string_view name;
  bool is_unsigned = false;
};

NcmlType ncml_type(Type classic) {
  switch (classic) {
    case Type::kByte:
      return {"byte"};
    case Type::kChar:
      return {"char"};
    case Type::kShort:
      return {"short"};
    case Type::kInt:
      return {"int"};
    case Type::kFloat:
      return {"float"};
    case Type::kDouble:
      return {"double"};
    case Type::kUByte:
      return {"byte", true};
    case Type::kUShort:
      return {"short", true};
    case Type::kUInt:
      return {"int", true};
    case Type::kInt64:
      return {"long"};
    case Type::kUInt64:
      return {"long", true};
  }
  return {};
}

class NcmlWriter {
 public:
  explicit NcmlWriter(TextOut& out) : out_(out) {}

  void begin_file(std::string_view location) {
    out_.put(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<netcdf "
        "xmlns=\"http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2\"");
    if (!location.empty()) put("location", location);
    out_.put(">\n");
    ++level_;
  }
  void end_file() {
    out_.put("</netcdf>\n");
    --level_;
  }
  void begin_group(std::string_view name) {
    indent();
    out_.put("<group");
    put_name(name);
    out_.put(">\n");
    ++level_;
  }
  void end_group() {
    --level_;
    indent();
    out_.put("</group>\n");
  }
  Status put_definitions(ShownGroup& group) {
    for (const Type type : group.declared_types())
      if (group.type(type).type_class == TypeClass::kEnum) put_enum(group, type);
    group.for_each_own_dimension([&](const ShownHeader::Dimension& dimension) {
      indent();
      out_.put("<dimension");
      put_name(dimension.name);
      put("length", std::to_string(dimension.length));
      if (dimension.may_grow) put("isUnlimited", "true");
      out_.put(" />\n");
    });
    NMB_TRY(put_attributes(group, kGlobal));
    for (std::uint32_t v = 0; v < group.shown().variable_count(); ++v) {
      const ShownHeader::Variable variable = group.shown().variable(v);
      const Type type = group.metadata().variable(variable.id).type;
      if (!group.is_shown(type)) continue;
      std::string shape;
      for (const std::uint32_t d : variable.dimensions)
        shape += (shape.empty() ? "" : " ") + token(group.dimension_reference(d));
      NMB_TRY(put_variable(group, variable.name, type, std::move(shape), variable.id));
    }
    return {};
  }

 private:
  void indent() {
    for (std::size_t i = 0; i < std::min<std::size_t>(level_, 64); ++i) out_.put("  ");
  }
  void put(std::string_view attribute, std::string_view value) {
    out_.put(' ');
    out_.put(attribute);
    out_.put("=\"");
    XmlText(out_).put(value);
    out_.put('"');
  }
  // As in netCDF, NULs at the end of a name are left out.
  static std::string_view without_nuls(std::string_view name) {
    return name.substr(0, name.find_last_not_of('\0') + 1);
  }
  void put_name(std::string_view name) { put("name", without_nuls(name)); }
  // In a list separated by blanks, a backslash precedes each blank or backslash of a name.
  static std::string token(std::string_view name) {
    std::string text;
    for (const char c : without_nuls(name)) {
      if (c == ' ' || c == '\\') text += '\\';
      text += c;
    }
    return text;
  }

  void put_enum(const ShownGroup& group, Type code) {
    const ExtendedType& type = group.type(code);
    const std::optional<Type> base = group.types().classic(type.base);
    if (!base || type_size(*base) > 4) return;
    indent();
    out_.put("<enumTypedef");
    put_name(split_path(type.name).name);
    put("type", enum_name(*base));
    out_.put(">\n");
    ++level_;
    for (std::size_t i = 0; i < type.names.size(); ++i) {
      indent();
      out_.put("<map");
      put("value", group.enum_value(type, i));
      out_.put('>');
      XmlText(out_).put(type.names[i]);
      out_.put("</map>\n");
    }
    --level_;
    indent();
    out_.put("</enumTypedef>\n");
  }
  static std::string_view enum_name(Type base) {
    return type_size(base) == 1 ? "enum1" : type_size(base) == 2 ? "enum2" : "enum4";
  }

  // Writes a variable or, without `id`, a field of a structure.
  Status put_variable(const ShownGroup& group, std::string_view name, Type type, std::string shape,
                      std::optional<VarId> id) {
    const auto is_class = [&](TypeClass type_class) {
      return TypeTable::is_extended(type) && group.type(type).type_class == type_class;
    };
    // A dimension "*" may have a different length for each value. The dimensions of an array have
    // no names.
    while (is_class(TypeClass::kVlen) || is_class(TypeClass::kArray)) {
      const ExtendedType& t = group.type(type);
      if (t.type_class == TypeClass::kVlen) shape += shape.empty() ? "*" : " *";
      for (const std::uint64_t length : t.lengths)
        shape += (shape.empty() ? "" : " ") + std::to_string(length);
      type = t.base;
    }
    const std::optional<Type> number = group.number(type);
    NcmlType shown{"opaque"};
    std::string enum_of;
    if (number) {
      shown = ncml_type(*number);
    } else if (is_class(TypeClass::kString) || is_class(TypeClass::kReference)) {
      shown.name = "String";
    } else if (is_class(TypeClass::kCompound)) {
      shown.name = "Structure";
    } else if (is_class(TypeClass::kEnum)) {
      if (const std::optional<Type> base = group.types().classic(group.type(type).base)) {
        shown = ncml_type(*base);
        const std::optional<std::string> path = group.type_reference(type);
        if (type_size(*base) <= 4 && path) {
          shown = {enum_name(*base)};
          enum_of = *path;
        }
      }
    }
    indent();
    out_.put("<variable");
    put_name(name);
    put("type", shown.name);
    if (!enum_of.empty()) put("typedef", enum_of);
    put("shape", shape);
    out_.put(">\n");
    ++level_;
    if (id) NMB_TRY(put_attributes(group, *id));
    if (shown.is_unsigned && !(id && group.metadata().find_attribute(*id, "_Unsigned"))) {
      indent();
      out_.put("<attribute name=\"_Unsigned\" value=\"true\" />\n");
    }
    if (is_class(TypeClass::kCompound))
      for (const ExtendedType::Field& field : group.type(type).fields)
        NMB_TRY(put_variable(group, field.name, field.type, {}, {}));
    --level_;
    indent();
    out_.put("</variable>\n");
    return {};
  }

  Status put_attributes(const ShownGroup& group, VarId owner) {
    Status status;
    group.for_each_attribute(owner, [&](const Attribute& attribute, std::uint32_t number) {
      if (status.ok()) status = put_attribute(group, attribute, number, owner);
    });
    return status;
  }

  Status put_attribute(const ShownGroup& group, const Attribute& attribute, std::uint32_t place,
                       VarId owner) {
    const std::optional<Type> number = group.number(attribute.type);
    NcmlType type{"String"};
    std::string value, separator;
    if (attribute.type == Type::kChar || group.is_text(owner, place, attribute)) {
      value = {reinterpret_cast<const char*>(attribute.values.data()), attribute.values.size()};
      value.erase(value.find_last_not_of('\0') + 1);
    } else if (number && number != Type::kChar) {
      type = ncml_type(*number);
      for (std::uint64_t i = 0; i < attribute.count; ++i)
        value += (i > 0 ? " " : "") + group.number_text(attribute, i);
    } else {
      NMB_ASSIGN(const std::vector<std::string> texts, group.texts(attribute));
      separator = separator_of(texts);
      for (std::size_t i = 0; i < texts.size(); ++i) value += (i > 0 ? separator : "") + texts[i];
      if (texts.size() < 2) separator.clear();
    }
    indent();
    out_.put("<attribute");
    put_name(attribute.name);
    if (type.name != "String") put("type", type.name);
    if (type.is_unsigned) put("isUnsigned", "true");
    if (!separator.empty()) put("separator", separator);
    put("value", value);
    out_.put(" />\n");
    return {};
  }

  // Returns a character that occurs in none of the texts, or a word if there is none.
  static std::string separator_of(const std::vector<std::string>& texts) {
    for (const char c : std::string_view("|;,!#~^*")) {
      bool is_used = false;
      for (const std::string& text : texts) is_used = is_used || text.find(c) != text.npos;
      if (!is_used) return {c};
    }
    std::size_t longest = 0;
    for (const std::string& text : texts)
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_not_of('|', at), text.size());
        longest = std::max(longest, end - at);
        at = std::min(text.find('|', end), text.size());
      }
    return std::string(longest + 1, '|');
  }

  TextOut& out_;
  std::size_t level_ = 0;
};

class NcmlFile final : public GroupVisitor {
 public:
  NcmlFile(const FileText& file, const TypeNames& names, TextOut& out)
      : file_(file), names_(names), out_(out), writer_(out) {}

  Status begin(std::string_view path, const Dataset* dataset, bool has_groups) override {
    if (path.empty())
      writer_.begin_file(file_.name);
    else
      writer_.begin_group(split_path(path).name);
    open_.push_back({path});
    if (dataset) {
      NMB_ASSIGN(const std::optional<NetcdfView> view, file_.view(path, *dataset));
      const DatasetText text{path, dataset->metadata, dataset->kind(), dataset->records};
      ShownGroup group(text, view ? &*view : nullptr);
      NMB_TRY(group.open(&open_, names_, has_groups));
      NMB_TRY(writer_.put_definitions(group));
    }
    return out_.status();
  }
  Status end(std::string_view path) override {
    if (path.empty())
      writer_.end_file();
    else
      writer_.end_group();
    open_.pop_back();
    return out_.status();
  }

 private:
  const FileText& file_;
  const TypeNames& names_;
  TextOut& out_;
  NcmlWriter writer_;
  std::vector<OpenGroup> open_;
};

}  // namespace

Status write_ncml_file(const FileText& file, const TextSink& sink) {
  TextOut out(sink);
  NMB_ASSIGN(const TypeNames names, names_of_types(file.blocks));
  NcmlFile text(file, names, out);
  const Status status = visit_groups(file.blocks, text);
  const Status written = out.finish();
  return status.ok() ? written : status;
}

Status write_ncml_header(const DatasetText& dataset, const TextSink& sink, const NetcdfView* view) {
  TextOut out(sink);
  NcmlWriter writer(out);
  writer.begin_file({});  // a block of a file has no location
  ShownGroup group(dataset, view);
  NMB_TRY(group.read());
  const Status status = writer.put_definitions(group);
  writer.end_file();
  const Status written = out.finish();
  return status.ok() ? written : status;
}

}  // namespace nmb
