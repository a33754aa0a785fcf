#include "compare/compare_definitions.h"

#include <algorithm>
#include <string>

#include "compare/different_values.h"
#include "model/name_rules.h"
#include "model/text.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

std::string_view unlimited_text(bool is_unlimited) { return is_unlimited ? "yes" : "no"; }

std::string shape_text(const std::vector<std::uint64_t>& lengths) {
  std::string text = "(";
  for (const std::uint64_t length : lengths)
    text += joined_text(text.size() > 1 ? ", " : "", length);
  return text + ")";
}

std::string scales_text(const std::vector<std::string>& paths) {
  if (paths.empty()) return " without scale";
  std::string text = paths.size() == 1 ? " with scale" : " with scales";
  for (const std::string& path : paths) text += joined_text(" ", in_quotes(path));
  return text;
}

std::string axes_text(const std::vector<AxisContent>& axes) {
  std::string text = "(";
  for (const AxisContent& axis : axes) {
    if (text.size() > 1) text += ", ";
    for (std::uint32_t i = 0; i < axis.level && axis.level != AxisContent::kElsewhere && i < 8; ++i)
      text += "../";
    text += axis.dimension.empty() ? joined_text(axis.length)
                                   : joined_text(axis.dimension, "=", axis.length);
    if (axis.is_unlimited) text += " unlimited";
    if (axis.maximum != 0) text += joined_text(" of at most ", axis.maximum);
    if (axis.other_scales) text += scales_text(*axis.other_scales);
  }
  return text + ")";
}

std::vector<std::uint64_t> lengths_of(const std::vector<AxisContent>& axes) {
  std::vector<std::uint64_t> lengths;
  for (const AxisContent& axis : axes) lengths.push_back(axis.length);
  return lengths;
}

std::string_view text_type(const AttributeContent& attribute) {
  return attribute.is_string ? "string" : "char";
}

// Returns the values of an attribute as text of at most about 100 bytes.
std::string attribute_value_text(const AttributeContent& attribute) {
  constexpr std::size_t kMost = 80;
  if (attribute.type == type_name(Type::kChar)) {
    const std::string_view text(reinterpret_cast<const char*>(attribute.values.data()),
                                attribute.values.size());
    return "\"" + printable(text.substr(0, kMost)) + (text.size() > kMost ? "...\"" : "\"");
  }
  for (std::uint32_t code = 1; is_type(code); ++code) {
    const auto type = static_cast<Type>(code);
    if (attribute.type != type_name(type)) continue;
    std::string text;
    const std::size_t size = type_size(type);
    for (std::size_t at = 0; at < attribute.values.size(); at += size) {
      if (text.size() > kMost) return text + ", ...";
      text += joined_text(text.empty() ? "" : ", ",
                          canonical_text(type, std::span(attribute.values).subspan(at, size)));
    }
    return text;
  }
  const bool is_string = attribute.type == "string";
  if (is_string || attribute.type.starts_with("string(")) {
    std::string text;
    std::span<const std::byte> rest(attribute.values);
    for (std::uint64_t i = 0; i < attribute.count; ++i) {
      if (text.size() > kMost) return text + ", ...";
      const std::uint64_t size =
          is_string ? bytes_of_string(rest) : attribute.values.size() / attribute.count;
      text += joined_text(
          text.empty() ? "" : ", ",
          canonical_text(is_string ? TextForm::kVariable : TextForm::kFixed, rest.first(size)));
      rest = rest.subspan(size);
    }
    return text;
  }
  // Values of any of the block's other types are shown as bytes, so one type code stands for all.
  return canonical_text(static_cast<Type>(TypeTable::kFirst), attribute.values);
}

class DefinitionComparison {
 public:
  DefinitionComparison(DatasetContent& first, DatasetContent& second,
                       const std::function<void(DefinitionDifference)>& differ)
      : first_(first), second_(second), differ_(differ) {}

  Result<std::vector<CommonVariable>> compare() {
    if (first_.comment() != second_.comment())
      differs("", "comment", in_quotes(first_.comment()), in_quotes(second_.comment()));
    NMB_ASSIGN(const std::vector<AttributeContent> mine, first_.attributes());
    NMB_ASSIGN(const std::vector<AttributeContent> other, second_.attributes());
    compare_attributes("", mine, other);
    compare_dimensions();
    NMB_TRY(compare_types());
    compare_links();
    return compare_variables();
  }

 private:
  void report(DifferenceKind kind, std::string object, std::string property = {},
              std::string first = {}, std::string second = {}) {
    differ_({kind, first_.name(), std::move(object), std::move(property), std::move(first),
             std::move(second)});
  }
  void differs(const std::string& object, std::string_view property, std::string_view first,
               std::string_view second) {
    if (first != second)
      report(DifferenceKind::kDiffers, object, std::string(property), std::string(first),
             std::string(second));
  }

  // Visits two sorted lists. Reports the objects that only one list has, and calls both(a, b) for
  // the others. name(list element) returns the name.
  template <class List, class Name, class Both>
  void match(std::string_view what, const List& mine, const List& other, const Name& name,
             const Both& both) {
    std::size_t a = 0, b = 0;
    while (a < mine.size() || b < other.size()) {
      const bool has_mine =
          b == other.size() || (a < mine.size() && name(mine[a]) <= name(other[b]));
      const bool has_other =
          a == mine.size() || (b < other.size() && name(other[b]) <= name(mine[a]));
      const std::string object =
          joined_text(what, " ", in_quotes(has_mine ? name(mine[a]) : name(other[b])));
      if (has_mine && has_other)
        both(object, mine[a], other[b]);
      else
        report(has_mine ? DifferenceKind::kOnlyInFirst : DifferenceKind::kOnlyInSecond, object);
      a += has_mine;
      b += has_other;
    }
  }

  void compare_attributes(const std::string& owner, const std::vector<AttributeContent>& mine,
                          const std::vector<AttributeContent>& other) {
    const auto name = [&](const AttributeContent& attribute) {
      return joined_text(owner, ":", attribute.name);
    };
    match("attribute", mine, other, name,
          [&](const std::string& object, const AttributeContent& a, const AttributeContent& b) {
            differs(object, "type", a.type, b.type);
            if (first_.is_planned() && a.type == b.type)
              differs(object, "type", text_type(a), text_type(b));
            differs(object, "shape", shape_text(a.shape), shape_text(b.shape));
            if (a.type == b.type && (a.count != b.count || a.values != b.values)) {
              std::string was = attribute_value_text(a), is = attribute_value_text(b);
              if (was == is) is += " with other bytes";
              differs(object, "value", was, is);
            }
          });
  }

  void compare_dimensions() {
    match(
        "dimension", first_.dimensions(), second_.dimensions(),
        [](const DimensionContent& dimension) { return std::string_view(dimension.name); },
        [&](const std::string& object, const DimensionContent& a, const DimensionContent& b) {
          differs(object, "length", joined_text(a.length), joined_text(b.length));
          differs(object, "unlimited", unlimited_text(a.is_unlimited),
                  unlimited_text(b.is_unlimited));
        });
  }

  Status compare_types() {
    NMB_ASSIGN(const std::vector<TypeContent> mine, first_.named_types());
    NMB_ASSIGN(const std::vector<TypeContent> other, second_.named_types());
    match(
        "type", mine, other, [](const TypeContent& type) { return std::string_view(type.name); },
        [&](const std::string& object, const TypeContent& a, const TypeContent& b) {
          differs(object, "definition", a.type, b.type);
          differs(object, "comment", a.comment, b.comment);
          compare_attributes(a.name, a.attributes, b.attributes);
        });
    return {};
  }

  void compare_links() {
    match(
        "link", first_.links(), second_.links(),
        [](const LinkContent& link) { return std::string_view(link.name); },
        [&](const std::string& object, const LinkContent& a, const LinkContent& b) {
          differs(object, "kind", a.kind, b.kind);
          differs(object, "number", joined_text(a.number), joined_text(b.number));
          differs(object, "target", in_quotes(a.content), in_quotes(b.content));
        });
  }

  Result<std::vector<CommonVariable>> compare_variables() {
    const std::size_t mine = first_.variable_count(), other = second_.variable_count();
    std::vector<CommonVariable> common;
    std::size_t a = 0, b = 0;
    while (a < mine || b < other) {
      const bool has_mine =
          b == other || (a < mine && first_.variable_name(a) <= second_.variable_name(b));
      const bool has_other =
          a == mine || (b < other && second_.variable_name(b) <= first_.variable_name(a));
      const std::string& name = has_mine ? first_.variable_name(a) : second_.variable_name(b);
      if (has_mine && has_other) {
        Result<bool> is_alike = compare_variable(name, a, b);
        if (!is_alike.ok()) return is_alike.status().of_object("variable " + in_quotes(name));
        if (*is_alike) common.emplace_back(a, b);
      } else {
        report(has_mine ? DifferenceKind::kOnlyInFirst : DifferenceKind::kOnlyInSecond,
               "variable " + in_quotes(name));
      }
      a += has_mine;
      b += has_other;
    }
    return common;
  }

  // Returns whether the values can be compared.
  Result<bool> compare_variable(const std::string& name, std::size_t a, std::size_t b) {
    const std::string object = "variable " + in_quotes(name);
    NMB_ASSIGN(const std::string mine_type, first_.type_text(a));
    NMB_ASSIGN(const std::string other_type, second_.type_text(b));
    differs(object, "type", mine_type, other_type);
    NMB_ASSIGN(const std::vector<AxisContent> mine_axes, first_.axes(a));
    NMB_ASSIGN(const std::vector<AxisContent> other_axes, second_.axes(b));
    if (mine_axes != other_axes) {
      std::string was = axes_text(mine_axes), is = axes_text(other_axes);
      if (was == is) is += " of another group";
      differs(object, "dimensions", was, is);
    }
    const bool mine_null = first_.is_null(a), other_null = second_.is_null(b);
    differs(object, "dataspace", mine_null ? "null" : "with values",
            other_null ? "null" : "with values");
    differs(object, "comment", first_.variable_comment(a), second_.variable_comment(b));
    NMB_ASSIGN(const std::vector<AttributeContent> mine, first_.variable_attributes(a));
    NMB_ASSIGN(const std::vector<AttributeContent> other, second_.variable_attributes(b));
    compare_attributes(name, mine, other);
    return mine_type == other_type && !mine_null && !other_null &&
           lengths_of(mine_axes) == lengths_of(other_axes);
  }

  DatasetContent& first_;
  DatasetContent& second_;
  const std::function<void(DefinitionDifference)>& differ_;
};

}  // namespace

Result<std::vector<CommonVariable>> compare_definitions(
    DatasetContent& first, DatasetContent& second,
    const std::function<void(DefinitionDifference)>& differ) {
  return DefinitionComparison(first, second, differ).compare();
}

}  // namespace nmb
