// Reads the index: finds entries, visits ranges, and computes totals. Keeps pages in a cache of
// limited size (spec/format.md, section 7).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "extent/growth.h"
#include "files/far_source.h"
#include "page/page.h"
#include "page/page_cache.h"
#include "superblock/superblock.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"

namespace nmb {

// All names that are at least `first` and less than `end`; nullopt: no upper bound.
struct NameRange {
  std::string first;
  std::optional<std::string> end;
};

// Returns the range of names that begin with `prefix`.
NameRange prefix_range(std::string_view prefix);

// Thread-safe. Returned entries and totals include the records and lengths that growth pages add
// (section 10.4), unlike the rows of index pages.
class IndexTree {
 public:
  // far: access to the same file if it is on slow storage, otherwise nullptr.
  IndexTree(const ByteSource& file, const Superblock& superblock, const FarSource* far = nullptr);

  Result<std::optional<BlockEntry>> find(std::string_view name) const;
  // Returns whether an entry has this name. contains() and rank_of() do not read growth pages.
  Result<bool> contains(std::string_view name) const;
  // Returns the entry at a position in the order of names, from 0; nullopt after the last one.
  Result<std::optional<BlockEntry>> at(std::uint64_t position) const;
  // Returns the entry that has the object of this number, and the object's number in the entry;
  // nullopt after the last one. Objects are counted from 0 over all entries in the order of names.
  // count: which ones; not records, to which growth pages add.
  Result<std::optional<CountedObject>> counted(std::uint64_t BlockCounts::*count,
                                               std::uint64_t number) const;
  // Returns the number of entries whose names are less than `name`.
  Result<std::uint64_t> rank_of(std::string_view name) const;
  // Returns the totals of the entries in a range. Reads only index pages at its two ends.
  Result<Totals> totals_in(const NameRange& range) const;
  // Visits the entries in a range, in the order of their names. Stops when `visit` returns false or
  // a failure.
  Status for_each(const NameRange& range,
                  const std::function<Result<bool>(const BlockEntry&)>& visit) const;

  // Visits entries as for_each() does, but may leave out an entry if wants() returns false for its
  // order. Reads a leaf whole only if one of its entries is wanted, and otherwise only its orders.
  // A wanted entry is never left out: if a leaf is damaged, the call fails. wants() is called
  // before the first visit, at most once with each order. Files from which blocks were removed, and
  // files on slow storage, are read whole without a call of wants().
  Status for_each_wanted(const std::function<Result<bool>(std::uint64_t order)>& wants,
                         const std::function<Result<bool>(const BlockEntry&)>& visit) const;

  const ByteSource& file() const { return file_; }
  const Superblock& superblock() const { return superblock_; }
  const Growth& growth() const { return growth_; }
  std::uint32_t height() const { return superblock_.height; }
  // Takes the pages that were read for the previous generation, which are still valid because no
  // page is ever overwritten. `before` must not be used afterwards.
  void continue_from(IndexTree& before) {
    cache_ = before.cache_;
    growth_.continue_from(before.growth_);
  }
  Result<std::shared_ptr<const Page>> root() const;
  // Returns the child to which a row of a node refers.
  Result<std::shared_ptr<const Page>> child(const Page& node, std::uint32_t row) const;

 private:
  struct FoundEntry {
    std::shared_ptr<const Page> leaf;
    std::uint32_t row = 0;
  };
  Result<std::optional<FoundEntry>> find_row(std::string_view name) const;
  // Returns the totals of the entries in a range, without growth.
  Result<Totals> stored_totals_in(const NameRange& range) const;
  Status totals_below(const Page& page, const NameRange& range, Totals* totals) const;
  Result<bool> visit_below(const Page& page, const NameRange& range,
                           const std::function<Result<bool>(const BlockEntry&)>& visit) const;

  // The places of leaves, in the order of names.
  struct LeafPlace {
    std::shared_ptr<const Page> node;
    std::uint32_t row = 0;
  };
  // Returns the leaves that may have wanted entries, or nullopt if all leaves must be read.
  Result<std::optional<std::vector<LeafPlace>>> wanted_leaves(
      const std::function<Result<bool>(std::uint64_t order)>& wants) const;
  // Adds the places of the leaves below a node, but not many more than `most`.
  Status add_leaves(const std::shared_ptr<const Page>& node, std::uint64_t most,
                    std::vector<LeafPlace>* leaves) const;

  // Adds the growth of the entries in a range to *totals.
  Status add_growth(const NameRange& range, Totals* totals) const;

  const ByteSource& file_;
  const FarSource* far_;
  Superblock superblock_;
  Growth growth_;

  std::shared_ptr<PageCache> cache_ = std::make_shared<PageCache>();
};

// Returns the row of the child that leads to the entry of `name`, or to the place where the entry
// would be.
std::uint32_t child_row_for(const Page& node, std::string_view name);
// Returns the first row whose name is not less than `name`.
std::uint32_t lower_bound_row(const Page& leaf, std::string_view name);

}  // namespace nmb
