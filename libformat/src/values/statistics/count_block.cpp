// Computes statistics of a block (see values/statistics/count_block.h).
#include "values/statistics/count_block.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "parallel/workers.h"
#include "values/statistics/block_counter.h"

namespace nmb {

Result<BlockStatistics> count_block(const Dataset& block, std::span<const ByteRange> holes,
                                    StatisticsLevel level, unsigned threads, bool with_moments) {
  constexpr std::uint64_t kWindow = 1 << 20;
  NMB_ASSIGN(const std::unique_ptr<BlockCounter> counter,
             BlockCounter::make(block.metadata, block.layout, block.records, level, with_moments));
  for (const ByteRange& hole : holes) counter->add_hole(hole.begin, hole.end);
  if (counter->has_chunks()) NMB_TRY(counter->count_chunks(block.extent, threads));
  const std::uint64_t length = counter->counts_any() ? block.extent->size() : 0;
  std::mutex mutex;
  std::uint64_t at = 0;
  auto hole = holes.begin();
  const auto next = [&](ByteRange* window) {
    std::lock_guard lock(mutex);
    for (; hole != holes.end() && hole->begin <= at; ++hole) at = std::max(at, hole->end);
    if (at >= length) return false;
    const std::uint64_t limit = hole == holes.end() ? length : std::min(length, hole->begin);
    *window = {at, std::min(limit, (at / kWindow + 1) * kWindow)};
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
  return count_block(dataset, {}, level, threads, true);
}

}  // namespace nmb
