// Arrays that are put together from boxes, against one that is filled value by value, and whether
// boxes cover an array.
#include "sources/tiled_values.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "merge/uniting/tile_cover.h"
#include "sources/value_source.h"
#include "support/counting_source.h"

namespace nmb {
namespace {

using Indexes = std::vector<std::uint64_t>;

void add_box(TileBoxes* boxes, const Indexes& firsts, const Indexes& counts) {
  boxes->bounds.insert(boxes->bounds.end(), firsts.begin(), firsts.end());
  boxes->bounds.insert(boxes->bounds.end(), counts.begin(), counts.end());
}

std::uint64_t product(const Indexes& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{1}, std::multiplies<>());
}

// Calls visit(element) with the elements of a box, in row-major order.
template <class Visit>
void for_each_element(const TileBoxes& boxes, std::uint32_t box, Visit visit) {
  Indexes index(boxes.rank());
  const std::span counts(boxes.counts(box), boxes.rank());
  if (std::ranges::count(counts, 0u) > 0) return;
  while (true) {
    std::uint64_t element = 0;
    for (std::size_t d = 0; d < boxes.rank(); ++d)
      element = element * boxes.shape[d] + boxes.firsts(box)[d] + index[d];
    visit(element);
    std::size_t d = boxes.rank();
    while (d > 0 && ++index[d - 1] == counts[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

TEST(TiledValues, AreWhatEachValuePutInItsPlaceMakes) {
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t value_size = std::uint64_t{1} << below(4);
    auto boxes = std::make_shared<TileBoxes>();
    for (std::uint64_t d = 1 + below(4); d-- > 0;) boxes->shape.push_back(1 + below(7));
    const std::uint64_t elements = product(boxes->shape);
    std::vector<std::byte> expected(elements * value_size, std::byte{0xEE});
    std::vector<bool> taken(elements);
    std::vector<Tile> tiles;
    unsigned next = 0;
    for (std::uint32_t box = 0; box < 5; ++box) {
      Indexes firsts, counts;
      for (const std::uint64_t length : boxes->shape) {
        firsts.push_back(below(length + 1));
        counts.push_back(below(length - firsts.back() + 1));
      }
      add_box(boxes.get(), firsts, counts);
      // Records of the first dimension with something between them, every other time.
      const std::uint64_t bytes = product(counts) * value_size;
      const std::uint64_t record = counts[0] == 0 ? 0 : bytes / counts[0];
      const std::uint64_t step = below(2) ? 0 : record + 3;
      std::vector<std::byte> values(5 + (step == 0 ? bytes : counts[0] * step), std::byte{0xDD});
      std::uint64_t done = 0;
      for_each_element(*boxes, box, [&](std::uint64_t element) {
        for (std::uint64_t b = 0; b < value_size; ++b, ++done) {
          const auto value = static_cast<std::byte>(next++ % 199);
          values[5 + (step == 0 ? done : done / record * step + done % record)] = value;
          if (!taken[element]) expected[element * value_size + b] = value;
        }
        taken[element] = true;
      });
      tiles.push_back({owned_bytes(std::move(values), "tile"), 5, step, box});
    }
    const TiledValues tiled{
        boxes, value_size, tiles,
        source_of(form::Repeated{std::vector<std::byte>(value_size, std::byte{0xEE})}), ""};
    ASSERT_EQ(tiled.size(), expected.size());
    for (int read = 0; read < 10; ++read) {
      const std::uint64_t from = below(expected.size() + 1);
      std::vector<std::byte> found(below(expected.size() - from + 1));
      ASSERT_TRUE(tiled.read_at(from, found).ok());
      ASSERT_TRUE(std::ranges::equal(found, std::span(expected).subspan(from, found.size())));
    }
    for (std::uint64_t element = 0; element < elements; ++element) {
      const std::size_t tile = tiled.tile_of(element);
      ASSERT_EQ(tile < tiles.size(), taken[element]);
    }
    for (const Tile& tile : tiles) {
      std::uint64_t first = elements, last = 0;
      for_each_element(*boxes, tile.box, [&](std::uint64_t element) {
        first = std::min(first, element);
        last = element;
      });
      if (first < elements) {
        ASSERT_EQ(tiled.range_of(tile), (ByteRange{first * value_size, (last + 1) * value_size}));
      }
    }
  }
}

TEST(TiledValues, ReadEachTileInLongRuns) {
  auto boxes = std::make_shared<TileBoxes>(TileBoxes{{1000, 1000}});
  std::vector<Tile> tiles;
  std::vector<std::shared_ptr<test::CountingSource>> sources;
  for (std::uint32_t box = 0; box < 4; ++box) {
    add_box(boxes.get(), {box / 2 * 500, box % 2 * 500}, {500, 500});
    sources.push_back(std::make_shared<test::CountingSource>(
        owned_bytes(std::vector<std::byte>(250000 * 4), "tile")));
    tiles.push_back({sources.back(), 0, 0, box});
  }
  const TiledValues tiled{boxes, 4, tiles, nullptr, ""};
  std::vector<std::byte> part(1 << 18);
  for (std::uint64_t at = 0; at < tiled.size(); at += part.size())
    ASSERT_TRUE(tiled
                    .read_at(at, std::span(part).first(
                                     std::min<std::uint64_t>(part.size(), tiled.size() - at)))
                    .ok());
  // 16 parts, two tiles each; a row is 2 KB of a tile.
  for (const auto& source : sources) EXPECT_LE(source->reads(), 11u);
}

TEST(TileCover, TellsGapsAndOverlaps) {
  TileBoxes boxes{{4, 6}};
  add_box(&boxes, {0, 0}, {2, 6});
  add_box(&boxes, {2, 0}, {2, 2});
  add_box(&boxes, {3, 4}, {1, 2});
  add_box(&boxes, {1, 1}, {2, 1});
  const Result<TileCover> cover = cover_of(boxes, std::vector<std::uint32_t>{0, 1, 2, 3});
  ASSERT_TRUE(cover.ok());
  EXPECT_EQ(cover->overlapping, std::vector<std::uint32_t>{3});
  EXPECT_EQ(cover->gaps, (std::vector<TileRegion>{{{2, 1}, {2, 4}}, {{3, 1}, {2, 2}}}));
  const Result<TileCover> less = cover_of(boxes, std::vector<std::uint32_t>{1});
  ASSERT_TRUE(less.ok());
  EXPECT_EQ(less->gaps, (std::vector<TileRegion>{{{0, 2}, {0, 6}}, {{2, 2}, {2, 4}}}));
  EXPECT_TRUE(cover_of({{3, 0}}, {})->gaps.empty());
}

TEST(TileCover, HasALimit) {
  TileBoxes boxes{{100000, 100000}};
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    add_box(&boxes, {i, i}, {1, 1});
    all.push_back(i);
  }
  EXPECT_EQ(cover_of(boxes, all).status().code(), Code::kLimit);
}

}  // namespace
}  // namespace nmb
