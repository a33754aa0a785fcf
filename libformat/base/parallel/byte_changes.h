// Sends bytes as differences from bytes that sender and receiver already have. This keeps messages
// with thousands of nearly equal headers short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/failure.h"

namespace nmb {

struct ByteChanges {
  enum class Kind : std::uint8_t { kNone, kMiddle, kRuns };
  struct ChangedRange {
    std::uint32_t begin, length;
  };
  Kind kind = Kind::kNone;
  std::uint64_t head = 0, tail = 0;  // kMiddle: unchanged bytes before and after the middle
  std::vector<ChangedRange> runs{};  // kRuns: the ranges that differ; the length is unchanged
  std::vector<std::byte> bytes{};    // new bytes of the middle or of all runs

  template <class Fields>
  friend void fields(Fields& all, ByteChanges& changes) {
    all.choice(changes.kind, Kind::kRuns);
    if (changes.kind == Kind::kMiddle) all.small(changes.head, changes.tail);
    if (changes.kind == Kind::kRuns) all(changes.runs);
    if (changes.kind != Kind::kNone) all(changes.bytes);
  }
};

// Returns the changes from *known, which the receiver also has, to `bytes`. Then sets *known to
// `bytes`.
ByteChanges take_changes(std::span<const std::byte> bytes, std::vector<std::byte>* known);
// Applies the changes to *known. Errors: kDamaged if they do not fit.
Status apply_changes(const ByteChanges& changes, std::vector<std::byte>* known);

}  // namespace nmb
