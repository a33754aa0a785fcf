// Groups in netCDF-C's order (see interop/group_order.h).
#include "interop/group_order.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "interop/shared_dimensions.h"
#include "nmb/hdf5_section.h"

namespace nmb::hdf5 {

namespace {

struct GroupNode {
  bool is_block = false;
  bool is_tracked = false;          // the order of links
  std::vector<std::string> linked;  // groups, by the block's list of links
  // Groups in the order in which the export meets them.
  std::vector<std::pair<std::string, std::unique_ptr<GroupNode>>> below;
  std::map<std::string, std::size_t, std::less<>> places;  // in `below`

  GroupNode& child(std::string_view name) {
    const auto known = places.find(name);
    if (known != places.end()) return *below[known->second].second;
    places.emplace(name, below.size());
    below.emplace_back(name, std::make_unique<GroupNode>());
    return *below.back().second;
  }
};

GroupNode& node_of(GroupNode& root, std::string_view name) {
  GroupNode* at = &root;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    at = &at->child(name.substr(0, slash));
    name.remove_prefix(slash == name.npos ? name.size() : slash + 1);
  }
  return *at;
}

Status take_links(const Block& block, GroupNode* node) {
  NMB_ASSIGN(const std::vector<Property> properties,
             decode_properties(block.metadata.extension()->hdf5));
  for (const Property& p : properties) {
    if (p.owner != kGlobal) break;
    if (p.number == Property::Number::kOrder) node->is_tracked = (p.order.links & 1) != 0;
    if (p.number != Property::Number::kLinks) continue;
    for (const Link& link : p.links)
      if (link.kind == LinkKind::kGroup) node->linked.push_back(link.name);
  }
  return {};
}

// Without recursion: names may have very many parts.
std::vector<std::string> in_order(GroupNode& root) {
  std::vector<std::string> order;
  std::vector<std::pair<std::string, GroupNode*>> waiting{{"", &root}};
  while (!waiting.empty()) {
    const auto [path, node] = std::move(waiting.back());
    waiting.pop_back();
    if (node->is_block) order.push_back(path);
    std::vector<std::string_view> names;
    std::vector<bool> is_named(node->below.size());
    for (const std::string& name : node->linked)
      if (const auto known = node->places.find(name);
          known != node->places.end() && !is_named[known->second]) {
        is_named[known->second] = true;
        names.push_back(known->first);
      }
    for (std::size_t i = 0; i < node->below.size(); ++i)
      if (!is_named[i]) names.push_back(node->below[i].first);
    if (!node->is_tracked) std::ranges::sort(names);
    for (std::size_t i = names.size(); i-- > 0;)
      waiting.emplace_back((path.empty() ? "" : path + "/") + std::string(names[i]),
                           &node->child(names[i]));
  }
  return order;
}

}  // namespace

Result<std::vector<std::string>> group_order(const Reader& reader) {
  GroupNode root;
  root.is_tracked = true;  // where there is no root block
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    GroupNode& node = node_of(root, entry.name);
    node.is_block = true;
    node.is_tracked = true;  // classic datasets
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) return true;
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader.block(entry));
    node.is_tracked = is_classic_dataset(block->metadata);
    NMB_TRY(take_links(*block, &node));
    return true;
  }));
  return in_order(root);
}

}  // namespace nmb::hdf5
