// WriteBuffer: joins writes that follow each other in the file, with no gap or a small gap between
// them, into one write of at most `capacity` bytes (1 MiB by default).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "files/files.h"
#include "ranks/interval_set.h"

namespace nmb {

// The bytes in a gap are read from the file and written again. Gaps contain no committed bytes,
// because all bytes that are written through the buffer come after the committed bytes. Gaps are
// filled only in ranges that belong to the buffer, so nobody else writes to a gap meanwhile. Not
// thread-safe.
class WriteBuffer {
 public:
  static constexpr std::size_t kCapacity = 1 << 20;
  // Capacity of a buffer if several ranks write the file, each of them a part.
  static constexpr std::size_t kOfSeveral = 256 << 10;

  explicit WriteBuffer(OutputFile& file, std::size_t capacity = kCapacity)
      : file_(file), capacity_(capacity) {}

  // Sets the ranges of the file that belong to this buffer. From now on, nobody else writes to
  // these ranges. `ranges` may be empty.
  void set_own(std::vector<Interval> ranges) { own_ = std::move(ranges); }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    const std::uint64_t gap = offset - end();
    const bool follows =
        gap == 0 || (gap <= kGap && offset > end() && !bytes_.empty() && is_own(end(), offset));
    if (!follows || bytes_.size() + gap + bytes.size() > capacity_) {
      NMB_TRY(flush());
      position_ = offset;
    } else if (gap != 0) {
      NMB_TRY(fill_gap(gap));
    }
    if (bytes.size() >= capacity_) {
      NMB_TRY(file_.write_at(offset, bytes));
      position_ = offset + bytes.size();
      return {};
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }

  Status flush() {
    if (bytes_.empty()) return {};
    NMB_TRY(file_.write_at(position_, bytes_));
    position_ += bytes_.size();
    drop();
    return {};
  }

  // Writes all bytes to the file first: callers rely on it.
  Status read_at(std::uint64_t offset, std::span<std::byte> out) {
    NMB_TRY(flush());
    return file_.read_at(offset, out);
  }

  // Reads bytes that were written through this buffer or are in the file, with few writes.
  Status read_back(std::uint64_t offset, std::span<std::byte> out) {
    if (bytes_.empty() || offset < position_ || offset + out.size() > end())
      return read_at(offset, out);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset - position_), out.size(),
                out.begin());
    return {};
  }

  // Forgets bytes that were not written to the file yet.
  void drop() {
    bytes_.clear();
    ahead_.clear();
  }

 private:
  std::uint64_t end() const { return position_ + bytes_.size(); }
  bool is_own(std::uint64_t from, std::uint64_t to) const {
    return std::ranges::any_of(
        own_, [&](const Interval& own) { return own.begin <= from && to <= own.end; });
  }

  Status fill_gap(std::uint64_t gap) {
    if (ahead_.empty() || end() + gap > ahead_position_ + ahead_.size()) {
      // Each read is longer than the previous one, because a gap is usually followed by more gaps.
      ahead_.resize(std::min(
          {std::max(kFirstAhead, ahead_.size() * 8), capacity_ - bytes_.size(), kCapacity}));
      ahead_position_ = end();
      NMB_TRY(file_.read_at(ahead_position_, ahead_));
    }
    auto found = std::span(ahead_).subspan(end() - ahead_position_, gap);
    bytes_.insert(bytes_.end(), found.begin(), found.end());
    return {};
  }

  // Largest gap in bytes that is filled. Writing a small gap is cheaper than another system call,
  // and it usually needs no additional file-system block.
  static constexpr std::size_t kGap = 1024;
  static constexpr std::size_t kFirstAhead = 4096;
  OutputFile& file_;
  const std::size_t capacity_;
  std::vector<Interval> own_{{0, ~std::uint64_t{0}}};
  std::uint64_t position_ = 0;
  std::vector<std::byte> bytes_;
  std::uint64_t ahead_position_ = 0;
  std::vector<std::byte> ahead_;  // bytes of the file, read ahead from ahead_position_
};

}  // namespace nmb
