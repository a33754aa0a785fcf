// BlockTable reads rows of statistics or tags. BlockTable leaves out rows that a newer tree
// replaces (spec/format.md, section 9.2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "format/page/page_cache.h"
#include "format/superblock/superblock.h"
#include "format/table/table_row.h"
#include "nmb/bytes.h"
#include "wire/far_source.h"
#include "wire/place.h"

namespace nmb {

// A row that was found. `page` owns the bytes to which value() points.
struct FoundRow {
  std::shared_ptr<const Page> page;
  std::uint32_t row = 0;
  TableRow value() const { return table_row_at(*page, row); }
  // Returns the position of the row's order in the file, for messages.
  std::uint64_t offset() const { return page->value_offset(row, kOrder); }
};

// Thread-safe. Does not check whether the index has the block of a row; the caller must do this.
class BlockTable {
 public:
  using Visit = std::function<Result<bool>(const FoundRow&)>;
  // `use` is kStatistics or kTags. `file` must outlive this object. `far` is the same file as
  // `file` if it is on slow storage, otherwise nullptr.
  BlockTable(const ByteSource& file, const Superblock& superblock, PageUse use,
             const FarSource* far = nullptr);

  bool absent() const { return place_.absent(); }
  // Finds the row of a name and a block, which is given by its order. Errors: kDamaged, kIo.
  Result<std::optional<FoundRow>> find(std::string_view name, std::uint64_t order) const;
  // Visits the rows of a name, or of all names if `name` is nullopt. Visits the newest tree first;
  // within a tree, rows ascend by name and order. Stops when `visit` returns false or fails.
  // Errors: kDamaged, kIo.
  Status for_each(std::optional<std::string_view> name, const Visit& visit) const;

  struct Tree {
    std::shared_ptr<const Page> root;
    Place place;                  // place of the root
    std::optional<Place> before;  // place of the tree before
    std::uint64_t rows = 0;
    // Orders of the blocks in this tree, ascending; empty for the oldest tree. Not set by trees().
    std::vector<std::uint64_t> orders;
  };
  // Returns the trees, the newest first. Errors: kDamaged (R-TB-4, R-PG-9 and others), kIo.
  Result<std::vector<Tree>> trees() const { return read_trees(); }
  // Visits one of `parts` parts of a tree's leaves: every parts-th leaf. Part 0 also visits the
  // nodes, each before its children.
  Status for_each_page(const Tree& tree, unsigned part, unsigned parts,
                       const std::function<Status(const Page&)>& visit) const;

 private:
  Result<std::shared_ptr<const Page>> child(const Page& node, std::uint32_t row) const;
  Result<std::shared_ptr<const Page>> load(const PageExpectation& expect) const;
  Result<std::shared_ptr<const Page>> root_at(const Place& place, bool newest) const;
  Status visit_leaves(const std::shared_ptr<const Page>& page, std::optional<std::string_view> name,
                      const std::function<Result<bool>(const std::shared_ptr<const Page>&)>& visit,
                      bool* go_on) const;
  Result<std::vector<Tree>> read_trees() const;
  Status read_orders(std::vector<Tree>* trees) const;
  // Returns the trees with their orders, which hide rows of older trees.
  Result<std::shared_ptr<const std::vector<Tree>>> ordered_trees() const;

  const ByteSource& file_;
  const FarSource* far_;
  const Place place_;
  const PageExpectation expectation_;  // for any page, without its place and level
  const std::uint64_t next_order_;
  mutable PageCache cache_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::vector<Tree>> trees_;
};

// Returns the superblock's place of the table with this use.
inline Place& table_place(Superblock& superblock, PageUse use) {
  return use == PageUse::kStatistics ? superblock.statistics : superblock.tags;
}
inline const Place& table_place(const Superblock& superblock, PageUse use) {
  return use == PageUse::kStatistics ? superblock.statistics : superblock.tags;
}

}  // namespace nmb
