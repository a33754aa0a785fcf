#include "merge/dividing/variable_assigner.h"

#include <algorithm>
#include <utility>

#include "dump/number_text.h"

namespace nmb {

namespace {

Status no_name(const std::string& found) { return Status(Code::kConflict, found); }

// Returns an attribute's value as a block name. A text value is returned as a view of the
// attribute's bytes.
Result<std::string_view> name_of(const Attribute& value, std::string* room) {
  if (value.type == Type::kFloat || value.type == Type::kDouble)
    return no_name("floating point (" + std::string(type_name(value.type)) + ")");
  if (value.type == Type::kChar) {
    std::string_view text(reinterpret_cast<const char*>(value.values.data()), value.values.size());
    while (text.ends_with('\0')) text.remove_suffix(1);
    if (text.empty()) return no_name("an empty text");
    return text;
  }
  if (value.count == 0) return no_name("no value");
  room->clear();
  const std::size_t size = type_size(value.type);
  for (std::size_t at = 0; at < value.values.size(); at += size) {
    if (at > 0) *room += ',';
    *room += NumberText(value.type, &value.values[at]).text();
  }
  return std::string_view(*room);
}

}  // namespace

std::string padded_position(std::uint64_t position, std::uint64_t count) {
  const std::size_t digits = std::to_string(count - 1).size();
  const std::string text = std::to_string(position);
  return std::string(digits - text.size(), '0') + text;
}

Result<VariableAssigner> VariableAssigner::make(BlockRule rule) {
  VariableAssigner out(std::move(rule));
  if (out.by() == By::kPrefix) {
    NMB_ASSIGN(out.splitter_, NameSplitter::compile(out.rule_.name));
  }
  return out;
}

Result<std::optional<SplitName>> VariableAssigner::of(const Metadata& metadata, VarId variable) {
  const std::string_view name = metadata.variable(variable).name;
  if (by() == By::kPrefix) {
    NMB_ASSIGN(std::optional<SplitName> parts, splitter_->split(name));
    if (parts && parts->group.empty()) parts.reset();
    return parts;
  }
  if (by() == By::kCount) {
    if (variable % rule_.count == 0)
      groups_.push_back(
          padded_position(variable / rule_.count, metadata.variable_count() / rule_.count));
    return std::optional(SplitName{groups_.back(), name});
  }
  const std::optional<Attribute> value = metadata.find_attribute(variable, rule_.name);
  if (!value) return std::optional<SplitName>();
  std::string room;
  NMB_ASSIGN(std::string_view group, name_of(*value, &room));
  if (group.data() == room.data()) {
    if (groups_.empty() || groups_.back() != room) groups_.push_back(std::move(room));
    group = groups_.back();
  }
  return std::optional(SplitName{group, name});
}

Result<bool> VariableAssigner::concerns(const Metadata& metadata, VarId variable) {
  if (by() == By::kAttribute) return metadata.find_attribute(variable, rule_.name).has_value();
  if (by() == By::kDimension)
    return std::ranges::any_of(metadata.variable(variable).dimensions, [&](DimId dimension) {
      return metadata.dimension(dimension).name == rule_.name;
    });
  if (by() != By::kPrefix) return true;
  NMB_ASSIGN(const std::optional<SplitName> parts, of(metadata, variable));
  return parts.has_value();
}

Result<std::optional<std::string>> VariableAssigner::of_dataset(const Metadata& metadata) const {
  const std::optional<Attribute> value = metadata.find_attribute(kGlobal, rule_.name);
  if (!value) return std::optional<std::string>();
  std::string room;
  NMB_ASSIGN(const std::string_view text, name_of(*value, &room));
  return std::optional(std::string(text));
}

Result<std::string_view> VariableAssigner::cut(std::string_view name) {
  if (by() != By::kPrefix) return name;
  NMB_ASSIGN(std::optional<SplitName> parts, splitter_->split(name));
  return parts && !parts->rest.empty() ? parts->rest : name;
}

}  // namespace nmb
