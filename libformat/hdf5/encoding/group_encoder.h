// Writes groups of an HDF5 view (spec/hdf5_view.md, "Groups").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "encoding/link_list.h"
#include "encoding/view_output.h"
#include "wire/failure.h"

namespace nmb {

// The maximum number of links of a group without a symbol table. kMostOrderedLinks applies if a
// symbol table cannot represent the links, because HDF5 tracks their order or some links are not
// hard.
inline constexpr std::size_t kMostCompactLinks = 1024, kMostOrderedLinks = 16384;
// Half the maximum number of entries: kLeafRank for a leaf of a symbol table, kNodeRank for a tree
// node.
inline constexpr unsigned kLeafRank = 16, kNodeRank = 32;

// A dimension of a classic dataset, which blocks below the dataset may use.
struct ViewDimension {
  std::string name;
  std::uint64_t length = 0;
  bool grows = false;
  std::uint64_t number = 0;     // by which netCDF identifies the dimension
  std::uint64_t reference = 0;  // index in DimensionReferences
};

struct ViewGroup {
  std::string name;  // name of the block, for messages
  LinkList links;
  std::vector<std::byte> messages;  // encoded messages: comment, number of links, attributes
  bool is_root = false;
  std::vector<ViewDimension> dimensions;  // those that the block, a classic dataset, defines itself
  // The following members are for a group that is a block of kind 6, but not a classic dataset.
  bool is_extended = false;
  unsigned link_order = 1, attribute_order = 0;  // flags; see property 3 in spec/hdf5_section.md
  std::vector<LinkList::Name> order;             // link names in the order that property 4 gives
  std::size_t source = 0;                        // see KnownObjects::add_source()
  std::uint64_t created = 0;                     // order of creation of the block
  std::vector<std::int64_t> numbers;  // numbers of the block's dimension scales, ascending
};

// Writes a group and returns the address of its object header. Errors: kUnsupported if two links
// have the same name or HDF5 cannot hold a name.
Result<std::uint64_t> encode_group(const ViewGroup& group, ViewOutput& out);

}  // namespace nmb
