// Applies rules that divide inputs into blocks (see merge/dividing/block_rule.h).
#include "merge/dividing/block_rule.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "dump/number_text.h"

namespace nmb {

namespace {

// Returns the text after `word` if the text begins with `word` and is longer.
std::optional<std::string_view> behind(std::string_view text, std::string_view word) {
  if (!text.starts_with(word) || text.size() == word.size()) return std::nullopt;
  return text.substr(word.size());
}

Status no_name(const std::string& found) { return Status(Code::kConflict, found); }

// Returns the value as the name of a block. Text is a view of the attribute's bytes.
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

Result<BlockRule> BlockRule::parse(const std::string& text) {
  BlockRule rule;
  if (text.empty() || text == "group") return rule;
  if (text == "one") {
    rule.by_ = By::kOne;
    return rule;
  }
  if (const auto expression = behind(text, "prefix:")) {
    rule.by_ = By::kPrefix;
    NMB_ASSIGN(NameSplitter splitter, NameSplitter::compile(std::string(*expression)));
    rule.splitter_.emplace(std::move(splitter));
    return rule;
  }
  if (const auto digits = behind(text, "vars:")) {
    const char* const last = digits->data() + digits->size();
    const auto [end, error] = std::from_chars(digits->data(), last, rule.count_);
    if (error == std::errc() && end == last && rule.count_ > 0) {
      rule.by_ = By::kCount;
      return rule;
    }
  }
  for (const auto& [word, by] :
       {std::pair("dim:", By::kDimension), std::pair("key:", By::kAttribute)})
    if (const auto name = behind(text, word)) {
      rule.by_ = by;
      rule.name_ = *name;
      return rule;
    }
  return Status(Code::kUsage, "found \"" + text +
                                  "\" as the rule for blocks, expected group, prefix:REGEX, "
                                  "vars:N, one, dim:NAME or key:ATT");
}

Result<std::optional<SplitName>> BlockRule::of(const Metadata& metadata, VarId variable) {
  const std::string_view name = metadata.variable(variable).name;
  if (by_ == By::kPrefix) {
    NMB_ASSIGN(std::optional<SplitName> parts, splitter_->split(name));
    if (parts && parts->group.empty()) parts.reset();
    return parts;
  }
  if (by_ == By::kCount) {
    if (variable % count_ == 0)
      groups_.push_back(padded_position(variable / count_, metadata.variable_count() / count_));
    return std::optional(SplitName{groups_.back(), name});
  }
  const std::optional<Attribute> value = metadata.find_attribute(variable, name_);
  if (!value) return std::optional<SplitName>();
  std::string room;
  NMB_ASSIGN(std::string_view group, name_of(*value, &room));
  if (group.data() == room.data()) {
    if (groups_.empty() || groups_.back() != room) groups_.push_back(std::move(room));
    group = groups_.back();
  }
  return std::optional(SplitName{group, name});
}

Result<bool> BlockRule::concerns(const Metadata& metadata, VarId variable) {
  if (by_ == By::kAttribute) return metadata.find_attribute(variable, name_).has_value();
  if (by_ == By::kDimension)
    return std::ranges::any_of(metadata.variable(variable).dimensions, [&](DimId dimension) {
      return metadata.dimension(dimension).name == name_;
    });
  if (by_ != By::kPrefix) return true;
  NMB_ASSIGN(const std::optional<SplitName> parts, of(metadata, variable));
  return parts.has_value();
}

Result<std::optional<std::string>> BlockRule::of_dataset(const Metadata& metadata) const {
  const std::optional<Attribute> value = metadata.find_attribute(kGlobal, name_);
  if (!value) return std::optional<std::string>();
  std::string room;
  NMB_ASSIGN(const std::string_view text, name_of(*value, &room));
  return std::optional(std::string(text));
}

Result<std::string_view> BlockRule::cut(std::string_view name) {
  if (by_ != By::kPrefix) return name;
  NMB_ASSIGN(std::optional<SplitName> parts, splitter_->split(name));
  return parts && !parts->rest.empty() ? parts->rest : name;
}

}  // namespace nmb
