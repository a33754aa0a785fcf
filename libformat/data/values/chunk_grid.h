// ChunkGrid: divides an array into chunks of the same shape (spec/extended.md, section 15.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "wire/failure.h"

namespace nmb {

// Returns the number of chunks that cover `length` elements.
constexpr std::uint64_t chunks_along(std::uint64_t length, std::uint64_t chunk) {
  return length / chunk + (length % chunk != 0);
}

// Returns the lengths of a chunk for an array with these lengths. The chunk consists of whole rows
// and has about 1 MiB; along a dimension of length 0, its length is 0.
std::vector<std::uint64_t> usual_chunk(std::span<const std::uint64_t> lengths,
                                       std::uint64_t value_size);

// Chunks are numbered by their position; the last dimension varies fastest.
class ChunkGrid {
 public:
  using Lengths = std::vector<std::uint64_t>;

  ChunkGrid() = default;  // empty; a grid can be assigned to it
  // lengths: lengths of the array's dimensions. chunk: lengths of a chunk. No length may be 0. An
  // array without dimensions is one chunk with one value. Errors: kLimit if the size of a chunk or
  // of the chunk table exceeds 64 bits.
  static Result<ChunkGrid> make(Lengths lengths, Lengths chunk, std::uint64_t value_size);

  const Lengths& lengths() const { return lengths_; }
  const Lengths& chunk() const { return chunk_; }
  std::uint64_t value_size() const { return value_size_; }
  std::uint64_t count() const { return count_; }
  // Returns the size of a decoded chunk in bytes.
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  // Returns the number of a chunk. place: position along each dimension, counted in chunks.
  std::uint64_t number_at(const Lengths& place) const;
  // Returns the index of the first value of a chunk.
  Lengths first_of(std::uint64_t number) const;
  // Returns how many indexes of the array a chunk covers along each dimension. first: index of the
  // chunk's first value.
  Lengths count_of(const Lengths& first) const;

 private:
  Lengths lengths_, chunk_;
  std::uint64_t value_size_ = 0, count_ = 1, chunk_bytes_ = 0;
};

// Calls visit(at) for each index of a box; the last dimension varies fastest. The box has at least
// one index. low: first index of the box. high: for each dimension, the index after the last one.
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
