#include "files/far_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nmb {

Status FarSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  {
    std::lock_guard lock(mutex_);
    for (const CachedRange& part : parts_) {
      if (offset < part.offset || offset - part.offset > part.bytes.size() ||
          out.size() > part.bytes.size() - (offset - part.offset))
        continue;
      std::memcpy(out.data(), part.bytes.data() + (offset - part.offset), out.size());
      return {};
    }
  }
  return base_->read_at(offset, out);
}

bool FarSource::has(const ByteRange& range) const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(parts_, [&](const CachedRange& part) { return part.has(range); });
}

Status FarSource::fetch_one(const ByteRange& range) const {
  CachedRange part{range.begin, std::vector<std::byte>(range.length())};
  NMB_TRY(base_->read_at(range.begin, part.bytes));
  std::lock_guard lock(mutex_);
  kept_ += part.bytes.size();
  parts_.push_front(std::move(part));
  for (; kept_ > kKept && parts_.size() > 1; parts_.pop_back()) kept_ -= parts_.back().bytes.size();
  return {};
}

Status FarSource::fetch(std::span<const ByteRange> ranges) const {
  std::vector<ByteRange> wanted;
  for (const ByteRange& range : ranges) {
    // A range outside of the file is reported when it is read.
    if (range.begin >= range.end || range.end > size() || has(range)) continue;
    wanted.push_back(range);
  }
  if (wanted.empty()) return {};
  const auto is_in_run = [&](const ByteRange& range) {
    return range.begin >= run_.begin && range.end <= run_.end;
  };
  if (run_.length() > 0 && run_.length() <= request_bytes_ && run_.end <= size() &&
      std::ranges::all_of(wanted, is_in_run))
    return fetch_one(run_);
  std::ranges::sort(wanted, {}, &ByteRange::begin);
  ByteRange next = wanted.front();
  for (const ByteRange& range : wanted) {
    if ((range.begin > next.end && range.begin - next.end > request_bytes_) ||
        range.end - next.begin > kKept) {
      NMB_TRY(fetch_one(next));
      next = range;
    }
    next.end = std::max(next.end, range.end);
  }
  return fetch_one(next);
}

}  // namespace nmb
