// ChunkGrid: divides an array into chunks of the same shape (spec/format.md, section 15.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nmb/status.h"

namespace nmb {

// Returns the number of chunks that cover `length` elements.
constexpr std::uint64_t chunks_along(std::uint64_t length, std::uint64_t chunk) {
  return length / chunk + (length % chunk != 0);
}

// Chooses chunks of whole rows with about 1 MiB each, for an array with the given lengths. A chunk
// has length 0 along a dimension of length 0.
std::vector<std::uint64_t> usual_chunk(std::span<const std::uint64_t> lengths,
                                       std::uint64_t value_size);

// Chunks are numbered in the order of their places, the last dimension fastest.
class ChunkGrid {
 public:
  using Lengths = std::vector<std::uint64_t>;

  ChunkGrid() = default;  // an empty object, to which a grid can be assigned
  // `lengths` are the lengths of the array's dimensions. `chunk` has the lengths of a chunk, none
  // of which is 0. An array without dimensions is one chunk with one value. Errors: kLimit if the
  // size of a chunk or of the chunk table exceeds 64 bits.
  static Result<ChunkGrid> make(Lengths lengths, Lengths chunk, std::uint64_t value_size);

  const Lengths& lengths() const { return lengths_; }
  const Lengths& chunk() const { return chunk_; }
  std::uint64_t value_size() const { return value_size_; }
  // Returns the number of chunks.
  std::uint64_t count() const { return count_; }
  // Returns the size of a decoded chunk in bytes.
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  // Returns the number of a chunk. `place` is counted in chunks.
  std::uint64_t number_at(const Lengths& place) const;
  // Returns the index of the first value of a chunk.
  Lengths first_of(std::uint64_t number) const;
  // Returns how many values of the array a chunk has along each dimension. `first` is the index of
  // its first value.
  Lengths count_of(const Lengths& first) const;

 private:
  Lengths lengths_, chunk_;
  std::uint64_t value_size_ = 0, count_ = 1, chunk_bytes_ = 0;
};

// Calls visit(at) for each index of a box, the last dimension fastest. The box has at least one
// index. `low` is its first index. Along each dimension, indexes are less than in `high`.
template <class Visit>
Status for_each_index(const ChunkGrid::Lengths& low, const ChunkGrid::Lengths& high,
                      const Visit& visit) {
  ChunkGrid::Lengths at(low);
  for (;;) {
    NMB_TRY(visit(std::as_const(at)));
    std::size_t i = at.size();
    while (i > 0 && ++at[i - 1] == high[i - 1]) {
      --i;
      at[i] = low[i];
    }
    if (i == 0) return {};
  }
}

}  // namespace nmb
