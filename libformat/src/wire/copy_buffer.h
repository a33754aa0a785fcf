// CopyBuffer: memory for copying bytes from file to file (spec/rationale.md, "Writing values").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace nmb {

// Returns whether a copy between the addresses is slow: if the target lies 1 to 31 bytes before the
// source, modulo 4,096, processors mistake each load for one of the bytes just stored, and the
// kernel's copies of a file take three to five times as long. An offset in a file stands for the
// address in its page.
constexpr bool copies_slowly(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t ahead = (to - from) % 4096;
  return ahead > 0 && ahead < 32;
}

inline constexpr std::size_t kMostCopyShift = 128;

// Returns how far after a multiple of 4,096 to place bytes that are read at offset `from` of one
// file and written at `to` of another, so that neither copy is slow and the bytes have the same
// offset in a cache line as in the output.
constexpr std::size_t copy_shift(std::uint64_t from, std::uint64_t to) {
  const std::size_t shift = to % 64;
  return copies_slowly(from, shift) ? shift + 64 : shift;
}

// Not thread-safe.
class CopyBuffer {
 public:
  CopyBuffer() = default;
  // For buffers of this many bytes.
  explicit CopyBuffer(std::size_t size) { reserve(size); }
  // Returns `size` bytes for a read at `from` and a write at `to`. Valid until the next call; not
  // initialized.
  std::span<std::byte> room(std::size_t size, std::uint64_t from, std::uint64_t to) {
    if (!bytes_ || size > size_) reserve(std::max(size, std::min<std::size_t>(2 * size_, 1 << 20)));
    return {bytes_.get() + copy_shift(from, to), size};
  }
  // Returns bytes that are only read.
  std::span<std::byte> room(std::size_t size, std::uint64_t from) { return room(size, from, 0); }

 private:
  void reserve(std::size_t size) {
    bytes_.reset();  // free the old memory first
    bytes_.reset(new (std::align_val_t{4096}) std::byte[size + kMostCopyShift]);
    size_ = size;
  }

  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{4096}); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace nmb
