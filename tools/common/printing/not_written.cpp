#include "common/printing/not_written.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "common/original_files.h"
#include "common/printing/units.h"

namespace nmb::tools {

std::string no_place_for_originals(std::uint64_t count, const std::string& file) {
  return fmt::format("the output has no place for {}; only {} has {}",
                     count == 1 ? "1 original (an input file kept whole)"
                                : fmt::format("{} originals (input files kept whole)", count),
                     file, count == 1 ? "it" : "them");
}

std::vector<std::pair<std::string, std::string>> not_written_lines(
    const std::vector<PackLoss>& losses) {
  using Kind = PackLoss::Kind;
  std::vector<std::pair<std::string, std::string>> lines;
  for (auto at = losses.begin(); at != losses.end();) {
    const auto is_alike = [first = at](const PackLoss& loss) {
      return loss.kind == Kind::kOriginal && loss.input == first->input;
    };
    const auto end =
        at->kind == Kind::kOriginal ? std::find_if_not(at, losses.end(), is_alike) : std::next(at);
    switch (at->kind) {
      case Kind::kOriginal:
        lines.emplace_back(at->path,
                           no_place_for_originals(static_cast<std::uint64_t>(end - at), at->path));
        break;
      case Kind::kAddition:
        lines.emplace_back(at->path, no_place_for_addition(at->object, at->path));
        break;
      case Kind::kTags:
        lines.emplace_back(at->path,
                           "the output has no place for tags of " + counted(at->blocks, "block") +
                               "; an .nmb output keeps tags of blocks that are copied whole");
        break;
      case Kind::kValues:
      case Kind::kTable:
      case Kind::kReference:
      case Kind::kDamage:
        lines.emplace_back(at->path, at->line());
        break;
    }
    at = end;
  }
  return lines;
}

std::string outside_text(const std::string& file, std::uint64_t blocks) {
  return fmt::format("{}: left out {} without values in the limits of the subset", file,
                     counted(blocks, "block"));
}

void report_losses(const std::vector<std::pair<std::string, std::string>>& lines, bool accepted,
                   Diagnostics& diagnostics) {
  constexpr std::size_t kShown = 10;
  const auto tell = [&](const std::string& path, const std::string& text) {
    if (accepted)
      diagnostics.loss(path, text);
    else
      diagnostics.error(Status(Code::kConflict, path, kNoOffset, "", text));
  };
  struct Kind {
    std::size_t count = 0;
    const std::string* path = nullptr;
  };
  std::map<std::string_view, Kind> kinds;  // by the text without the name of the object
  for (const auto& [path, text] : lines) {
    const std::size_t end = text.find("\": ");
    Kind& kind = kinds[end == text.npos ? text : std::string_view(text).substr(end + 3)];
    kind.path = &path;
    if (++kind.count <= kShown) tell(path, text);
  }
  for (const auto& [text, kind] : kinds)
    if (kind.count > kShown)
      tell(*kind.path, fmt::format("{} more of this kind: {} (JSON reports list all)",
                                   kind.count - kShown, text));
}

}  // namespace nmb::tools
