#include "values/statistics/count_block.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "parallel/workers.h"
#include "values/statistics/extent_counter.h"

namespace nmb {

Result<BlockStatistics> count_block(const Dataset& block, std::span<const ByteRange> holes,
                                    const CountRequest& request, unsigned threads) {
  constexpr std::uint64_t kWindow = 1 << 20;
  // A gap between wanted values is read too if it has fewer bytes than this.
  constexpr std::uint64_t kGap = 1 << 16;
  NMB_ASSIGN(const std::unique_ptr<ExtentCounter> counter,
             ExtentCounter::make(block.metadata, block.layout, block.records, request));
  for (const ByteRange& hole : holes) counter->add_hole(hole.begin, hole.end);
  if (counter->has_chunks()) NMB_TRY(counter->count_chunks(block.extent, threads));
  const std::uint64_t length = block.extent->size();
  std::mutex mutex;
  std::uint64_t at = 0;
  auto hole = holes.begin();
  const auto next = [&](ByteRange* window) {
    std::lock_guard lock(mutex);
    std::optional<ByteRange> range;
    for (;;) {
      range = counter->next_range(at, length);
      if (!range) return false;
      at = range->begin;
      for (; hole != holes.end() && hole->begin <= at; ++hole) at = std::max(at, hole->end);
      if (at == range->begin) break;
    }
    const std::uint64_t limit =
        std::min(hole == holes.end() ? length : hole->begin, (at / kWindow + 1) * kWindow);
    std::uint64_t end = range->end;
    while (end < limit) {
      range = counter->next_range(end, length);
      if (!range || range->begin - end > kGap) break;
      end = range->end;
    }
    *window = {at, std::min(end, limit)};
    at = window->end;
    return true;
  };
  const std::uint64_t most = length / kWindow + 1;
  NMB_TRY(share_work(std::min<std::uint64_t>(threads, most),
                     [&](const std::atomic<bool>& stop) -> Status {
                       std::vector<std::byte> bytes;
                       for (ByteRange window; !stop && next(&window);) {
                         bytes.resize(window.length());
                         NMB_TRY(block.extent->read_at(window.begin, bytes));
                         counter->add(window.begin, bytes);
                       }
                       return {};
                     }));
  return counter->finish();
}

Result<BlockStatistics> compute_statistics(const Dataset& dataset, StatisticsLevel level,
                                           unsigned threads) {
  CountRequest request;
  request.level = level;
  request.with_moments = true;
  return count_block(dataset, {}, request, threads);
}

}  // namespace nmb
