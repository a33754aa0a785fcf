// CopyBuffer: memory through which bytes go from file to file (spec/rationale.md, "Writing
// values").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace nmb {

// Whether a copy from one address to the other is one of the slow ones: with a target 1 to 31 bytes
// ahead of the source, modulo 4,096, processors take each load for one of what was just stored. The
// kernel's copies of a file take three to five times as long then. An offset in a file stands for
// the address of its page.
constexpr bool copies_slowly(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t ahead = (to - from) % 4096;
  return ahead > 0 && ahead < 32;
}

inline constexpr std::size_t kMostCopyShift = 128;

// How far behind a multiple of 4,096 bytes are to lie that are read at offset `from` of a file and
// written at `to` of another: where neither copy is slow, and what is written lies in its cache
// lines as it will in those of the file.
constexpr std::size_t copy_shift(std::uint64_t from, std::uint64_t to) {
  const std::size_t shift = to % 64;
  return copies_slowly(from, shift) ? shift + 64 : shift;
}

// Not for several threads at once.
class CopyBuffer {
 public:
  CopyBuffer() = default;
  // For rooms of this many bytes.
  explicit CopyBuffer(std::size_t size) { reserve(size); }
  // `size` bytes that are to be read at `from` and written at `to`. Valid until the next call; not
  // initialised.
  std::span<std::byte> room(std::size_t size, std::uint64_t from, std::uint64_t to) {
    if (!bytes_ || size > size_) reserve(std::max(size, std::min<std::size_t>(2 * size_, 1 << 20)));
    return {bytes_.get() + copy_shift(from, to), size};
  }
  // That are only read.
  std::span<std::byte> room(std::size_t size, std::uint64_t from) { return room(size, from, 0); }

 private:
  void reserve(std::size_t size) {
    bytes_.reset();  // not both at once
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
