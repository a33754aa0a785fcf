// group_order: the groups of an HDF5 file that is made of an NMB file, in the order in which
// netCDF-C reads them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// Whether a block is `above` or lies below it.
bool is_at_or_below(std::string_view block, std::string_view above);

// Groups of a file, as their links order them. Not thread-safe.
class GroupTree {
 public:
  GroupTree() { root_.is_tracked = true; }  // where there is no root block
  // A group, ahead of or behind those of other groups, in the order in which they are met. Reads
  // the hdf5 section of kind 6. kDamaged.
  Status add(const Dataset& group);
  // A dataset of another kind, of which nothing is read.
  void add_classic(std::string_view name);
  // The names of all that were added: each ahead of those below it, groups of a group in the order
  // of their links where that is tracked, else in that of their names.
  std::vector<std::string> in_order() const;

 private:
  struct Node {
    bool is_block = false;
    bool is_tracked = false;          // the order of links
    std::vector<std::string> linked;  // groups, by the block's list of links
    // Groups in the order in which they were met.
    std::vector<std::pair<std::string, std::unique_ptr<Node>>> below;
    std::map<std::string, std::size_t, std::less<>> places;  // in `below`
  };
  static Node& child_of(Node& node, std::string_view name);
  Node& node_of(std::string_view name);

  Node root_;
};

}  // namespace nmb::hdf5
