// A tile's values have the same order in its source as in the array, so each range of the array
// contains a contiguous range of the tile.
#include "sources/tiled_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sources/value_source.h"

namespace nmb {

namespace {

constexpr std::uint64_t kPart = 1 << 20;  // bytes of a tile that are read at a time

}  // namespace

std::uint64_t TiledValues::size() const {
  std::uint64_t bytes = value_size;
  for (const std::uint64_t length : boxes->shape) bytes *= length;
  return bytes;
}

std::uint64_t TiledValues::bytes_of(const Tile& tile) const {
  std::uint64_t bytes = value_size;
  for (std::size_t d = 0; d < boxes->rank(); ++d) bytes *= boxes->counts(tile.box)[d];
  return bytes;
}

// Returns the offset in the tile of its first byte that lies at or after `offset` in the array.
std::uint64_t TiledValues::at_or_behind(const Tile& tile, std::uint64_t offset) const {
  const std::uint64_t* firsts = boxes->firsts(tile.box);
  const std::uint64_t* counts = boxes->counts(tile.box);
  std::uint64_t below = size(), below_in_tile = bytes_of(tile), at = 0;
  for (std::size_t d = 0; d < boxes->rank(); ++d) {
    below /= boxes->shape[d];
    below_in_tile /= counts[d];
    const std::uint64_t index = offset / below;
    if (index < firsts[d]) return at;
    if (index >= firsts[d] + counts[d]) return at + counts[d] * below_in_tile;
    at += (index - firsts[d]) * below_in_tile;
    offset %= below;
  }
  return at + offset;
}

// Returns the array offset of the byte at offset `at` of the tile.
std::uint64_t TiledValues::place_of(const Tile& tile, std::uint64_t at) const {
  const std::uint64_t* firsts = boxes->firsts(tile.box);
  const std::uint64_t* counts = boxes->counts(tile.box);
  std::uint64_t below = value_size, place = at % below;
  at /= below;
  for (std::size_t d = boxes->rank(); d-- > 0;) {
    place += (firsts[d] + at % counts[d]) * below;
    at /= counts[d];
    below *= boxes->shape[d];
  }
  return place;
}

ByteRange TiledValues::range_of(const Tile& tile) const {
  const std::uint64_t bytes = bytes_of(tile);
  if (bytes == 0) return {0, 0};
  return {place_of(tile, 0), place_of(tile, bytes - 1) + 1};
}

TiledValues TiledValues::shortened(ByteRange wanted) const {
  auto few = std::make_shared<TileBoxes>(TileBoxes{boxes->shape});
  TiledValues less{few, value_size, {}, gaps, text};
  for (const Tile& tile : tiles) {
    const auto [from, until] = range_of(tile);
    if (from >= wanted.end || until <= wanted.begin) continue;
    less.tiles.push_back(tile);
    less.tiles.back().box = static_cast<std::uint32_t>(few->size());
    const std::uint64_t* const bounds = boxes->firsts(tile.box);
    few->bounds.insert(few->bounds.end(), bounds, bounds + 2 * boxes->rank());
  }
  return less;
}

std::size_t TiledValues::tile_of(std::uint64_t element) const {
  const std::uint64_t offset = element * value_size;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const std::uint64_t bytes = bytes_of(tiles[i]);
    const std::uint64_t at = bytes == 0 ? 0 : at_or_behind(tiles[i], offset);
    if (at < bytes && place_of(tiles[i], at) == offset) return i;
  }
  return tiles.size();
}

// Reads values of the tile in the tile's own order.
Status TiledValues::read(const Tile& tile, std::uint64_t at, std::span<std::byte> out) const {
  if (tile.record_step == 0) return tile.source->read_at(tile.offset + at, out);
  const std::uint64_t record = bytes_of(tile) / boxes->counts(tile.box)[0];
  while (!out.empty()) {
    const std::uint64_t in_record = at % record;
    const auto here = out.first(std::min<std::uint64_t>(out.size(), record - in_record));
    NMB_TRY(tile.source->read_at(tile.offset + at / record * tile.record_step + in_record, here));
    out = out.subspan(here.size());
    at += here.size();
  }
  return {};
}

// Copies the part of the tile that lies in [offset, offset + out.size()) of the array.
Status TiledValues::copy(const Tile& tile, std::uint64_t offset, std::span<std::byte> out) const {
  if (bytes_of(tile) == 0) return {};
  const std::uint64_t end = at_or_behind(tile, offset + out.size());
  std::uint64_t at = at_or_behind(tile, offset);
  // A run is a range of the tile that is contiguous in the array.
  std::uint64_t run = value_size;
  for (std::size_t d = boxes->rank(); d-- > 0;) {
    run *= boxes->counts(tile.box)[d];
    if (boxes->counts(tile.box)[d] != boxes->shape[d]) break;
  }
  std::unique_ptr<std::byte[]> part;
  while (at < end) {
    const std::uint64_t run_end = std::min(end, at / run * run + run);
    const auto to = out.subspan(place_of(tile, at) - offset);
    if (run_end == end || run >= kPart) {
      NMB_TRY(read(tile, at, to.first(run_end - at)));
      at = run_end;
      continue;
    }
    if (!part) part = std::make_unique_for_overwrite<std::byte[]>(kPart);
    const std::uint64_t size = std::min(end - at, kPart);
    NMB_TRY(read(tile, at, {part.get(), size}));
    for (std::uint64_t done = 0; done < size;) {
      const std::uint64_t here = at + done;
      const std::uint64_t bytes = std::min(size - done, run - here % run);
      std::memcpy(out.data() + (place_of(tile, here) - offset), part.get() + done, bytes);
      done += bytes;
    }
    at += size;
  }
  return {};
}

Status TiledValues::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return {};
  if (gaps) NMB_TRY(gaps->read_at(offset, out));
  // The first tile takes precedence, so it is copied last.
  for (auto tile = tiles.rbegin(); tile != tiles.rend(); ++tile) NMB_TRY(copy(*tile, offset, out));
  return {};
}

Source padded_array(Source source, const std::vector<std::uint64_t>& from,
                    std::vector<std::uint64_t> to, std::vector<std::byte> fill) {
  TileBoxes boxes{std::move(to)};
  boxes.bounds.resize(from.size());
  boxes.bounds.insert(boxes.bounds.end(), from.begin(), from.end());
  const std::uint64_t value_size = fill.size();
  std::string name = source->name();
  return source_of(std::make_shared<const TiledValues>(
      TiledValues{std::make_shared<const TileBoxes>(std::move(boxes)),
                  value_size,
                  {{std::move(source), 0, 0, 0}},
                  source_of(form::Repeated{std::move(fill)}),
                  std::move(name)}));
}

}  // namespace nmb
