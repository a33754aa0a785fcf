// Writes a tree of statistics or tags on all ranks (spec/tables.md, section 9.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

#include "page/page_tree_build.h"
#include "table/table_row.h"

namespace nmb {

// The rows of a rank. The object owns their names, each stored only once, and their bytes.
class TableRows {
 public:
  // Adds a row with copies of its name and bytes.
  void add(const TableRow& row);

  std::size_t count() const { return rows_.size(); }
  const TableRow& operator[](std::size_t i) const { return rows_[i]; }
  void sort();
  // Merges sorted runs of rows. ends: the end of each run.
  void merge(const std::vector<std::size_t>& ends);
  template <class Keep>
  void keep_if(Keep keep) {
    std::erase_if(rows_, [&](const TableRow& row) { return !keep(row); });
  }

 private:
  std::vector<TableRow> rows_;
  std::unordered_set<std::string> names_;
  std::deque<std::vector<std::byte>> bytes_;
  std::deque<std::vector<UnknownValue>> unknown_;
};

struct BuiltTable {
  Place place;  // place of the root, whose sum covers all bytes of the root; absent if there are no
                // rows
  std::uint64_t end = 0;  // end of the last page
};

// Writes a tree. Collective. rows: this rank's rows, in any order; the ranks sort all rows
// together, and each keeps only its share. Among the rows of all ranks, at most one has state
// kBefore; it refers to the place `before`, which is the same on all ranks. position: where the
// first page begins. Passes each page to `write` (see PageTreeBuild).
Result<BuiltTable> build_table(Communicator& ranks, TableRows rows, const Place& before,
                               PageUse use, std::uint64_t position, const WritePages& write,
                               const Origin& origin);

}  // namespace nmb
