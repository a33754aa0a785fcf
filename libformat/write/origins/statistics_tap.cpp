#include "origins/statistics_tap.h"

#include <utility>

namespace nmb {

Status StatisticsTap::take(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::call_once(once_, [&] {
    Result<std::unique_ptr<ExtentCounter>> made = make_();
    make_ = {};
    if (made.ok())
      counter_ = std::move(*made);
    else
      status_ = made.status();
  });
  NMB_TRY(status_);
  counter_->add(offset, bytes);
  // The call that takes the last bytes finishes the statistics, because it sees the counts of all
  // other calls. The same call frees the counter, because there are many blocks, and a counter is
  // larger than its results.
  if (left_.fetch_sub(bytes.size(), std::memory_order_acq_rel) != bytes.size()) return {};
  for (const ByteRange& hole : holes_) counter_->add_hole(hole.begin, hole.end);
  if (counter_->has_chunks()) return {};
  NMB_ASSIGN(counted_.statistics, counter_->finish());
  counted_.names = counter_->take_names();
  counter_.reset();
  return {};
}

}  // namespace nmb
