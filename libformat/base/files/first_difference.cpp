#include "files/first_difference.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace nmb {

Result<std::optional<std::uint64_t>> first_different_byte(const ByteSlices& a, const ByteSlices& b,
                                                          std::uint64_t length,
                                                          std::uint64_t slices,
                                                          std::uint64_t at_once) {
  // Adjacent slices are compared together.
  if (slices > 1 && a.step == length && b.step == length) {
    length *= slices;
    slices = 1;
  }
  std::vector<std::byte> one(static_cast<std::size_t>(std::min(at_once, length)));
  std::vector<std::byte> other(one.size());
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    for (std::uint64_t at = 0; at < length; at += at_once) {
      const auto part = static_cast<std::size_t>(std::min(at_once, length - at));
      const auto mine = std::span(one).first(part), others = std::span(other).first(part);
      NMB_TRY(a.source->read_at(a.begin + slice * a.step + at, mine));
      NMB_TRY(b.source->read_at(b.begin + slice * b.step + at, others));
      if (std::memcmp(mine.data(), others.data(), part) == 0) continue;
      const auto byte = std::ranges::mismatch(mine, others).in1 - mine.begin();
      return std::optional(slice * length + at + static_cast<std::uint64_t>(byte));
    }
  }
  return std::optional<std::uint64_t>();
}

}  // namespace nmb
