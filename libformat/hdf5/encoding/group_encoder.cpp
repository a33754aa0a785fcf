#include "encoding/group_encoder.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "encoding/object_header.h"
#include "encoding/tree_level.h"
#include "model/name_rules.h"
#include "model/text.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// The maximum length of a link name, in bytes. A message has at most 64 KiB, and stores the length
// of the name in 2 bytes.
constexpr std::size_t kMostHdf5Name = 32767;

Status refused(const ViewGroup& group, std::string_view link, const std::string& found,
               const std::string& expected) {
  const std::string name = joined_text(group.is_root ? "" : group.name + "/", link);
  return Status(Code::kUnsupported, "HDF5 view: object \"" + printable(name) + "\": found " +
                                        found + ", expected " + expected);
}

Status check_name(const ViewGroup& group, std::string_view name) {
  if (name.empty() || name == "." || name.find('/') != name.npos || name.find('\0') != name.npos)
    return refused(group, name, "a name that HDF5 cannot hold",
                   "a name without / and NUL that is not empty or \".\"");
  const std::size_t most = group.is_extended ? kMostHdf5Name : kMostNetcdfName;
  if (name.size() > most)
    return refused(group, name.substr(0, 80), joined_text("a name of ", name.size(), " bytes"),
                   joined_text("at most ", most));
  return {};
}

// Checks the names of links. `order` has the indexes of the links, sorted by name.
Status check_names(const ViewGroup& group, std::span<const std::uint32_t> order) {
  const LinkList& links = group.links;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string_view name = links.name(order[i]);
    NMB_TRY(check_name(group, name));
    if (i > 0 && links.name(order[i - 1]) == name)
      return refused(group, name, "two objects of one name",
                     "one object with each name: the blocks, "
                     "dimensions and variables of a group must have different names in "
                     "HDF5");
  }
  return {};
}

// Writes a message for each link, in the order of the list.
void add_links(const ViewGroup& group, ObjectHeader& header) {
  const LinkList& links = group.links;
  Hdf5Bytes& out = header.bytes();
  constexpr unsigned kOrderTracked = 1, kOrderIndexed = 2;
  const bool tracked = (group.link_order & kOrderTracked) != 0;
  header.begin(HeaderMessage::kLinkInfo);
  out.put8(0);
  out.put8(group.link_order);
  if (tracked) out.put64(links.size());
  out.put64(kUndefinedAddress);
  out.put64(kUndefinedAddress);
  if (group.link_order & kOrderIndexed) out.put64(kUndefinedAddress);
  (void)header.end();
  header.begin(HeaderMessage::kGroupInfo);
  out.zeros(2);
  (void)header.end();
  constexpr unsigned kLongName = 1, kHasOrder = 4, kHasKind = 8, kHasCharacters = 16;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::string_view name = links.name(i);
    const bool utf8 = links.characters(i) ? *links.characters(i) == CharacterSet::kUtf8
                                          : is_utf8_beyond_ascii(name);
    const bool is_hard = links.kind(i) == kHardLink, is_long = name.size() > 0xFF;
    header.begin(HeaderMessage::kLink);
    out.put8(1);
    out.put8((is_long ? kLongName : 0) | (tracked ? kHasOrder : 0) | (is_hard ? 0 : kHasKind) |
             (utf8 ? kHasCharacters : 0));
    if (!is_hard) out.put8(links.kind(i));
    if (tracked) out.put64(i);
    if (utf8) out.put8(1);
    is_long ? out.put16(name.size()) : out.put8(static_cast<unsigned>(name.size()));
    out.put(name);
    if (is_hard) {
      out.put64(links.address(i));
    } else {
      out.put16(links.content(i).size());
      out.put(links.content(i));
    }
    (void)header.end();  // fits, because the length of the name and content was checked
  }
}

// Appends the heap with the names of a symbol table. Adds the offset of each name to *offsets.
Result<std::uint64_t> append_names(const LinkList& links, std::span<const std::uint32_t> order,
                                   std::vector<std::uint64_t>* offsets, ViewOutput& out) {
  constexpr std::size_t kHeader = 32;
  constexpr std::uint64_t kNoFreeSpace = 1;
  Hdf5Bytes names;
  names.zeros(8);  // the empty name, which sorts before all other names
  for (const std::uint32_t link : order) {
    offsets->push_back(names.size());
    names.put(links.name(link));
    names.zeros_to(round_up(names.size() + 1, 8));
  }
  Hdf5Bytes heap;
  heap.put("HEAP");
  heap.put32(0);
  heap.put64(names.size());
  heap.put64(kNoFreeSpace);
  heap.put64(out.position() + kHeader);
  heap.put(names.bytes());
  return out.append(heap.bytes());
}

// Appends the leaves of the symbol table and the tree above them.
Result<std::uint64_t> append_symbols(const LinkList& links, std::span<const std::uint32_t> order,
                                     std::span<const std::uint64_t> offsets, ViewOutput& out) {
  constexpr std::size_t kSymbol = 40;
  Hdf5Bytes bytes;
  std::vector<TreeChild> level;
  for (std::size_t i = 0; i < order.size(); i += 2 * kLeafRank) {
    const std::size_t count = std::min<std::size_t>(2 * kLeafRank, order.size() - i);
    bytes.clear();
    bytes.put("SNOD");
    bytes.put8(1);
    bytes.put8(0);
    bytes.put16(count);
    for (std::size_t k = i; k < i + count; ++k) {
      bytes.put64(offsets[k]);
      bytes.put64(links.address(order[k]));
      bytes.zeros(kSymbol - 16);
    }
    bytes.zeros_to(8 + 2 * kLeafRank * kSymbol);
    NMB_ASSIGN(const std::uint64_t address, out.append(bytes.bytes()));
    // All names below a child are greater than the key of the child, and at most the key of the
    // next child.
    level.push_back({i == 0 ? 0 : offsets[i - 1], address});
  }
  const auto put_key = [](Hdf5Bytes& to, std::uint64_t key, bool) { to.put64(key); };
  return append_tree(std::move(level), {TreeUse::kGroup, kNodeRank, 8}, offsets.back(), put_key,
                     out);
}

}  // namespace

Result<std::uint64_t> encode_group(const ViewGroup& group, ViewOutput& out) {
  const LinkList& links = group.links;
  if (links.size() > ~std::uint32_t{0})
    return refused(group, "", joined_text(links.size(), " objects"), "fewer than 2^32");
  std::vector<std::uint32_t> order(links.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return links.name(a) < links.name(b); });
  NMB_TRY(check_names(group, order));
  ObjectHeader header;
  header.start(group.attribute_order);
  const bool only_messages =
      group.is_extended && ((group.link_order & 1) != 0 || !links.are_all_hard());
  if (links.size() <= (only_messages ? kMostOrderedLinks : kMostCompactLinks)) {
    add_links(group, header);
  } else {
    std::vector<std::uint64_t> offsets;
    NMB_ASSIGN(const std::uint64_t names, append_names(links, order, &offsets, out));
    NMB_ASSIGN(const std::uint64_t tree, append_symbols(links, order, offsets, out));
    header.begin(HeaderMessage::kSymbolTable);
    header.bytes().put64(tree);
    header.bytes().put64(names);
    (void)header.end();
  }
  header.bytes().put(group.messages);
  return out.append(header.finish());
}

}  // namespace nmb
