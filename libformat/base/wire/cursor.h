// Cursor: reads a ByteSource forward through a window. Items of unknown length are read with a
// Cursor, because it reports that bytes are missing before memory is allocated for the item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/bytes.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

class Cursor {
 public:
  // The first window is small, because most headers are small.
  static constexpr std::uint64_t kFirstWindow = 16 * 1024;
  static constexpr std::uint64_t kWindow = 256 * 1024;

  // cut_rule: the rule that a failure names if the source ends too early.
  Cursor(const ByteSource& source, std::string cut_rule)
      : source_(source), size_(source.size()), cut_rule_(std::move(cut_rule)) {}

  std::uint64_t position() const { return window_begin_ + at_; }
  std::uint64_t remaining() const { return size_ - position(); }

  // Returns the next `count` bytes without moving the position. They are contiguous and valid until
  // the next peek(). Returns nullptr if they do not exist or cannot be read; status() then has the
  // error.
  const std::byte* peek(std::uint64_t count) {
    if (count <= window_size_ - at_) return window_.data() + at_;
    return fill(count);
  }
  // Skips `count` bytes that peek() has returned.
  void skip(std::uint64_t count) { at_ += count; }
  const Status& status() const { return status_; }

 private:
  const std::byte* fill(std::uint64_t count) {
    const std::uint64_t begin = position();
    if (count > remaining()) {
      status_ = Status(Code::kDamaged, source_.name(), size_, cut_rule_,
                       joined_text("cut: found ", size_, " bytes, expected at least ", count,
                                   " from ", begin, " on"));
      return nullptr;
    }
    std::uint64_t size = window_.empty() ? kFirstWindow : kWindow;
    if (size < count) size = count;
    if (size > size_ - begin) size = size_ - begin;
    // Bytes that the old window has are moved, not read again.
    const std::uint64_t kept = window_size_ - at_;
    if (kept > 0) std::memmove(window_.data(), window_.data() + at_, kept);
    if (window_.size() < size) window_.resize(size);
    window_begin_ = begin;
    at_ = 0;
    window_size_ = kept;
    status_ = source_.read_at(begin + kept, std::span(window_).subspan(kept, size - kept));
    if (!status_.ok()) return nullptr;
    window_size_ = size;
    return window_.data();
  }

  const ByteSource& source_;
  const std::uint64_t size_;
  const std::string cut_rule_;
  std::vector<std::byte> window_;
  std::uint64_t window_begin_ = 0;  // position of the window in the source
  std::uint64_t window_size_ = 0;   // filled bytes of window_
  std::uint64_t at_ = 0;            // current position in window_
  Status status_;
};

}  // namespace nmb
