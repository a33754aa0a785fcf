// Sends bytes as differences from bytes that the sender and the receiver already have. This keeps
// messages short if they contain thousands of nearly equal headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/failure.h"

namespace nmb {

struct ByteChanges {
  enum class Kind : std::uint8_t { kNone, kMiddle, kRuns };
  struct Run {
    std::uint32_t begin, length;
  };
  Kind kind = Kind::kNone;
  std::uint64_t head = 0, tail = 0;  // kMiddle: how many bytes stay before and after the middle
  std::vector<Run> runs{};           // kRuns: the ranges that differ; the length stays
  std::vector<std::byte> bytes{};    // new bytes of the middle or of all runs

  template <class Fields>
  friend void fields(Fields& all, ByteChanges& changes) {
    all.choice(changes.kind, Kind::kRuns);
    if (changes.kind == Kind::kMiddle) all.small(changes.head, changes.tail);
    if (changes.kind == Kind::kRuns) all(changes.runs);
    if (changes.kind != Kind::kNone) all(changes.bytes);
  }
};

// Returns `bytes` as changes of *known, and then sets *known to `bytes`. *known: bytes that the
// receiver also has.
ByteChanges take_changes(std::span<const std::byte> bytes, std::vector<std::byte>* known);
// Applies the changes to *known. Errors: kDamaged if they do not fit.
Status apply_changes(const ByteChanges& changes, std::vector<std::byte>* known);

}  // namespace nmb
