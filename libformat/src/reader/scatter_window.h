// ScatterWindow: parts of extents that lie near each other in a file share a read, and go to who
// asked for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/extent/extent_source.h"
#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb {

inline constexpr std::uint64_t kScatterWindow = std::uint64_t{1} << 20;  // bytes of a read at most
inline constexpr std::uint64_t kScatterGap = 32768;  // bytes nobody asked for, read over at most

// A selection being read: an array, and what became of it.
struct GetTarget {
  Type type;
  MemoryType memory;
  Kind kind;
  std::byte* out;
  std::uint64_t out_of_range = 0;
  // The first bytes of an element that two pieces of the extent divide.
  std::array<std::byte, 8> divided{};
  Status status{};  // its first failure; nothing is read for it from then on
};

// Pieces are checked as reading an extent alone would: those that a read covers whole, or, where
// the extent verifies, all that are touched, which are then read whole. For that a piece begins a
// new window unless it fits into the current one to its end. Not thread-safe.
class ScatterWindow {
 public:
  explicit ScatterWindow(std::span<GetTarget> targets) : targets_(targets) {}

  // Bytes [offset, offset + length) of `source` are those from `at` on of what the target takes,
  // in external form. Of each target they come in ascending order. `source` outlives flush().
  void add(const ExtentSource& source, std::uint32_t target, std::uint64_t offset, std::uint64_t at,
           std::uint64_t length);
  void flush();

 private:
  struct Part {
    std::uint32_t place, length;  // in the window
    std::uint32_t target;
    std::uint64_t at;
  };
  // Bytes of the window that belong to one extent.
  struct Cover {
    const ExtentSource* source;
    std::uint64_t offset;  // in the extent
    std::uint64_t place, length;
  };
  // Bytes [from, to) of the window that are not to be had.
  struct Damage {
    std::uint64_t from, to;
    Status why;
  };
  static constexpr std::size_t kMaxParts = 32768;
  static constexpr std::size_t kMaxDamages = 64;  // more of one window are one

  std::uint64_t join(const ExtentSource& source, std::uint32_t target, std::uint64_t offset,
                     std::uint64_t at, std::uint64_t length);
  std::uint64_t read_alone(const ExtentSource& source, std::uint32_t target, std::uint64_t offset,
                           std::uint64_t at, std::uint64_t length);
  bool takes(const ExtentSource& source, std::uint64_t position) const;
  bool holds(const ExtentSource& source, std::uint64_t from, std::uint64_t position,
             std::uint64_t length) const;
  void check(const Cover& cover);
  void take(std::uint32_t target, std::uint64_t at, std::span<const std::byte> bytes);
  void fail(std::uint32_t target, const Status& why);
  // Who takes bytes of [from, to) of the window, now or later, fails.
  void damage(std::uint64_t from, std::uint64_t to, const Status& why);
  void give(const Part& part);
  std::span<std::byte> buffer();

  std::span<GetTarget> targets_;
  const ExtentSource* last_source_ = nullptr;
  ExtentSource::Stretch stretch_;  // of last_source_, the last one asked for
  const ByteSource* file_ = nullptr;
  std::uint64_t begin_ = 0;  // in the file
  std::uint64_t used_ = 0;   // bytes to be read
  std::uint64_t read_ = 0;   // bytes that were: they stay in the buffer until others are asked for
  std::vector<Part> parts_;
  std::vector<Cover> covers_;
  std::vector<Damage> damages_;
  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace nmb
