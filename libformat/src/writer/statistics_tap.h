// StatisticsTap: counts the values of a block while they are moved (spec/format.md, section 9.2).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "nmb/byte_range.h"
#include "nmb/classic_header.h"
#include "nmb/statistics.h"
#include "statistics/block_counter.h"
#include "writer/value_mover.h"

namespace nmb {

class StatisticsTap final : public ValueTap {
 public:
  // What there is to be counted, by the definitions of the block. Asked when the first values
  // arrive, by one of the threads.
  using MakeCounter = std::function<Result<std::unique_ptr<BlockCounter>>()>;
  // stored: bytes that will be taken; holes: of the extent, which will not.
  StatisticsTap(MakeCounter make, std::uint64_t stored, std::vector<ByteRange> holes)
      : make_(std::move(make)), left_(stored), holes_(std::move(holes)) {}

  Status take(std::uint64_t offset, std::span<const std::byte> bytes) override;
  // When all was taken: nullptr where there are sections; else chunks are left to be counted.
  std::unique_ptr<BlockCounter> take_counter() { return std::move(counter_); }
  // The sections; their state is not set.
  std::vector<std::byte> take_sections() { return std::move(sections_); }
  // Variables that were not counted.
  std::uint64_t not_computed() const { return not_computed_; }

 private:
  MakeCounter make_;
  std::once_flag once_;
  std::unique_ptr<BlockCounter> counter_;
  Status status_;  // of making it
  std::atomic<std::uint64_t> left_;
  std::vector<ByteRange> holes_;
  std::vector<std::byte> sections_;
  std::uint64_t not_computed_ = 0;
};

}  // namespace nmb
