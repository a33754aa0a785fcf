// BlockTable: reads the rows of statistics or tags that count (spec/format.md, section 9.2).
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

// A row that was found; the page keeps what it views.
struct FoundRow {
  std::shared_ptr<const Page> page;
  std::uint32_t row = 0;
  TableRow value() const { return table_row_at(*page, row); }
  // Where its order stands, for messages.
  std::uint64_t offset() const { return page->value_offset(row, kOrder); }
};

// Thread-safe. Whether the index has the block of a row is the caller's to check.
class BlockTable {
 public:
  using Visit = std::function<Result<bool>(const FoundRow&)>;
  // use: kStatistics or kTags. `file` outlives it.
  // far: nullptr, or `file` where it is far away.
  BlockTable(const ByteSource& file, const Superblock& superblock, PageUse use,
             const FarSource* far = nullptr);

  bool absent() const { return place_.absent(); }
  // kDamaged, kIo.
  Result<std::optional<FoundRow>> find(std::string_view name, std::uint64_t order) const;
  // Rows of a name, or of all names (nullopt), until `visit` returns false or fails; ascending by
  // name and order within a tree, the newest tree first. kDamaged, kIo.
  Status for_each(std::optional<std::string_view> name, const Visit& visit) const;

  struct Tree {
    std::shared_ptr<const Page> root;
    Place place;                  // of the root
    std::optional<Place> before;  // of the tree before
    std::uint64_t rows = 0;
    // Of its blocks, ascending; of all trees but the oldest. Not in trees().
    std::vector<std::uint64_t> orders;
  };
  // The newest first. R-TB-4, R-PG-9.
  Result<std::vector<Tree>> trees() const { return read_trees(); }
  // Pages of a tree that are `part` of `parts`: every parts-th leaf; of part 0 the nodes, too, each
  // ahead of its children.
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
  // With the orders that make rows of older trees not count.
  Result<std::shared_ptr<const std::vector<Tree>>> ordered_trees() const;

  const ByteSource& file_;
  const FarSource* far_;
  const Place place_;
  const PageExpectation expectation_;  // of any page, but for its place
  const std::uint64_t next_order_;
  mutable PageCache cache_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::vector<Tree>> trees_;
};

// Place and use in a superblock.
inline Place& table_place(Superblock& superblock, PageUse use) {
  return use == PageUse::kStatistics ? superblock.statistics : superblock.tags;
}
inline const Place& table_place(const Superblock& superblock, PageUse use) {
  return use == PageUse::kStatistics ? superblock.statistics : superblock.tags;
}

}  // namespace nmb
