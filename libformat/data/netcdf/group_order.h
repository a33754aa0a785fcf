// Finds the order in which netCDF-C reads the groups of an HDF5 file made from an NMB file.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dataset.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Returns whether `block` is the block `above` or a block below it.
bool is_at_or_below(std::string_view block, std::string_view above);

// The links of a group to groups.
struct GroupLinks {
  bool is_tracked = false;          // whether the order of the links is tracked
  std::vector<std::string> linked;  // names of the linked groups, in the order of the links
};

// Returns the links of a block to groups. A classic block has none. Errors: kDamaged.
Result<GroupLinks> links_to_groups(const Metadata& metadata);

// The groups of a file in the order of their links. Not thread-safe.
class GroupTree {
 public:
  GroupTree() {
    root_.is_tracked = true;
  }  // if there is no root block, the order of the root's links counts as tracked
  // Adds a group and, for a block of kind 6, the links in its hdf5 section. The order of calls
  // decides the order of groups where links do not. Errors: kDamaged.
  Status add(const Dataset& group);
  // Adds a group whose links are known. linked: names of subgroups in the order of their links; may
  // be incomplete.
  void add(std::string_view name, bool is_tracked, std::vector<std::string> linked);
  // Adds a dataset that is not of kind 6, without reading its sections.
  void add_classic(std::string_view name);
  // Returns the names of all added groups, each before the groups below it. The subgroups of a
  // group are in the order of their links if the group tracks this order, otherwise in the order of
  // their names.
  std::vector<std::string> in_order() const;

 private:
  struct Node {
    bool is_block = false;
    bool is_tracked = false;          // whether the order of the links is tracked
    std::vector<std::string> linked;  // names of the linked groups, in the order of the links
    // Groups in the order in which they were added.
    std::vector<std::pair<std::string, std::unique_ptr<Node>>> below;
    std::map<std::string, std::size_t, std::less<>> places;  // index in `below`, by name
  };
  static Node& child_of(Node& node, std::string_view name);
  Node& node_of(std::string_view name);

  Node root_;
};

}  // namespace nmb::hdf5
