#include "origins/put_values.h"

#include <algorithm>

namespace nmb {

Result<FinishedExtent> PutValues::finish(const FinishContext& context) {
  if (!extent_) return FinishedExtent();
  NMB_ASSIGN(const Metadata* const metadata, context.definitions());
  return extent_->finish(context.file, {*metadata, context.layout}, context.whole);
}

Result<Counting> PutValues::count(const CountContext& context) { return count_extent(context); }

Result<Counting> count_extent(const CountContext& context) {
  constexpr std::uint64_t kWindow = 1 << 20;
  NMB_ASSIGN(std::unique_ptr<ExtentCounter> counter, context.make_counter());
  const auto count = [&]() -> Status {
    if (context.extent_length == 0) return {};
    ExtentState* const extent = context.extent();
    NMB_TRY(extent->load(0));
    std::uint64_t at = 0;
    std::vector<std::byte> bytes;
    // The ranges between stored values count as holes. Such a range either stays a hole, or is
    // later filled with the fill value.
    const Metadata none;
    const FillPattern no_pattern(none, {});
    for (const Interval& part : extent->stored_in(0, context.extent_length)) {
      counter->add_hole(at, part.begin);
      for (at = part.begin; at < part.end; at += bytes.size()) {
        bytes.resize(std::min(part.end - at, kWindow - at % kWindow));
        NMB_TRY(extent->read(at, bytes, context.file, no_pattern));
        counter->add(at, bytes);
      }
    }
    counter->add_hole(at, context.extent_length);
    return {};
  };
  const Status counted = count();
  // The statistics of linked values are not computed, because this writer cannot read values in
  // other files.
  if (counted.code() == Code::kUnsupported)
    return Counting{nullptr, {counter->none(), counter->take_names()}};
  NMB_TRY(counted);
  return Counting{std::move(counter), {}};
}

}  // namespace nmb
