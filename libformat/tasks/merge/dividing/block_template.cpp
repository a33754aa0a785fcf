#include "merge/dividing/block_template.h"

#include "model/paths.h"
#include "wire/whole_number.h"

namespace nmb {

namespace {

// Returns the number in a field like {12}, or 0 if the field is not of this form.
std::size_t capture_in(std::string_view field) {
  if (field.size() < 3) return 0;
  const std::optional<std::uint64_t> number = whole_number(field.substr(1, field.size() - 2));
  return number && *number <= 0xffff ? static_cast<std::size_t>(*number) : 0;
}

}  // namespace

Result<BlockTemplate> BlockTemplate::parse(std::string_view text) { return parse(text, false); }
Result<BlockTemplate> BlockTemplate::parse_tag(std::string_view text) { return parse(text, true); }

Result<BlockTemplate> BlockTemplate::parse(std::string_view text, bool is_tag) {
  BlockTemplate out;
  const std::string shown(text);
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open != 0) {
      out.parts_.push_back({Field::kText, std::string(text.substr(0, open)), 0});
      if (open == std::string_view::npos) break;
      text.remove_prefix(open);
      continue;
    }
    const std::size_t close = text.find('}');
    const std::string_view field =
        text.substr(0, close == std::string_view::npos ? close : close + 1);
    Field kind;
    if (field == "{stem}")
      kind = Field::kStem;
    else if (field == "{path}")
      kind = Field::kPath;
    else if (field == "{index}")
      kind = Field::kIndex;
    else if (field == "{group}")
      kind = Field::kGroup;
    else if (is_tag && capture_in(field) > 0)
      kind = Field::kCapture;
    else
      return Status(Code::kUsage, "found \"" + std::string(field) + "\" in " +
                                      (is_tag ? "template" : "block name template") + " \"" +
                                      shown + "\", expected {stem}, {path}, {index} or {group}" +
                                      (is_tag ? ", or a capture such as {1}" : ""));
    out.parts_.push_back({kind, {}, kind == Field::kCapture ? capture_in(field) : 0});
    text.remove_prefix(field.size());
  }
  return out;
}

namespace {

// Returns a path without its empty parts and its "." parts.
Result<std::string> steps_of(std::string_view path) {
  std::string steps;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view step = path.substr(at, end - at);
    if (step == "..")
      return Status(Code::kUsage, "found path \"" + std::string(path) +
                                      "\" for {path}, expected one without \"..\"");
    if (!step.empty() && step != ".") steps += (steps.empty() ? "" : "/") + std::string(step);
    at = end + 1;
  }
  return steps;
}

}  // namespace

std::vector<std::size_t> BlockTemplate::captures() const {
  std::vector<std::size_t> numbers;
  for (const TemplatePart& part : parts_)
    if (part.field == Field::kCapture) numbers.push_back(part.capture);
  return numbers;
}

Result<std::string> BlockTemplate::expand(std::string_view path, std::size_t index,
                                          std::string_view group,
                                          std::span<const std::string_view> captures) const {
  std::string out;
  bool drop_slash = false;
  for (const TemplatePart& part : parts_) {
    std::string made;
    std::string_view piece;
    switch (part.field) {
      case Field::kText:
        piece = part.text;
        break;
      case Field::kStem:
        piece = stem_of(path);
        break;
      case Field::kPath: {
        NMB_ASSIGN(made, steps_of(path));
        piece = made;
        break;
      }
      case Field::kIndex:
        made = std::to_string(index);
        piece = made;
        break;
      case Field::kCapture:
        piece = captures[part.capture - 1];
        break;
      case Field::kGroup:
        piece = group;
        if (group.empty()) {
          if (!out.empty() && out.back() == '/')
            out.pop_back();
          else
            drop_slash = true;
          continue;
        }
        break;
    }
    if (drop_slash && !piece.empty()) {
      if (piece.front() == '/') piece.remove_prefix(1);
      drop_slash = false;
    }
    out += piece;
  }
  return out;
}

Result<std::optional<std::string>> BlockTemplate::place(std::string_view path,
                                                        std::size_t index) const {
  NMB_ASSIGN(std::string root, expand(path, index, ""));
  // A template without {group} is for inputs that have all their objects in one block.
  if (!has_group()) return std::optional(std::move(root));
  if (parts_.back().field != Field::kGroup ||
      std::ranges::count(parts_, Field::kGroup, &TemplatePart::field) > 1)
    return std::optional<std::string>();
  NMB_ASSIGN(const std::string below, expand(path, index, "g"));
  if (below != (root.empty() ? "g" : root + "/g")) return std::optional<std::string>();
  return std::optional(std::move(root));
}

Result<BlockNames> BlockNames::make(std::string_view block_name, bool unites) {
  const auto text_or = [&](std::string_view usual) {
    return BlockTemplate::parse(block_name.empty() ? usual : block_name);
  };
  BlockNames names;
  NMB_ASSIGN(names.classic_, text_or(unites ? "{group}" : "{stem}"));
  NMB_ASSIGN(names.grouped_, text_or(unites ? "{group}" : "{stem}/{group}"));
  return names;
}

PathMove BlockNames::move(std::string_view path, std::size_t index, std::string_view block) const {
  Result<std::optional<std::string>> place = grouped_.place(path, index);
  if (!place.ok() || !*place) return {};
  return {grouped_.has_group() ? std::string() : std::string(block), std::move(**place)};
}

}  // namespace nmb
