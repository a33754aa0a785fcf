// RowsByOrder: rows of a table, each of a block, by the block's order number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nmb {

// A sorted list, because the rows of a table are nearly in order: a hash table takes three times as
// much memory and time. Not thread-safe.
template <class Row>
class RowsByOrder {
 public:
  // Adds the row of a block that has none.
  void add(std::uint64_t order, Row row) {
    sorted_ = sorted_ && (rows_.empty() || rows_.back().first < order);
    rows_.emplace_back(order, std::move(row));
  }
  // Returns nullptr if the block has no row. Blocks are usually asked for in ascending order.
  const Row* find(std::uint64_t order) {
    if (!std::exchange(sorted_, true)) std::ranges::sort(rows_, {}, &Entry::first);
    if (next_ >= rows_.size() || rows_[next_].first != order) {
      const auto at = std::ranges::lower_bound(rows_, order, {}, &Entry::first);
      next_ = static_cast<std::size_t>(at - rows_.begin());
    }
    if (next_ == rows_.size() || rows_[next_].first != order) return nullptr;
    return &rows_[next_++].second;
  }

 private:
  using Entry = std::pair<std::uint64_t, Row>;
  std::vector<Entry> rows_;
  bool sorted_ = true;
  std::size_t next_ = 0;  // the row after the one that find() returned last
};

}  // namespace nmb
