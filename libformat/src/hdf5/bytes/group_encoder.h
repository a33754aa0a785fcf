// Writes groups of an HDF5 view (spec/hdf5_view.md, "Groups").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hdf5/bytes/link_list.h"
#include "hdf5/bytes/view_output.h"
#include "nmb/status.h"

namespace nmb {

// Most links of a group that has no symbol table.
inline constexpr std::size_t kMostCompactLinks = 1024;
// Half the largest number of entries in a leaf, and in a node, of a symbol table.
inline constexpr unsigned kLeafRank = 16, kNodeRank = 32;

struct ViewGroup {
  std::string name;  // name of the block, for messages
  LinkList links;
  std::vector<std::byte> attributes;  // encoded attribute messages
  bool is_root = false;
};

// Writes a group and returns the address of its object header. Errors: kUnsupported if two links
// have the same name or HDF5 cannot hold a name.
Result<std::uint64_t> encode_group(const ViewGroup& group, ViewOutput& out);

}  // namespace nmb
