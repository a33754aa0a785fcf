// CopyBuffer: memory for copying bytes from file to file (spec/rationale.md, "Writing values").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace nmb {

// Returns whether a copy between two addresses is slow. It is slow if the target address is 1 to 31
// bytes after the source address, modulo 4,096, because processors then mistake each load for a
// load of bytes that were just stored. The kernel then takes three to five times as long to copy
// file data. For a file, pass the offset in the file as the address.
constexpr bool copies_slowly(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t ahead = (to - from) % 4096;
  return ahead > 0 && ahead < 32;
}

inline constexpr std::size_t kMostCopyShift = 128;

// Returns the best address, modulo 4,096, for a buffer that receives bytes from offset `from` of
// one file, and is then written to offset `to` of another file. With this address, neither the read
// nor the write is slow. The address equals `to` modulo 64, the length of a cache line.
constexpr std::size_t copy_shift(std::uint64_t from, std::uint64_t to) {
  const std::size_t shift = to % 64;
  return copies_slowly(from, shift) ? shift + 64 : shift;
}

// Not thread-safe.
class CopyBuffer {
 public:
  CopyBuffer() = default;
  // Reserves memory for `size` bytes.
  explicit CopyBuffer(std::size_t size) { reserve(size); }
  // Returns memory for `size` bytes that the caller reads at offset `from` of a file and writes at
  // offset `to` of a file. It is uninitialized, and valid until the next call.
  std::span<std::byte> room(std::size_t size, std::uint64_t from, std::uint64_t to) {
    if (!bytes_ || size > size_) reserve(std::max(size, std::min<std::size_t>(2 * size_, 1 << 20)));
    return {bytes_.get() + copy_shift(from, to), size};
  }
  // Returns memory for bytes that are read from a file but not written to a file.
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
