// Reads the selected values into windows. Runs of values that are near each other are read
// together.
#include "values/gather.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace nmb {
namespace {

using Take = std::function<Status(std::span<const std::byte>)>;

// Collects pieces that are near each other in the extent, and reads them together.
class Window {
 public:
  // size: the largest size of the window in bytes; at least the size of one element.
  Window(const ByteSource& extent, std::uint64_t size, std::uint64_t element, const Take& take)
      : extent_(extent), take_(take), size_(size), element_(element) {}

  // Runs must be added in ascending order of their offsets.
  Status add(std::uint64_t offset, std::uint64_t bytes) {
    while (bytes > 0) {
      const std::uint64_t end = begin_ + used_;
      if (!pieces_.empty() &&
          (pieces_.size() == kMaxPieces || offset - end > kGatherHole || offset - begin_ >= size_))
        NMB_TRY(flush());
      if (pieces_.empty()) begin_ = offset;
      const std::uint64_t place = offset - begin_;
      std::uint64_t part = std::min(bytes, size_ - place);
      // No element is divided between two windows.
      part -= part % element_;
      if (part == 0) {
        NMB_TRY(flush());
        continue;
      }
      pieces_.push_back({static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(part)});
      used_ = place + part;
      offset += part;
      bytes -= part;
    }
    return {};
  }

  Status flush() {
    if (pieces_.empty()) return {};
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(size_);
    NMB_TRY(extent_.read_at(begin_, {buffer_.get(), used_}));
    std::size_t packed = 0;
    for (const WindowRange& piece : pieces_) {
      if (piece.offset != packed)
        std::memmove(buffer_.get() + packed, buffer_.get() + piece.offset, piece.bytes);
      packed += piece.bytes;
    }
    pieces_.clear();
    used_ = 0;
    return take_({buffer_.get(), packed});
  }

 private:
  struct WindowRange {
    std::uint32_t offset, bytes;  // range in the window
  };
  static constexpr std::size_t kMaxPieces = 65536;  // 512 KiB

  const ByteSource& extent_;
  const Take& take_;
  const std::uint64_t size_;
  const std::uint64_t element_;
  std::uint64_t begin_ = 0, used_ = 0;
  std::vector<WindowRange> pieces_;
  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace

Status gather(const VariableShape& shape, const Hyperslab& slab, const ByteSource& extent,
              const Take& take) {
  // A small extent needs only a small buffer, but the buffer must hold at least one element.
  const std::uint64_t size =
      std::max(std::clamp<std::uint64_t>(extent.size(), 8, kGatherWindow), shape.element_size);
  Window window(extent, size, shape.element_size, take);
  NMB_TRY(for_each_run(shape, slab, [&](std::uint64_t offset, std::uint64_t, std::uint64_t count) {
    return window.add(offset, count * shape.element_size);
  }));
  return window.flush();
}

}  // namespace nmb
