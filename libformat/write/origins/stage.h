// Stage: stores values that were put before they had a place in the file. The next collective call
// assigns places to the waiting values (spec/rationale.md, "Values that wait for space").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wire/failure.h"

namespace nmb {

// The stage keeps the values in memory and has room for kMost bytes. Not thread-safe.
class Stage {
 public:
  static constexpr std::uint64_t kMost = 64 << 20;

  // Returns the number of bytes appended so far, which is the offset of the next byte in the stage.
  std::uint64_t size() const { return bytes_.size(); }
  // Errors: kLimit if the stage would have more than kMost bytes.
  Status append(std::span<const std::byte> bytes);
  std::span<const std::byte> at(std::uint64_t offset, std::uint64_t length) const {
    return std::span(bytes_).subspan(offset, length);
  }
  void clear() { bytes_ = {}; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace nmb
