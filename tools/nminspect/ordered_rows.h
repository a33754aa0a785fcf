// OrderedRows: passes on at most a given number of rows of a listing, either as they come or
// sorted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "nmb/status.h"

namespace nmb::tools {

// Rows are kept in memory only if they are sorted, and then at most `limit` rows.
template <class Row>
class OrderedRows {
 public:
  using Less = std::function<bool(const Row&, const Row&)>;
  using Emit = std::function<Status(const Row&)>;
  // `less` is a strict order, or empty to keep the order in which rows come.
  OrderedRows(Less less, std::optional<std::uint64_t> limit, Emit emit)
      : less_(std::move(less)), limit_(limit), emit_(std::move(emit)) {}

  // Returns false if all further rows would be ignored.
  Result<bool> add(Row row) {
    if (limit_ && *limit_ == 0) return false;
    if (!less_) {
      NMB_TRY(emit_(row));
      return !limit_ || ++emitted_ < *limit_;
    }
    // rows_ is a heap with the last row of the order at the top. A row that comes earlier in the
    // order replaces the top.
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
