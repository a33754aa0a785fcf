// KnownObjects keeps facts about the objects of an HDF5 view. An object may refer to objects that
// are written later, and the sizes of its messages may depend on those objects. So the blocks are
// encoded several times, and each pass collects the facts that the next pass needs
// (spec/hdf5_view.md, "Blocks of kind 6").
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "netcdf/group_order.h"
#include "superblock/view_header.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

class KnownObjects {
 public:
  // earlier: the numbers of the earlier view; nullptr if there is none. Must outlive the object.
  explicit KnownObjects(const ViewNumbers* earlier = nullptr) : earlier_(earlier) {}

  // Identifies an object by its path in the file. Slashes at the beginning of the path are ignored.
  static Digest key_of_path(std::string_view path);
  // Identifies a named datatype by its path and its message. The path alone is not enough: named
  // datatypes from different files may have the same path.
  static Digest key_of_type(std::string_view path, std::span<const std::byte> message);

  // --- a pass calls these functions to collect facts ---
  void place(const Digest& key, std::uint64_t address) { addresses_[key] = address; }
  void count_hard_link(const Digest& target) { ++hard_links_[target]; }
  // Counts a message that refers to a named datatype.
  void count_type_use(const Digest& type) { ++type_uses_[type]; }
  // Records that the link at `path`, listed in the hdf5 section, leads to a named datatype.
  void link_type(const Digest& type, const Digest& path) { type_links_[type].push_back(path); }
  void count_tree(std::uint64_t chunks, std::size_t rank);
  // Adds a source and returns its index. Each source has its own range of dimension numbers.
  // `order` is the creation order of the source's first block.
  std::size_t add_source(std::uint64_t order) {
    sources_.emplace_back().order = order;
    return sources_.size() - 1;
  }
  // Returns whether a dimension scale of the source has one of the numbers.
  bool has_number(std::size_t source, std::span<const std::int64_t> numbers) const {
    const auto& known = sources_[source].numbers;
    return known &&
           std::ranges::any_of(numbers, [&](std::int64_t n) { return known->contains(n); });
  }
  // Adds the dimensions of a classic block or classic dataset.
  void count_dimensions(std::size_t source, std::uint64_t count) { sources_[source].next += count; }
  // Counts dimensions of classic datasets of kind 6.
  void count_extended_dimensions(std::uint64_t count) { extended_dimensions_ += count; }
  // Adds a block of kind 6 that is no classic dataset. `scales` has the number of each dimension
  // scale in order of definition, or nullopt for a scale without a number. `groups` has the names
  // of the groups below the block in the order of their links.
  void add_block(const std::string& name, std::size_t source,
                 std::vector<std::optional<std::int64_t>> scales, bool tracks_links,
                 std::vector<std::string> groups);
  // Call this function at the end of a pass. `heap_position` is the position after the view's other
  // structures. Errors: as number_sources().
  Status settle(std::uint64_t heap_position);
  // Gives each source its range of numbers. Called by settle(). Errors: kUnsupported if there are
  // 2^31 dimensions or more.
  Status number_sources();

  // --- the next pass calls these functions ---
  // Returns whether the next pass writes objects of the same sizes as the pass that used `before`.
  bool same_sizes(const KnownObjects& before) const {
    return node_rank_ == before.node_rank_ && references_ == before.references_ &&
           absent_ == before.absent_ && unlinked_types_ == before.unlinked_types_ &&
           renumbers() == before.renumbers() && extended_dimensions_ == before.extended_dimensions_;
  }
  // Returns the number of dimensions of classic datasets of kind 6.
  std::uint64_t extended_dimensions() const { return extended_dimensions_; }
  // Returns the address of an object, or 0 if the view does not show the object.
  std::uint64_t address(const Digest& key) const {
    const auto found = addresses_.find(key);
    return found == addresses_.end() ? 0 : found->second;
  }
  bool is_placed(const Digest& key) const { return addresses_.contains(key); }
  // Returns whether a hard link leads to an object that the view does not show.
  bool is_absent(const Digest& target) const { return absent_.contains(target); }
  // Returns the reference count of an object: the number of hard links to the object. For a named
  // datatype, the messages that refer to the datatype count too.
  std::uint32_t references(const Digest& key) const {
    const auto found = references_.find(key);
    return found == references_.end() ? 1 : found->second;
  }
  bool is_unlinked_type(const Digest& type) const { return unlinked_types_.contains(type); }
  unsigned node_rank() const { return node_rank_; }
  void set_node_rank(unsigned rank) { node_rank_ = rank; }
  std::uint64_t heap_position() const { return heap_position_; }
  // Returns the number of a source's first dimension.
  std::uint64_t first_dimension(std::size_t source) const {
    return source < sources_.size() ? sources_[source].first : 0;
  }
  // Returns whether dimensions may have other numbers in the view than the ones that netCDF-C uses
  // when it reads the source alone.
  bool renumbers() const { return sources_.size() > 1 || has_other_first_; }
  // The numbers for the table of the view, set by number_sources().
  const ViewNumbers& numbers() const { return numbers_; }
  // Returns the numbers by which netCDF-C identifies the dimension scales of a block in the source,
  // in order of definition. Returns no numbers in the first pass.
  std::span<const std::int64_t> scale_numbers(const std::string& block) const {
    const auto found = blocks_.find(block);
    return found == blocks_.end() ? std::span<const std::int64_t>() : found->second.numbers;
  }

 private:
  struct Hash {
    std::size_t operator()(const Digest& digest) const { return digest.low; }
  };
  struct Source {
    std::uint64_t order = 0;  // order of creation of the source's first block
    std::uint64_t next = 0;   // one more than the largest dimension number
    std::uint64_t first = 0;  // number of the first dimension in the view, set by settle()
    std::unique_ptr<std::unordered_set<std::int64_t>> numbers{};  // nullptr if there are none
  };
  struct OwnScales {
    std::size_t source = 0;
    std::vector<std::optional<std::int64_t>> own;  // numbers that the scales have
    std::vector<std::int64_t> numbers;             // set by settle()
  };
  void number_scales();
  static constexpr std::array<unsigned, 5> kNodeRanks{2, 4, 8, 16, 32};

  std::unordered_map<Digest, std::uint64_t, Hash> addresses_;
  std::map<Digest, std::uint32_t> hard_links_, type_uses_;
  std::map<Digest, std::vector<Digest>> type_links_;  // paths of the links to a named datatype
  const ViewNumbers* earlier_;
  std::vector<Source> sources_;
  std::unordered_map<std::string, OwnScales> blocks_;
  hdf5::GroupTree groups_;  // blocks of kind 6
  std::array<std::uint64_t, kNodeRanks.size()> tree_bytes_{};
  std::uint64_t extended_dimensions_ = 0;
  // settle() sets the following members.
  unsigned node_rank_ = 2;
  std::map<Digest, std::uint32_t> references_;
  std::set<Digest> absent_, unlinked_types_;
  std::uint64_t heap_position_ = 0;
  ViewNumbers numbers_;
  bool has_other_first_ = false;  // whether the first number of a source is not 0
};

}  // namespace nmb
