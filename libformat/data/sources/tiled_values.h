// TiledValues: an array whose values come from several sources, each of which has one box of the
// array.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sources/value_source.h"
#include "wire/bytes.h"

namespace nmb {

// The boxes of an array, identified by their index.
struct TileBoxes {
  std::vector<std::uint64_t> shape;  // lengths of the array
  // For each box: the first index along each dimension, then the length along each dimension.
  std::vector<std::uint64_t> bounds{};

  std::size_t rank() const { return shape.size(); }
  std::size_t size() const { return rank() == 0 ? 0 : bounds.size() / (2 * rank()); }
  const std::uint64_t* firsts(std::size_t box) const { return bounds.data() + box * 2 * rank(); }
  const std::uint64_t* counts(std::size_t box) const { return firsts(box) + rank(); }
};

// The values of one box.
struct Tile {
  Source source;
  std::uint64_t offset = 0;       // offset of the first value in the source
  std::uint64_t record_step = 0;  // distance in bytes between indexes of the first dimension; 0 if
                                  // there are no gaps
  std::uint32_t box = 0;
};

// The array in row-major order. If several tiles have a value, it is taken from the first of them.
// Thread-safe.
struct TiledValues {
  std::shared_ptr<const TileBoxes> boxes;
  std::uint64_t value_size = 0;  // size of a value in bytes
  std::vector<Tile> tiles;
  // Source of the values that no tile has; nullptr if the tiles leave no gaps.
  Source gaps;
  std::string text;

  std::uint64_t size() const;
  const std::string& name() const { return text; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;

  // Returns the index of the first tile that has the element. At least one tile must have it.
  // element: index in row-major order.
  std::size_t tile_of(std::uint64_t element) const;
  // Returns the range of the array from the first to the last byte of the tile.
  ByteRange range_of(const Tile& tile) const;
  // Returns the same array with only the tiles that may have bytes in `wanted`.
  TiledValues shortened(ByteRange wanted) const;

 private:
  std::uint64_t at_or_behind(const Tile& tile, std::uint64_t offset) const;
  std::uint64_t place_of(const Tile& tile, std::uint64_t at) const;
  std::uint64_t bytes_of(const Tile& tile) const;
  Status read(const Tile& tile, std::uint64_t at, std::span<std::byte> out) const;
  Status copy(const Tile& tile, std::uint64_t offset, std::span<std::byte> out) const;
};

// Extends an array. from: the lengths of the array in `source`. to: the lengths of the result; no
// length may be smaller than in `from`. fill: the value of the additional elements.
Source padded_array(Source source, const std::vector<std::uint64_t>& from,
                    std::vector<std::uint64_t> to, std::vector<std::byte> fill);

}  // namespace nmb
