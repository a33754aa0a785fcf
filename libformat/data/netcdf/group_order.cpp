#include "netcdf/group_order.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "hdf5_types/hdf5_section.h"
#include "model/paths.h"
#include "netcdf/shared_dimensions.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

bool is_at_or_below(std::string_view block, std::string_view above) {
  return above.empty() || block == above ||
         (block.starts_with(above) && block[above.size()] == '/');
}

GroupTree::Node& GroupTree::child_of(Node& node, std::string_view name) {
  const auto known = node.places.find(name);
  if (known != node.places.end()) return *node.below[known->second].second;
  node.places.emplace(name, node.below.size());
  return *node.below.emplace_back(name, std::make_unique<Node>()).second;
}

GroupTree::Node& GroupTree::node_of(std::string_view name) {
  Node* at = &root_;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    at = &child_of(*at, name.substr(0, slash));
    name.remove_prefix(slash == name.npos ? name.size() : slash + 1);
  }
  return *at;
}

void GroupTree::add_classic(std::string_view name) { node_of(name).is_block = true; }

Result<GroupLinks> links_to_groups(const Metadata& metadata) {
  GroupLinks links{is_classic_dataset(metadata), {}};
  if (!metadata.extension()) return links;
  NMB_ASSIGN(const std::vector<Property> properties, decode_properties(metadata.extension()->hdf5));
  for (const Property& p : properties) {
    if (p.owner != kGlobal) break;
    if (p.number == Property::Number::kOrder) links.is_tracked = (p.order.links & 1) != 0;
    if (p.number != Property::Number::kLinks) continue;
    for (const Link& link : p.links)
      if (link.kind == LinkKind::kGroup) links.linked.push_back(link.name);
  }
  return links;
}

Status GroupTree::add(const Dataset& group) {
  if (!group.metadata.extension()) {
    add_classic(group.name);
    return {};
  }
  NMB_ASSIGN(GroupLinks links, links_to_groups(group.metadata));
  add(group.name, links.is_tracked, std::move(links.linked));
  return {};
}

void GroupTree::add(std::string_view name, bool is_tracked, std::vector<std::string> linked) {
  Node& node = node_of(name);
  node.is_block = true;
  node.is_tracked = is_tracked;
  node.linked = std::move(linked);
}

// Not recursive, because names may have very many parts.
std::vector<std::string> GroupTree::in_order() const {
  std::vector<std::string> order;
  std::vector<std::pair<std::string, const Node*>> waiting{{"", &root_}};
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
      waiting.emplace_back(joined_path(path, names[i]),
                           node->below[node->places.find(names[i])->second].second.get());
  }
  return order;
}

}  // namespace nmb::hdf5
