// RecentBytes: keeps the bytes of originals that were read last, because checks read them several
// times: for the sums of the original's pieces, for its digest, for the sums of the blocks that
// refer to it, and to decode chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Thread-safe.
class RecentBytes {
 public:
  // Adds a range [begin, end) of the file whose bytes are kept when they are read.
  void keep(std::uint64_t begin, std::uint64_t end) {
    const std::lock_guard lock(mutex_);
    const auto after = runs_.upper_bound(begin);
    if (after != runs_.begin() && std::prev(after)->second == begin)
      std::prev(after)->second = end;
    else
      runs_.try_emplace(begin, end);
  }

  // Copies a range to `out`. Windows that are not in memory are read with read(position, bytes).
  // Returns nullopt if the range is not in the kept ranges.
  template <class Read>
  std::optional<Status> copy(std::uint64_t offset, std::span<std::byte> out, const Read& read) {
    const std::optional<ByteRange> run = run_of(offset, out.size());
    if (!run) return std::nullopt;
    while (!out.empty()) {
      const std::uint64_t begin = std::max(run->begin, offset / kWindow * kWindow);
      const std::uint64_t end = std::min(run->end, (offset / kWindow + 1) * kWindow);
      const std::shared_ptr<Window> window = window_at(begin);
      const std::size_t part = std::min<std::uint64_t>(out.size(), end - offset);
      // Another thread that needs the same window waits here until the window is read.
      const std::lock_guard lock(window->mutex);
      if (window->begin != begin || window->length < end - begin) {
        window->length = 0;
        if (window->room.size() < end - begin) window->room.resize(end - begin);
        NMB_TRY(read(begin, std::span(window->room).first(end - begin)));
        window->begin = begin;
        window->length = end - begin;
      }
      std::copy_n(window->room.begin() + static_cast<std::ptrdiff_t>(offset - begin), part,
                  out.begin());
      offset += part;
      out = out.subspan(part);
    }
    return Status();
  }

 private:
  static constexpr std::uint64_t kWindow = 1 << 20;
  static constexpr std::size_t kMostWindows = 64;

  struct Window {
    std::mutex mutex;
    std::uint64_t begin = 0;  // file offset of the bytes
    std::uint64_t length = 0;
    std::vector<std::byte> room;  // at least `length` bytes
    std::uint64_t last_use = 0;   // protected by RecentBytes::mutex_
  };

  std::optional<ByteRange> run_of(std::uint64_t offset, std::uint64_t length) const {
    const std::lock_guard lock(mutex_);
    const auto after = runs_.upper_bound(offset);
    if (after == runs_.begin()) return std::nullopt;
    const auto& [begin, end] = *std::prev(after);
    if (offset >= end || length > end - offset) return std::nullopt;
    return ByteRange{begin, end};
  }

  // Returns the window that begins at `begin`. A new window takes the memory of the window that was
  // not used for the longest time.
  std::shared_ptr<Window> window_at(std::uint64_t begin) {
    const std::lock_guard lock(mutex_);
    auto found = windows_.find(begin);
    if (found == windows_.end()) {
      std::shared_ptr<Window> window = taken_window();
      if (!window) window = std::make_shared<Window>();
      found = windows_.emplace(begin, std::move(window)).first;
    }
    found->second->last_use = ++uses_;
    return found->second;
  }

  // Removes the window that was not used for the longest time, and returns it. Returns nullptr if
  // there are few windows, or if all are in use.
  std::shared_ptr<Window> taken_window() {
    if (windows_.size() < kMostWindows) return nullptr;
    auto oldest = windows_.end();
    for (auto one = windows_.begin(); one != windows_.end(); ++one)
      if (one->second.use_count() == 1 &&
          (oldest == windows_.end() || one->second->last_use < oldest->second->last_use))
        oldest = one;
    if (oldest == windows_.end()) return nullptr;
    std::shared_ptr<Window> window = std::move(oldest->second);
    windows_.erase(oldest);
    return window;
  }

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> runs_;               // end of each run, by its begin
  std::map<std::uint64_t, std::shared_ptr<Window>> windows_;  // by begin
  std::uint64_t uses_ = 0;
};

}  // namespace nmb
