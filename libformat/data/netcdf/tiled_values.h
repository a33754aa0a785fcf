// TiledValues: an array whose values come from several sources. Each source has the values of one
// box of the array.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nmb/bytes.h"

namespace nmb {

// The boxes of an array. A box is identified by its index.
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
  std::shared_ptr<const ByteSource> source;
  std::uint64_t offset;       // offset of the first value in the source
  std::uint64_t record_step;  // distance in bytes between indexes of the first dimension; 0 if
                              // there are no gaps
  std::uint32_t box;
};

// The array in row-major order. If several tiles have a value, the value is taken from the first of
// these tiles. Thread-safe.
class TiledValues final : public ByteSource {
 public:
  // value_size: size of a value in bytes. gaps: source of the values that no tile has; nullptr if
  // the tiles leave no gaps.
  TiledValues(std::shared_ptr<const TileBoxes> boxes, std::uint64_t value_size,
              std::vector<Tile> tiles, std::shared_ptr<const ByteSource> gaps, std::string name)
      : boxes_(std::move(boxes)),
        value_size_(value_size),
        tiles_(std::move(tiles)),
        gaps_(std::move(gaps)),
        name_(std::move(name)) {}

  std::uint64_t size() const override;
  const std::string& name() const override { return name_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;

  // Returns the index of the first tile that has the element. At least one tile must have the
  // element. element: index of the element in row-major order.
  std::size_t tile_of(std::uint64_t element) const;
  // Returns the range of the array from the first byte to the last byte of the tile.
  std::pair<std::uint64_t, std::uint64_t> range_of(const Tile& tile) const;

  const TileBoxes& boxes() const { return *boxes_; }
  std::uint64_t value_size() const { return value_size_; }
  const std::shared_ptr<const ByteSource>& gaps() const { return gaps_; }
  // Returns the tiles that may have bytes in `wanted`, in their order.
  std::vector<Tile> tiles_in(ByteRange wanted) const;

 private:
  std::uint64_t at_or_behind(const Tile& tile, std::uint64_t offset) const;
  std::uint64_t place_of(const Tile& tile, std::uint64_t at) const;
  std::uint64_t bytes_of(const Tile& tile) const;
  Status read(const Tile& tile, std::uint64_t at, std::span<std::byte> out) const;
  Status copy(const Tile& tile, std::uint64_t offset, std::span<std::byte> out) const;

  const std::shared_ptr<const TileBoxes> boxes_;
  const std::uint64_t value_size_;
  const std::vector<Tile> tiles_;
  const std::shared_ptr<const ByteSource> gaps_;
  const std::string name_;
};

// Extends an array. from: the lengths of the array in `source`. to: the lengths of the result; no
// length may be smaller than in `from`. fill: the value of the additional elements.
std::shared_ptr<const ByteSource> padded_array(std::shared_ptr<const ByteSource> source,
                                               const std::vector<std::uint64_t>& from,
                                               std::vector<std::uint64_t> to,
                                               std::vector<std::byte> fill);

}  // namespace nmb
