#include "merge/storing/tagger.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "find/attribute_value.h"
#include "model/name_rules.h"
#include "table/tag_row.h"

namespace nmb {

namespace {

// Returns the number if the whole text is a number in the range of T.
template <class T>
std::optional<T> number_in(const std::string& text) {
  T number;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

}  // namespace

TagValue tag_of_text(std::string text) {
  constexpr std::string_view kDigits = "0123456789";
  // The function from_chars() also reads words such as inf.
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != text.npos) return text;
  const bool is_whole = text.find_first_not_of(kDigits, text[0] == '-' ? 1 : 0) == text.npos;
  if (const auto number = number_in<std::int64_t>(text)) return *number;
  if (const auto number = number_in<std::uint64_t>(text)) return *number;
  // A double would not hold all digits of a longer integer.
  if (is_whole) return text;
  if (const auto number = number_in<double>(text)) return *number;
  return text;
}

Result<Tagger> Tagger::make(const MergeStep& step) {
  Tagger out(step);
  const PackOptions& options = out.options_;
  if (!options.tag_names.empty()) {
    NMB_ASSIGN(out.names_, NameSplitter::compile(options.tag_names));
    out.captures_ = out.names_->count();
  } else if (options.block_by.by == BlockRule::By::kPrefix && options.packs()) {
    NMB_ASSIGN(const NameSplitter splitter, NameSplitter::compile(options.block_by.name));
    out.captures_ = splitter.count();
  }
  for (std::size_t i = 0; i < options.tags.size(); ++i) {
    const TagRule& rule = options.tags[i];
    NMB_TRY(check_new_tag(rule.name, std::int64_t{0}));
    const auto of_same_name = std::ranges::count(options.tags, rule.name, &TagRule::name);
    if (of_same_name > 1)
      return Status(Code::kUsage, "found " + std::to_string(of_same_name) + " rules for tag " +
                                      in_quotes(rule.name) + ", expected one");
    std::optional<BlockTemplate>& value = out.templates_.emplace_back();
    if (rule.from == TagRule::From::kAttribute) continue;
    NMB_ASSIGN(value, BlockTemplate::parse_tag(rule.value));
    NMB_TRY(out.check(rule, *value));
  }
  return out;
}

Status Tagger::check(const TagRule& rule, const BlockTemplate& value) const {
  const std::string tag = "tag " + in_quotes(rule.name) + ": ";
  if (!options_.packs() && value.has_input())
    return Status(Code::kUsage,
                  tag +
                      "{stem}, {path} and {index} need MergeOptions::mode pack, because in other "
                      "modes a block may come from several inputs");
  const std::vector<std::size_t> captures = value.captures();
  if (captures.empty()) return {};
  const std::size_t last = std::ranges::max(captures);
  if (captures_ == 0)
    return Status(
        Code::kUsage,
        tag + "{" + std::to_string(last) +
            "} is a capture and needs MergeOptions::tag_names or, with MergeOptions::mode pack, "
            "MergeOptions::block_by");
  if (last > captures_)
    return Status(Code::kUsage, tag + "found {" + std::to_string(last) +
                                    "}, but the expression has only " + std::to_string(captures_) +
                                    (captures_ == 1 ? " capture" : " captures"));
  return {};
}

Result<std::vector<Tag>> Tagger::tags_of(const TagSource& block) {
  std::vector<Tag> tags;
  for (std::size_t i = 0; i < options_.tags.size(); ++i) {
    const TagRule& rule = options_.tags[i];
    NMB_ASSIGN(std::optional<TagValue> value, value_of(i, block));
    if (!value) continue;
    ++counts_[i].with;
    if (const Status sound = check_new_tag(rule.name, *value); sound.ok())
      tags.push_back({rule.name, *std::move(value)});
    else
      refuse(rule, block, "text " + in_quotes(tag_text(*value)), "UTF-8 without NUL");
  }
  return tags;
}

Result<std::optional<TagValue>> Tagger::value_of(std::size_t rule, const TagSource& block) {
  if (templates_[rule]) return expanded(rule, block);
  std::optional<TagValue> value = attribute(options_.tags[rule], block);
  if (!value) lack(rule, block);
  return value;
}

Result<std::optional<TagValue>> Tagger::expanded(std::size_t number, const TagSource& block) {
  const TagRule& rule = options_.tags[number];
  const BlockTemplate& value = *templates_[number];
  const std::vector<std::size_t> used = value.captures();
  std::vector<std::string_view> captures(captures_);
  if (!used.empty() && names_) {
    NMB_ASSIGN(const NameSplitter::Captures found, names_->captures(block.name.name));
    for (const std::size_t capture : used) {
      if (found.empty() || !found[capture - 1]) {
        lack(number, block);
        return std::optional<TagValue>();
      }
      captures[capture - 1] = *found[capture - 1];
    }
  } else if (!used.empty()) {
    // The remainder of a divided dataset, and a block that is not divided, have no captures.
    if (!block.captures || block.captures->empty()) return std::optional<TagValue>();
    for (const std::size_t capture : used) {
      const NameCapture& found = (*block.captures)[capture - 1];
      if (found.differs) {
        refuse(rule, block,
               "variables whose names have different texts for {" + std::to_string(capture) + "}",
               "the same text in the names of all variables of a block");
        return std::optional<TagValue>();
      }
      if (!found.text) {
        lack(number, block);
        return std::optional<TagValue>();
      }
      captures[capture - 1] = *found.text;
    }
  }
  // In other modes, no template names the input.
  const bool packs = options_.packs();
  NMB_ASSIGN(std::string text, value.expand(packs ? options_.inputs[block.input] : std::string(),
                                            block.input, block.name.group, captures));
  if (rule.from == TagRule::From::kText) return std::optional(TagValue(std::move(text)));
  return std::optional(tag_of_text(std::move(text)));
}

// Adds a conflict and returns nullopt if the attribute is neither text nor one number.
std::optional<TagValue> Tagger::attribute(const TagRule& rule, const TagSource& block) {
  const Metadata* from = &block.metadata;
  std::optional<Attribute> found = from->find_attribute(kGlobal, rule.value);
  if (!found && block.divided) {
    from = block.divided;
    found = from->find_attribute(kGlobal, rule.value);
  }
  if (!found) return std::nullopt;
  Result<TagValue> value = attribute_value(*from, *found);
  if (value.ok()) return *std::move(value);
  refuse(rule, block, value.status().message() + " in attribute " + in_quotes(rule.value),
         "text or one number");
  return std::nullopt;
}

void Tagger::refuse(const TagRule& rule, const TagSource& block, std::string found,
                    std::string expected) {
  conflicts_.add(ConflictKind::kTag, block.name.name + "@" + rule.name, std::move(found),
                 std::move(expected));
}

// Counts a block that does not get a tag.
void Tagger::lack(std::size_t number, const TagSource& block) {
  const TagRule& rule = options_.tags[number];
  ++counts_[number].without;
  if (!options_.strict) return;
  if (rule.from == TagRule::From::kAttribute)
    refuse(rule, block, "no attribute " + in_quotes(rule.value), "the attribute");
  else
    refuse(rule, block, "a name without the captures of the tag", "a name that has them");
}

}  // namespace nmb
