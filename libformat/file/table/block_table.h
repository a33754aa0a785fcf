// BlockTable reads rows of statistics or tags, without the rows of older trees that newer trees
// replace (spec/tables.md, section 9.2).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/far_source.h"
#include "page/page_cache.h"
#include "superblock/superblock.h"
#include "table/table_row.h"
#include "wire/bytes.h"
#include "wire/place.h"

namespace nmb {

// A row that was found. `page` owns the bytes of value().
struct FoundRow {
  std::shared_ptr<const Page> page;
  std::uint32_t row = 0;
  TableRow value() const { return table_row_at(*page, row); }
  // Returns the position in the file of the row's order. Messages state this position.
  std::uint64_t offset() const { return page->value_offset(row, kOrder); }
};

// Thread-safe. The caller must check whether the index contains the block of a row.
class BlockTable {
 public:
  using Visit = std::function<Result<bool>(const FoundRow&)>;
  // use: kStatistics or kTags. far: access to the same file if it is on slow storage, otherwise
  // nullptr. `file` must outlive this object.
  BlockTable(const ByteSource& file, const Superblock& superblock, PageUse use,
             const FarSource* far = nullptr);

  bool absent() const { return place_.absent(); }
  // Finds the row with this name of the block with this order. Errors: kDamaged, kIo.
  Result<std::optional<FoundRow>> find(std::string_view name, std::uint64_t order) const;
  // Visits the rows with this name, or all rows if `name` is nullopt: newest tree first, and sorted
  // by name and order within a tree. Stops when `visit` returns false or fails. Errors: kDamaged,
  // kIo.
  Status for_each(std::optional<std::string_view> name, const Visit& visit) const;

  // Visits, in ascending order of names, the rows of one block whose name is `name`, or begins with
  // `name` and NUL. A name that contains NUL has no rows. Remembers the names that begin with
  // `name` and NUL. Errors: kDamaged, kIo.
  Status for_each_of(std::string_view name, std::uint64_t order, const Visit& visit) const;

  struct Tree {
    std::shared_ptr<const Page> root;
    Place place;                  // place of the root
    std::optional<Place> before;  // place of the next older tree
    std::uint64_t rows = 0;
    // Orders of the blocks with rows in this tree, ascending. Empty for the oldest tree, and in the
    // result of trees().
    std::vector<std::uint64_t> orders;
  };
  // Returns the trees, newest first. Errors: kDamaged (R-TB-4, R-PG-18 and others), kIo.
  Result<std::vector<Tree>> trees() const { return read_trees(); }
  // Visits part `part` of a tree whose pages are divided into `parts` parts. Each part has every
  // `parts`-th leaf; part 0 also has the nodes, each visited before its children.
  Status for_each_page(const Tree& tree, unsigned part, unsigned parts,
                       const std::function<Status(const Page&)>& visit) const;

 private:
  // Returns the first row of a tree that is not less than (name, 0), or nullopt if there is none.
  Result<std::optional<FoundRow>> first_from(const Tree& tree, std::string_view name) const;
  // Returns the names in the table that begin with `name` and NUL, in ascending order.
  Result<std::shared_ptr<const std::vector<std::string>>> names_below(std::string_view name) const;
  Result<std::shared_ptr<const Page>> child(const Page& node, std::uint32_t row) const;
  Result<std::shared_ptr<const Page>> load(const PageExpectation& expect) const;
  Result<std::shared_ptr<const Page>> root_at(const Place& place, bool newest) const;
  Status visit_leaves(const std::shared_ptr<const Page>& page, std::optional<std::string_view> name,
                      const std::function<Result<bool>(const std::shared_ptr<const Page>&)>& visit,
                      bool* go_on) const;
  Result<std::vector<Tree>> read_trees() const;
  Status read_orders(std::vector<Tree>* trees) const;
  // Returns the trees with the field `orders` set. If a block is in `orders`, its rows in older
  // trees do not count.
  Result<std::shared_ptr<const std::vector<Tree>>> ordered_trees() const;

  const ByteSource& file_;
  const FarSource* far_;
  const Place place_;
  // The properties that all pages of the table share. Each page sets its position, length and
  // level.
  const PageExpectation expectation_;
  const std::uint64_t next_order_;
  mutable PageCache cache_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::vector<Tree>> trees_;
  mutable std::map<std::string, std::shared_ptr<const std::vector<std::string>>, std::less<>>
      names_below_;
};

// Returns the superblock's field for the table: `statistics` or `tags`.
inline Place& table_place(Superblock& superblock, PageUse use) {
  return use == PageUse::kStatistics ? superblock.statistics : superblock.tags;
}
inline const Place& table_place(const Superblock& superblock, PageUse use) {
  return use == PageUse::kStatistics ? superblock.statistics : superblock.tags;
}

}  // namespace nmb
