// Groups of an HDF5 view (spec/hdf5_view.md, "Groups").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hdf5/bytes/link_list.h"
#include "hdf5/bytes/view_output.h"
#include "nmb/status.h"

namespace nmb {

// A group with more links has a symbol table.
inline constexpr std::size_t kMostCompactLinks = 1024;
// Half of what a leaf and a node of a symbol table hold, at most.
inline constexpr unsigned kLeafRank = 16, kNodeRank = 32;

struct ViewGroup {
  std::string name;  // of the block, for messages
  LinkList links;
  std::vector<std::byte> attributes;  // their messages
  bool is_root = false;
};

// Returns the address of the group's object header. kUnsupported: two links of one name, or a name
// that HDF5 cannot hold.
Result<std::uint64_t> encode_group(const ViewGroup& group, ViewOutput& out);

}  // namespace nmb
