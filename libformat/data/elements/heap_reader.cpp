#include "elements/heap_reader.h"

#include <algorithm>

namespace nmb {

Result<std::span<const std::byte>> HeapReader::read(HeapValue value, std::uint64_t size) {
  const std::uint64_t there = region_ ? region_->size() : 0;
  NMB_ASSIGN(const std::uint64_t bytes, value.take(there, size, &left_));
  if (bytes == 0) return std::span<const std::byte>();
  const std::uint64_t end = begin_ + window_.size();
  if (value.offset < begin_ || value.offset > end || bytes > end - value.offset) {
    const bool follows = !window_.empty() && value.offset >= begin_ && value.offset <= end + 8;
    const std::uint64_t most = there - value.offset;
    window_.resize(follows ? std::min(most, std::max(bytes, kAhead)) : bytes);
    begin_ = value.offset;
    if (const Status status = region_->read_at(begin_, window_); !status.ok()) {
      window_.clear();
      return status;
    }
  }
  return std::span<const std::byte>(window_).subspan(value.offset - begin_, bytes);
}

}  // namespace nmb
