// OrderedRows: passes the rows of a listing to a function, sorted or in the given order. The number
// of rows may be limited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "wire/failure.h"

namespace nmb::tools {

// If rows are sorted, at most `limit` rows are kept in memory, otherwise none.
template <class Row>
class OrderedRows {
 public:
  using Less = std::function<bool(const Row&, const Row&)>;
  using Emit = std::function<Status(const Row&)>;
  // `less` is a strict order. If it is empty, the rows stay in the order in which they are added.
  OrderedRows(Less less, std::optional<std::uint64_t> limit, Emit emit)
      : less_(std::move(less)), limit_(limit), emit_(std::move(emit)) {}

  // Returns false if all further rows would be ignored.
  Result<bool> add(Row row) {
    if (limit_ && *limit_ == 0) return false;
    if (!less_) {
      NMB_TRY(emit_(row));
      return !limit_ || ++emitted_ < *limit_;
    }
    // rows_ is a heap; its top is the row that is last in the order. If rows_ is full and the new
    // row comes before the top, the new row replaces the top.
    rows_.push_back(std::move(row));
    if (limit_) {
      std::push_heap(rows_.begin(), rows_.end(), less_);
      if (rows_.size() > *limit_) {
        std::pop_heap(rows_.begin(), rows_.end(), less_);
        rows_.pop_back();
      }
    }
    return true;
  }

  Status finish() {
    if (less_) std::ranges::sort(rows_, less_);
    for (const Row& row : rows_) NMB_TRY(emit_(row));
    return {};
  }

 private:
  Less less_;
  std::optional<std::uint64_t> limit_;
  Emit emit_;
  std::uint64_t emitted_ = 0;
  std::vector<Row> rows_;
};

}  // namespace nmb::tools
