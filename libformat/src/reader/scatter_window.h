// ScatterWindow: parts of extents that are near each other in a file share a read and are then
// given to their requests.
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

inline constexpr std::uint64_t kScatterWindow = std::uint64_t{1} << 20;  // bytes of a read
inline constexpr std::uint64_t kScatterGap = 32768;  // most unneeded bytes between two parts of a
                                                     // read

// A selection being read: an array, and its status.
struct GetTarget {
  Type type;
  MemoryType memory;
  Kind kind;
  std::byte* out;
  std::uint64_t out_of_range = 0;
  // The first bytes of an element that two pieces of the extent divide.
  std::array<std::byte, 8> divided{};
  Status status{};  // its first failure; afterwards nothing is read for it
};

// Pieces are checked as if each extent were read alone: those that a read covers completely or, if
// the extent verifies, all pieces that it overlaps, which are then read completely. For this
// purpose, a piece begins a new window unless all of it fits into the current one. Not thread-safe.
class ScatterWindow {
 public:
  explicit ScatterWindow(std::span<GetTarget> targets) : targets_(targets) {}

  // Requests bytes [offset, offset + length) of `source`, which are the bytes from `at` on of the
  // target's values in external form. For each target they come in ascending order. `source` must
  // outlive flush().
  void add(const ExtentSource& source, std::uint32_t target, std::uint64_t offset, std::uint64_t at,
           std::uint64_t length);
  void flush();

 private:
  struct Part {
    std::uint32_t place, length;  // in the window
    std::uint32_t target;
    std::uint64_t at;
  };
  // The bytes of the window that belong to one extent.
  struct Cover {
    const ExtentSource* source;
    std::uint64_t offset;  // in the extent
    std::uint64_t place, length;
  };
  // Bytes [from, to) of the window that cannot be read.
  struct Damage {
    std::uint64_t from, to;
    Status why;
  };
  static constexpr std::size_t kMaxParts = 32768;
  static constexpr std::size_t kMaxDamages = 64;  // more damages in one window are joined

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
  // Fails all targets that use bytes of [from, to) of the window, now or later.
  void damage(std::uint64_t from, std::uint64_t to, const Status& why);
  void give(const Part& part);
  std::span<std::byte> buffer();

  std::span<GetTarget> targets_;
  const ExtentSource* last_source_ = nullptr;
  ExtentSource::Stretch stretch_;  // in last_source_, the last requested source
  const ByteSource* file_ = nullptr;
  std::uint64_t begin_ = 0;  // in the file
  std::uint64_t used_ = 0;   // number of bytes to read
  std::uint64_t read_ = 0;   // number of bytes that were read: they stay in the buffer until the
                             // next request
  std::vector<Part> parts_;
  std::vector<Cover> covers_;
  std::vector<Damage> damages_;
  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace nmb
