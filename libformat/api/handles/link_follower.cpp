#include "handles/link_follower.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "model/paths.h"

namespace nmb {

namespace {

// HDF5's own limit of soft links for a path. It also ends circles.
constexpr int kMostSoft = 16;
// A hard link leads to the own name of an object, so there is at most one for each part of a path.
constexpr int kMostHard = 10'000;
// The most parts of paths that a LinkFollower visits.
constexpr std::uint64_t kMostSteps = 10'000'000;

// Appends the parts of a path to `parts`, the last part first.
void add_parts(std::string_view path, std::vector<std::string_view>* parts) {
  const std::size_t before = parts->size();
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts->push_back(part);
    path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
  }
  std::reverse(parts->begin() + static_cast<std::ptrdiff_t>(before), parts->end());
}

}  // namespace

Result<std::vector<hdf5::Link>> LinkFollower::other_names(const Metadata& metadata) {
  std::vector<hdf5::Link> out;
  if (!metadata.extension()) return out;
  constexpr hdf5::Property::Number kWanted[] = {hdf5::Property::Number::kLinks};
  NMB_ASSIGN(std::vector<hdf5::Property> properties,
             hdf5::decode_properties(metadata.extension()->hdf5, kWanted));
  for (hdf5::Property& p : properties)
    for (hdf5::Link& link : p.links)
      if (link.kind == hdf5::LinkKind::kHard || link.kind == hdf5::LinkKind::kSoft)
        out.push_back(std::move(link));
  return out;
}

Result<const LinkFollower::Links*> LinkFollower::links_of(const Dataset& block) {
  auto known = links_.find(block.name);
  if (known == links_.end()) {
    NMB_ASSIGN(std::vector<hdf5::Link> links, other_names(block.metadata));
    known = links_.emplace(block.name, Links()).first;
    for (hdf5::Link& link : links) known->second.emplace(link.name, link);
  }
  return &known->second;
}

Result<std::optional<LinkFollower::Target>> LinkFollower::follow(std::string_view block,
                                                                 std::string_view path) {
  std::vector<std::string_view> parts;
  add_parts(path, &parts);
  return follow_from(path.starts_with('/') ? "" : std::string(block), std::move(parts));
}

// parts: the parts of the path that are still to be followed, the last part first.
Result<std::optional<LinkFollower::Target>> LinkFollower::follow_from(
    std::string at, std::vector<std::string_view> parts) {
  const auto nothing = std::optional<Target>();
  int soft = 0, hard = 0;  // links that were followed
  NMB_ASSIGN(std::optional<BlockEntry> here, file_.find(at));
  while (!parts.empty()) {
    if (++steps_ > kMostSteps)
      return Status(Code::kLimit,
                    "found links that together lead over more than 10 million groups");
    const std::string_view part = parts.back();
    parts.pop_back();
    std::string next = joined_path(at, part);
    NMB_ASSIGN(std::optional<BlockEntry> below, file_.find(next));
    if (!below && here) {
      NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_.dataset(*here));
      if (const std::optional<VarId> variable = dataset->metadata.find_variable(part))
        return parts.empty() ? std::optional(Target{*here, variable}) : nothing;
      NMB_ASSIGN(const Links* const links, links_of(*dataset));
      if (const auto link = links->find(part); link != links->end()) {
        const bool is_soft = link->second.kind == hdf5::LinkKind::kSoft;
        if (is_soft ? ++soft > kMostSoft : ++hard > kMostHard) return nothing;
        const std::string& content = link->second.content;
        add_parts(content, &parts);
        if (is_soft && !content.starts_with('/')) continue;
        at.clear();
        NMB_ASSIGN(here, file_.find(at));
        continue;
      }
    }
    // A group above the blocks of a source need not be a block itself.
    at = std::move(next);
    here = std::move(below);
  }
  return here ? std::optional(Target{*std::move(here), {}}) : nothing;
}

Result<std::optional<BlockEntry>> LinkFollower::find_block(std::string_view name) {
  // The nearest block above has the link. Blocks further above are not read.
  for (std::string_view above = name; !above.empty();) {
    above = split_path(above).parent;
    NMB_ASSIGN(const std::optional<BlockEntry> found, file_.find(above));
    if (!found) continue;
    NMB_ASSIGN(std::optional<Target> target,
               follow(above, without_slash(name.substr(above.size()))));
    if (!target || target->variable) break;
    return std::optional(std::move(target->block));
  }
  return std::optional<BlockEntry>();
}

}  // namespace nmb
