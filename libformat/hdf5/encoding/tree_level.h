// Builds HDF5 B-trees of version 1 from the leaves upwards (spec/hdf5_view.md, "Trees").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoding/hdf5_bytes.h"
#include "encoding/view_output.h"
#include "wire/failure.h"

namespace nmb {

struct TreeChild {
  std::uint64_t key;  // the key before the child
  std::uint64_t address;
};

enum class TreeUse : unsigned { kGroup = 0, kChunks = 1 };

struct TreeShape {
  TreeUse use;
  unsigned rank;          // half the maximum number of children of a node
  std::size_t key_bytes;  // size of a key
};

inline std::size_t node_bytes(const TreeShape& shape) {
  const std::size_t room = 2 * std::size_t{shape.rank};
  return 24 + (room + 1) * shape.key_bytes + room * 8;
}

// Returns the size of a tree in bytes. `children` is the number of children of the leaves.
inline std::uint64_t tree_bytes(std::uint64_t children, const TreeShape& shape) {
  const std::uint64_t room = 2 * std::uint64_t{shape.rank};
  std::uint64_t nodes = 0;
  do {
    children = (children + room - 1) / room;
    nodes += children;
  } while (children > 1);
  return nodes * round_up(node_bytes(shape), 8);
}

// Writes the nodes above `children` level by level, and returns the root's address. There must be
// at least one child. All nodes are full, except the last node of each level. `put_key(Hdf5Bytes&,
// key, is_last)` writes a key; `is_last` is true only for the key after the last child.
template <class PutKey>
Result<std::uint64_t> append_tree(std::vector<TreeChild> children, const TreeShape& shape,
                                  std::uint64_t last_key, PutKey put_key, ViewOutput& out) {
  const std::size_t room = 2 * std::size_t{shape.rank};
  Hdf5Bytes bytes;
  for (unsigned level = 0;; ++level) {
    std::vector<TreeChild> nodes;
    for (std::size_t i = 0; i < children.size(); i += room) {
      const std::size_t end = std::min(children.size(), i + room);
      const std::uint64_t own = out.position();
      const std::uint64_t step = round_up(node_bytes(shape), 8);
      bytes.clear();
      bytes.put("TREE");
      bytes.put8(static_cast<unsigned>(shape.use));
      bytes.put8(level);
      bytes.put16(end - i);
      bytes.put64(i == 0 ? kUndefinedAddress : own - step);
      bytes.put64(end == children.size() ? kUndefinedAddress : own + step);
      for (std::size_t k = i; k < end; ++k) {
        put_key(bytes, children[k].key, false);
        bytes.put64(children[k].address);
      }
      const bool last = end == children.size();
      put_key(bytes, last ? last_key : children[end].key, last);
      bytes.zeros_to(node_bytes(shape));
      NMB_ASSIGN(const std::uint64_t address, out.append(bytes.bytes()));
      nodes.push_back({children[i].key, address});
    }
    if (nodes.size() == 1) return nodes[0].address;
    children = std::move(nodes);
  }
}

}  // namespace nmb
