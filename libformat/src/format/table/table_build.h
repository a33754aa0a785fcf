// Writes a tree of statistics or tags, by all ranks (spec/format.md, section 9.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

#include "format/page/page_tree_build.h"
#include "format/table/table_row.h"
#include "nmb/communicator.h"
#include "parallel/message_codec.h"

namespace nmb {

// The rows of a rank, with the bytes that they view: each name once.
class TableRows {
 public:
  // Copies the bytes that the row views.
  void add(const TableRow& row);
  // Adds a row written by put().
  void get(MessageReader& in);
  static void put(MessageWriter& out, const TableRow& row);

  std::size_t count() const { return rows_.size(); }
  const TableRow& operator[](std::size_t i) const { return rows_[i]; }
  void sort();
  // Merges sorted runs; ends: the end of each run.
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
  Place place;            // absent without rows; the sum is that of all bytes of the root
  std::uint64_t end = 0;  // of the last page
};

// Collective. rows: this rank's, in any order; at most one row on all ranks is kBefore, which leads
// to `before` (the same on all ranks). All ranks sort them, and none has more than its share. Pages
// lie from `position` on and go to `write`: see PageTreeBuild.
Result<BuiltTable> build_table(Communicator& ranks, TableRows rows, const Place& before,
                               PageUse use, std::uint64_t position, const WritePages& write,
                               const Origin& origin);

}  // namespace nmb
