#include "values/statistics/histogram_builder.h"

#include <algorithm>
#include <limits>

namespace nmb {

Histogram::Range Histogram::range(const Bucket& bucket) const {
  const auto number = [](std::uint64_t ordered) {
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return std::bit_cast<double>(ordered & sign ? ordered & ~sign : ~ordered);
  };
  const std::uint64_t first = static_cast<std::uint64_t>(bucket.code) << (64 - bits);
  const std::uint64_t last = first | (~std::uint64_t{0} >> bits);
  // If NaNs have this code, infinity is the only number that has it too.
  const double infinity = std::numeric_limits<double>::infinity();
  const auto sound = [&](double value, double limit) { return value == value ? value : limit; };
  return {sound(number(first), -infinity), sound(number(last), infinity)};
}

void HistogramBuilder::begin(std::uint64_t most) {
  most_ = most;
  shift_ = 0;
  used_ = 0;
  slots_.assign(std::bit_ceil(2 * most + 2), Slot{});
}

void HistogramBuilder::add(std::span<const std::uint32_t> codes) {
  for (std::size_t i = 0; i < codes.size();) {
    // Adjacent values often have the same code.
    const std::uint32_t code = codes[i];
    std::size_t next = i + 1;
    while (next < codes.size() && codes[next] == code) ++next;
    if (!insert(code >> shift_, next - i)) {
      coarsen_for(codes.subspan(i));
      insert(code >> shift_, next - i);
    }
    i = next;
  }
}

void HistogramBuilder::add(std::uint32_t code, std::uint64_t count) {
  if (count == 0 || insert(code >> shift_, count)) return;
  coarsen_for({&code, 1});
  insert(code >> shift_, count);
}

// Adds to the count of a code. Returns false if the code is new and there is no room for another
// code.
bool HistogramBuilder::insert(std::uint32_t code, std::uint64_t count) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = (code * std::uint32_t{0x9E3779B1}) >> 8 & mask;
  while (slots_[at].count != 0 && slots_[at].code != code) at = (at + 1) & mask;
  if (slots_[at].count == 0) {
    if (used_ == most_) return false;
    slots_[at].code = code;
    ++used_;
  }
  slots_[at].count += count;
  return true;
}

// Shortens all codes until `most_` buckets are enough for the old and the new codes. Codes of one
// bit always fit, because there is room for at least two codes.
void HistogramBuilder::coarsen_for(std::span<const std::uint32_t> codes) {
  std::vector<std::uint32_t> all;
  all.reserve(used_ + codes.size());
  for (const Slot& slot : slots_)
    if (slot.count != 0) all.push_back(slot.code);
  for (const std::uint32_t code : codes) all.push_back(code >> shift_);
  std::sort(all.begin(), all.end());
  unsigned by = 0;
  std::uint64_t distinct = 0;
  do {
    ++by;
    distinct = 1;
    for (std::size_t i = 1; i < all.size(); ++i)
      distinct += static_cast<std::uint64_t>(all[i] >> by != all[i - 1] >> by);
  } while (distinct > most_);
  coarsen(shift_ + by);
}

void HistogramBuilder::coarsen(unsigned shift) {
  std::vector<Slot> old(slots_.size());
  old.swap(slots_);
  const unsigned by = shift - shift_;
  shift_ = shift;
  used_ = 0;
  for (const Slot& slot : old)
    if (slot.count != 0) insert(slot.code >> by, slot.count);
}

void HistogramBuilder::merge(const Histogram& other) {
  const unsigned shift = Histogram::kMostBits - other.bits;
  if (shift > shift_) coarsen(shift);
  for (const Histogram::Bucket& bucket : other.buckets) add(bucket.code << shift, bucket.count);
}

Histogram HistogramBuilder::take() const {
  Histogram out;
  out.bits = Histogram::kMostBits - shift_;
  for (const Slot& slot : slots_)
    if (slot.count != 0) out.buckets.push_back({slot.code, slot.count});
  std::sort(out.buckets.begin(), out.buckets.end(),
            [](const auto& a, const auto& b) { return a.code < b.code; });
  return out;
}

}  // namespace nmb
