// ScatterWindow: reads parts of several extents, and passes each part to the request that needs it.
// Parts near each other in the file are read together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "extent/extent_source.h"
#include "files/copy_buffer.h"
#include "model/values.h"
#include "wire/failure.h"

namespace nmb {

inline constexpr std::uint64_t kScatterWindow = std::uint64_t{1} << 20;  // bytes of one read
inline constexpr std::uint64_t kScatterGap = 32768;  // the most bytes between two parts that are
                                                     // read together

// The target of one request: the array for the selected values, and the status of the request.
struct GetTarget {
  Type type;
  MemoryType memory;
  Kind kind;
  std::byte* out;
  std::uint64_t out_of_range = 0;
  // The first bytes of an element that lies in two pieces of the extent.
  std::array<std::byte, 8> divided{};
  Status status{};  // first error, after which nothing more is read for this selection
};

// Pieces are checked as if each extent were read alone: a piece is checked if the read covers it
// completely. If the extent verifies its values, all pieces that the read overlaps are read
// completely and checked. So a piece that does not fit into the current window begins a new window.
// Not thread-safe.
class ScatterWindow {
 public:
  explicit ScatterWindow(std::span<GetTarget> targets) : targets_(targets) {}
  ScatterWindow(const ScatterWindow&) = delete;
  ScatterWindow& operator=(const ScatterWindow&) = delete;
  ~ScatterWindow();

  // Requests the bytes [offset, offset + length) of `source` for `target`. They lie at offset `at`
  // of the target's values in external form. The requests for a target must be in ascending order.
  // `source` must outlive flush().
  void add(const ExtentSource& source, std::uint32_t target, std::uint64_t offset, std::uint64_t at,
           std::uint64_t length);
  void flush();

 private:
  struct ScatterElement {
    std::uint32_t place, length;  // range in the window
    std::uint32_t target;
    std::uint64_t at;
  };
  // The bytes of the window that belong to one extent.
  struct Cover {
    const ExtentSource* source;
    std::uint64_t offset;  // offset in the extent
    std::uint64_t place, length;
  };
  // Bytes [from, to) of the window that cannot be read.
  struct Damage {
    std::uint64_t from, to;
    Status why;
  };
  static constexpr std::size_t kMaxParts = 32768;
  static constexpr std::size_t kMaxDamages = 64;  // after this many damaged ranges of a window, the
                                                  // last one grows to cover the rest

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
  // Marks the bytes [from, to) of the window as unreadable. give() then sets the error for each
  // target that needs one of them.
  void damage(std::uint64_t from, std::uint64_t to, const Status& why);
  void give(const ScatterElement& part);
  // Returns memory for bytes that are read at this position of the file. Returns the same memory
  // for the same position, with its content if it was not longer before.
  std::span<std::byte> buffer(std::uint64_t bytes, std::uint64_t position) {
    return buffer_.room(bytes, position, position);
  }

  std::span<GetTarget> targets_;
  const ExtentSource* last_source_ = nullptr;
  ExtentSource::ContiguousRange range_;  // range of last_source_ with the last requested byte
  const ByteSource* file_ = nullptr;
  std::uint64_t begin_ = 0;  // position of the window in the file
  std::uint64_t used_ = 0;   // number of bytes that flush() must read
  std::uint64_t read_ = 0;   // number of bytes that flush() has read; they stay in the buffer until
                             // the next request
  std::vector<ScatterElement> parts_;
  std::vector<Cover> covers_;
  std::vector<Damage> damages_;
  // The thread keeps the memory for its next window. Otherwise, a program that reads small samples
  // would spend much of its time in malloc().
  static CopyBuffer& spare();
  CopyBuffer buffer_ = std::move(spare());
};

}  // namespace nmb
