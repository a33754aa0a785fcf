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

// A row that was found; the page owns the bytes that it views.
struct FoundRow {
  std::shared_ptr<const Page> page;
  std::uint32_t row = 0;
  TableRow value() const { return table_row_at(*page, row); }
  // Returns the position of its order, for messages.
  std::uint64_t offset() const { return page->value_offset(row, kOrder); }
};

// Thread-safe. The caller checks whether the index has the block of a row.
class BlockTable {
 public:
  using Visit = std::function<Result<bool>(const FoundRow&)>;
  // use: kStatistics or kTags. `file` must outlive it. far: `file` if it is on slow storage,
  // otherwise nullptr.
  BlockTable(const ByteSource& file, const Superblock& superblock, PageUse use,
             const FarSource* far = nullptr);

  bool absent() const { return place_.absent(); }
  // Errors: kDamaged, kIo.
  Result<std::optional<FoundRow>> find(std::string_view name, std::uint64_t order) const;
  // Visits rows of a name, or of all names (nullopt), until `visit` returns false or fails;
  // ascending by name and order within a tree, the newest tree first. Errors: kDamaged, kIo.
  Status for_each(std::optional<std::string_view> name, const Visit& visit) const;

  struct Tree {
    std::shared_ptr<const Page> root;
    Place place;                  // of the root
    std::optional<Place> before;  // of the tree before
    std::uint64_t rows = 0;
    // Orders of its blocks, ascending, except for the oldest tree. Not set by trees().
    std::vector<std::uint64_t> orders;
  };
  // Returns the trees, the newest first. Errors: R-TB-4, R-PG-9.
  Result<std::vector<Tree>> trees() const { return read_trees(); }
  // Visits every parts-th leaf of a tree; part 0 also visits the nodes, each before its children.
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
  // With the orders that hide rows of older trees.
  Result<std::shared_ptr<const std::vector<Tree>>> ordered_trees() const;

  const ByteSource& file_;
  const FarSource* far_;
  const Place place_;
  const PageExpectation expectation_;  // of any page, except its place
  const std::uint64_t next_order_;
  mutable PageCache cache_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::vector<Tree>> trees_;
};

// Returns the place in a superblock for a use.
inline Place& table_place(Superblock& superblock, PageUse use) {
  return use == PageUse::kStatistics ? superblock.statistics : superblock.tags;
}
inline const Place& table_place(const Superblock& superblock, PageUse use) {
  return use == PageUse::kStatistics ? superblock.statistics : superblock.tags;
}

}  // namespace nmb
