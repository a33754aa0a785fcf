// Manages memory of long messages (see parallel/communicator.h).
#include <utility>

#include "parallel/communicator.h"

namespace nmb {

std::vector<std::byte> MessageMemory::take(std::size_t length) {
  std::vector<std::byte> bytes;
  if (length >= kLong) {
    // Choose the smallest buffer that is large enough.
    auto best = kept_.end();
    for (auto at = kept_.begin(); at != kept_.end(); ++at)
      if (at->capacity() >= length && (best == kept_.end() || at->capacity() < best->capacity()))
        best = at;
    if (best != kept_.end()) {
      kept_bytes_ -= best->capacity();
      std::swap(*best, kept_.back());
      bytes = std::move(kept_.back());
      kept_.pop_back();
    }
  }
  bytes.reserve(length);
  return bytes;
}

void MessageMemory::give_back(std::vector<std::byte> bytes) noexcept {
  const std::size_t room = bytes.capacity();
  if (room < kLong || room > kMost - kept_bytes_ || kept_.size() == kMostVectors) return;
  kept_bytes_ += room;
  kept_.push_back(std::move(bytes));
}

}  // namespace nmb
