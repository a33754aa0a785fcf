// Forms names of blocks from templates (see nmb/block_template.h).
#include "nmb/block_template.h"

#include "model/paths.h"

namespace nmb {

Result<BlockTemplate> BlockTemplate::parse(std::string_view text) {
  BlockTemplate out;
  const std::string shown(text);
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open != 0) {
      out.parts_.push_back({Field::kText, std::string(text.substr(0, open))});
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
    else
      return Status(Code::kUsage, "found \"" + std::string(field) + "\" in block name template \"" +
                                      shown + "\", expected {stem}, {path}, {index} or {group}");
    out.parts_.push_back({kind, {}});
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

Result<std::string> BlockTemplate::expand(std::string_view path, std::size_t index,
                                          std::string_view group) const {
  std::string out;
  bool drop_slash = false;
  for (const Part& part : parts_) {
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
      std::ranges::count(parts_, Field::kGroup, &Part::field) > 1)
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
