// Parses the text form of merge rules (see merge/reporting/merge.h).
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "merge/reporting/merge.h"
#include "wire/whole_number.h"

namespace nmb {

namespace {

// Returns the text after `word` if the text begins with `word` and is longer than it.
std::optional<std::string_view> behind(std::string_view text, std::string_view word) {
  if (!text.starts_with(word) || text.size() == word.size()) return std::nullopt;
  return text.substr(word.size());
}

// Returns the number after "vars:" if it is at least 1.
std::optional<std::uint64_t> variables_in(std::string_view text) {
  const auto digits = behind(text, "vars:");
  const auto count = digits ? whole_number(*digits) : std::nullopt;
  return count == 0 ? std::nullopt : count;
}

}  // namespace

Result<BlockRule> BlockRule::try_parse(std::string_view text) {
  if (text.empty() || text == "group") return BlockRule();
  if (text == "one") return BlockRule{.by = By::kOne};
  if (const auto count = variables_in(text)) return BlockRule{.by = By::kCount, .count = *count};
  for (const auto& [word, by] :
       {std::pair("prefix:", By::kPrefix), std::pair("dim:", By::kDimension),
        std::pair("key:", By::kAttribute)})
    if (const auto name = behind(text, word)) return BlockRule{by, std::string(*name)};
  return Status(Code::kUsage, "found \"" + std::string(text) +
                                  "\" as the block rule, expected group, prefix:REGEX, "
                                  "vars:N, one, dim:NAME or key:ATT");
}

Result<TagRule> TagRule::try_parse(std::string_view text) {
  constexpr std::string_view kOfText = ":text";
  const std::size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  const bool is_text = name.ends_with(kOfText);
  if (is_text) name.remove_suffix(kOfText.size());
  const std::string_view value = equals == text.npos ? "" : text.substr(equals + 1);
  const bool is_attribute = !is_text && value.starts_with('@');
  if (equals == text.npos || name.empty() || value == "@")
    return Status(Code::kUsage, "found \"" + std::string(text) +
                                    "\" as the rule of a tag, expected NAME=TEMPLATE, "
                                    "NAME:text=TEMPLATE or NAME=@ATTRIBUTE");
  if (is_attribute)
    return TagRule{std::string(name), From::kAttribute, std::string(value.substr(1))};
  return TagRule{std::string(name), is_text ? From::kText : From::kTemplate, std::string(value)};
}

Result<SampleRule> SampleRule::try_parse(std::string_view text) {
  if (text.empty()) return SampleRule();
  if (text == "none") return SampleRule{.by = By::kNone};
  if (text == "group") return SampleRule{.by = By::kGroup};
  if (const auto count = variables_in(text))
    return SampleRule{.by = By::kVariables, .variables = *count};
  if (const auto name = behind(text, "dim:"))
    return SampleRule{.by = By::kDimension, .dimension = std::string(*name)};
  return Status(Code::kUsage,
                "found \"" + std::string(text) +
                    "\" as the sample rule, expected vars:N, dim:NAME, group or none");
}

}  // namespace nmb
