// StatisticsTap: counts the values of a block while they are moved (spec/tables.md, section 9.3).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "model/classic.h"
#include "nmb/statistics.h"
#include "origins/value_mover.h"
#include "values/statistics/extent_counter.h"
#include "wire/bytes.h"

namespace nmb {

// The statistics of a block and the names of its variables. If a variable cannot have statistics,
// its name in `names` is empty.
struct NamedStatistics {
  BlockStatistics statistics;
  std::vector<std::string> names;

  // Returns the number of variables that may have statistics, but whose statistics could not be
  // computed.
  std::uint64_t not_computed() const {
    std::uint64_t count = 0;
    for (std::size_t v = 0; v < names.size(); ++v)
      count += !names[v].empty() && !statistics.variables[v].computed;
    return count;
  }
};

class StatisticsTap final : public ValueTap {
 public:
  // Makes the counter from the definitions of the block. Called by the first thread that has
  // values.
  using MakeCounter = std::function<Result<std::unique_ptr<ExtentCounter>>()>;
  // stored: number of bytes that take() will receive. holes: ranges of the extent that take() will
  // not receive.
  StatisticsTap(MakeCounter make, std::uint64_t stored, std::vector<ByteRange> holes)
      : make_(std::move(make)), left_(stored), holes_(std::move(holes)) {}

  Status take(std::uint64_t offset, std::span<const std::byte> bytes) override;
  // Returns nullptr if all values were counted, or the counter if chunks must still be counted.
  // Must be called after all bytes were taken.
  std::unique_ptr<ExtentCounter> take_counter() { return std::move(counter_); }
  NamedStatistics take_counted() { return std::move(counted_); }

 private:
  MakeCounter make_;
  std::once_flag once_;
  std::unique_ptr<ExtentCounter> counter_;
  Status status_;  // status of the creation of the counter
  std::atomic<std::uint64_t> left_;
  std::vector<ByteRange> holes_;
  NamedStatistics counted_;
};

}  // namespace nmb
