#include "dump/group_walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/name_rules.h"
#include "netcdf/group_order.h"

namespace nmb {

namespace {

// Orders names with '/' as the smallest character, so that each group is directly followed by all
// blocks below it.
bool is_before(std::string_view a, std::string_view b) {
  const auto key = [](char c) {
    return c == '/' ? -1 : static_cast<int>(static_cast<unsigned char>(c));
  };
  return std::ranges::lexicographical_compare(a, b, {}, key, key);
}

class GroupWalk {
 public:
  GroupWalk(const FileBlocks& blocks, GroupVisitor& visitor) : blocks_(blocks), visitor_(visitor) {}

  // Not recursive, because names may have very many parts.
  Status run() {
    NMB_TRY(blocks_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      // A name with an empty part would put a group below itself.
      if (!is_block_name(entry.name))
        return Status(Code::kDamaged, "", kNoOffset, "R-NM-1",
                      "found block " + in_quotes(entry.name) + ", expected a valid name");
      names_.push_back(entry.name);
      return true;
    }));
    std::ranges::sort(names_, is_before);
    // Opening a file does not check its index as a whole.
    if (const auto twice = std::ranges::adjacent_find(names_); twice != names_.end())
      return Status(Code::kDamaged, "", kNoOffset, "R-IX-2",
                    "found two blocks with the name " + in_quotes(*twice));
    NMB_TRY(open({0, names_.size(), 0}));
    while (!open_.empty()) {
      Group& group = open_.back();
      if (group.waiting.empty()) {
        NMB_TRY(visitor_.end(group.path));
        open_.pop_back();
        continue;
      }
      const Range next = group.waiting.back();
      group.waiting.pop_back();
      NMB_TRY(open(next));
    }
    return {};
  }

 private:
  // The blocks at and below a group. length: length of the group's name.
  struct Range {
    std::size_t first, last, length;
  };
  struct Group {
    std::string_view path;
    std::shared_ptr<const Dataset> dataset;
    std::vector<Range> waiting;  // unvisited subgroups; the last one is visited next
  };

  Status open(Range range) {
    Group group;
    if (range.length > 0)
      group.path = std::string_view(names_[range.first]).substr(0, range.length);
    if (range.first < range.last && names_[range.first] == group.path) {
      NMB_ASSIGN(const std::optional<BlockEntry> entry, blocks_.find(group.path));
      if (!entry) return Status(Code::kDamaged, "a block of the index was not found by its name");
      NMB_ASSIGN(group.dataset, blocks_.dataset(*entry));
      ++range.first;
    }
    NMB_ASSIGN(group.waiting, subgroups(group, range));
    NMB_TRY(visitor_.begin(group.path, group.dataset.get(), !group.waiting.empty()));
    open_.push_back(std::move(group));
    return {};
  }

  Result<std::vector<Range>> subgroups(const Group& group, Range below) const {
    const std::size_t start = below.length == 0 ? 0 : below.length + 1;
    std::vector<Range> found;
    std::map<std::string_view, std::size_t> by_name;
    for (std::size_t first = below.first; first < below.last;) {
      const std::string_view name = names_[first];
      const std::size_t end = std::min(name.find('/', start), name.size());
      const auto last = std::partition_point(
          names_.begin() + static_cast<std::ptrdiff_t>(first),
          names_.begin() + static_cast<std::ptrdiff_t>(below.last), [&](const std::string& other) {
            return std::string_view(other).substr(start, end - start) ==
                       name.substr(start, end - start) &&
                   (other.size() == end || other[end] == '/');
          });
      by_name.emplace(name.substr(start, end - start), found.size());
      found.push_back({first, static_cast<std::size_t>(last - names_.begin()), end});
      first = found.back().last;
    }
    if (group.dataset && found.size() > 1) {
      NMB_ASSIGN(const hdf5::GroupLinks links, hdf5::links_to_groups(group.dataset->metadata));
      if (links.is_tracked) found = in_order(found, by_name, links.linked);
    }
    std::ranges::reverse(found);
    return found;
  }

  // Returns the linked groups in the order of their links, then the other groups.
  static std::vector<Range> in_order(const std::vector<Range>& groups,
                                     const std::map<std::string_view, std::size_t>& by_name,
                                     const std::vector<std::string>& linked) {
    std::vector<Range> ordered;
    std::vector<bool> is_placed(groups.size());
    const auto place = [&](std::size_t number) {
      if (!is_placed[number]) ordered.push_back(groups[number]);
      is_placed[number] = true;
    };
    for (const std::string& name : linked)
      if (const auto at = by_name.find(name); at != by_name.end()) place(at->second);
    for (std::size_t number = 0; number < groups.size(); ++number) place(number);
    return ordered;
  }

  const FileBlocks& blocks_;
  GroupVisitor& visitor_;
  std::vector<std::string> names_;
  std::vector<Group> open_;
};

class TypeCollector final : public GroupVisitor {
 public:
  Status begin(std::string_view, const Dataset* dataset, bool) override {
    return dataset ? add_names_of_types(*dataset, &names) : Status();
  }
  Status end(std::string_view) override { return {}; }

  TypeNames names;
};

}  // namespace

Result<std::vector<Type>> linked_types(const Extension& extension) {
  std::vector<Type> linked;
  NMB_ASSIGN(const std::vector<hdf5::Property> properties, hdf5::decode_properties(extension.hdf5));
  for (const hdf5::Property& property : properties) {
    if (property.owner != kGlobal) break;
    for (const hdf5::Link& link : property.links) {
      const auto code = static_cast<Type>(link.number);
      if (link.kind == hdf5::LinkKind::kType && TypeTable::is_extended(code) &&
          extension.types.has(code) && is_user_type(extension.types.at(code)))
        linked.push_back(code);
    }
  }
  return linked;
}

Status add_names_of_types(const Dataset& dataset, TypeNames* names) {
  const Extension* const extension = dataset.metadata.extension().get();
  if (!extension) return {};
  bool has_user_types = false;
  for (std::size_t n = 0; n < extension->types.size(); ++n)
    has_user_types = has_user_types || is_user_type(extension->types[n]);
  if (!has_user_types) return {};
  const std::vector<Digest> digests = type_digests(extension->types);
  NMB_ASSIGN(const std::vector<Type> linked, linked_types(*extension));
  for (const Type code : linked) names->add(extension->types, digests, code);
  return {};
}

Result<TypeNames> names_of_types(const FileBlocks& blocks) {
  TypeCollector collector;
  bool is_classic = true;
  NMB_TRY(blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    is_classic = entry.kind != static_cast<std::uint16_t>(Kind::kExtended);
    return is_classic;
  }));
  if (!is_classic) NMB_TRY(visit_groups(blocks, collector));
  return std::move(collector.names);
}

Status visit_groups(const FileBlocks& blocks, GroupVisitor& visitor) {
  return GroupWalk(blocks, visitor).run();
}

}  // namespace nmb
