// GatheredChunk: chunks of random shapes, compared with values that are computed one by one.
#include "values/gathered_chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/extension.h"
#include "sources/value_source.h"
#include "wire/endian.h"

namespace nmb {
namespace {

using Lengths = ChunkGrid::Lengths;

constexpr std::uint64_t kSize = 4;
constexpr std::uint32_t kFill = 0x01020304, kUnwritten = 0x0a0b0c0d;

std::vector<std::byte> bytes_of(std::uint32_t value) {
  std::vector<std::byte> out(kSize);
  store_le(out.data(), value);
  return out;
}

// The value of an element is its position in the array.
std::uint32_t value_at(const Lengths& lengths, const Lengths& index) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) out = out * lengths[i] + index[i];
  return static_cast<std::uint32_t>(out);
}

class Case {
 public:
  explicit Case(unsigned seed) : random_(seed) {
    const auto rank = static_cast<std::size_t>(between(1, 3));
    for (std::size_t i = 0; i < rank; ++i) lengths_.push_back(between(1, 12));
  }

  ChunkGrid grid(Lengths lengths) {
    Lengths chunk;
    for (const std::uint64_t length : lengths) chunk.push_back(between(1, length + 2));
    return *ChunkGrid::make(std::move(lengths), std::move(chunk), kSize);
  }
  ChunkGrid grid() { return grid(lengths_); }

  // Stores a part of the array, from index `from` to `to` of the first dimension. Some chunks are
  // left out. The stored array may have more indexes, which are not part of the box.
  BoxInChunks box(std::uint64_t from, std::uint64_t to) {
    BoxInChunks out;
    out.first.assign(lengths_.size(), 0);
    out.first[0] = from;
    Lengths lengths = lengths_;
    std::uint64_t low = from;
    lengths[0] = to - from;
    if (between(0, 1) > 0) {
      low = between(0, from);
      const std::uint64_t high = between(to, lengths_[0]);
      out.part.emplace(BoxInChunks::Part{Lengths(lengths_.size(), 0), lengths});
      out.part->first[0] = from - low;
      lengths[0] = high - low;
    }
    out.grid = grid(std::move(lengths));
    out.fill = bytes_of(kUnwritten);
    const std::uint64_t count = out.grid.count();
    std::vector<std::byte> region(count * ChunkRow::kLength);
    for (std::uint64_t n = 0; n < count; ++n) {
      const Lengths first = out.grid.first_of(n);
      const bool is_written = between(0, 3) > 0;
      std::byte* const row = region.data() + n * ChunkRow::kLength;
      if (is_written) {
        store_le<std::uint64_t>(row, region.size());
        store_le<std::uint64_t>(row + 8, out.grid.chunk_bytes());
      }
      visit(out.grid, n, [&](const Lengths& index, bool is_inside) {
        Lengths whole(index);
        whole[0] += low;
        const bool is_in_box = is_inside && whole[0] >= from && whole[0] < to;
        if (!is_written && is_in_box) unwritten_.push_back(value_at(lengths_, whole));
        if (!is_written) return;
        const std::vector<std::byte> value = bytes_of(is_inside ? value_at(lengths_, whole) : 77);
        region.insert(region.end(), value.begin(), value.end());
      });
    }
    Storage storage;
    storage.chunk = out.grid.chunk();
    out.table = std::make_shared<const ChunkTable>(owned_bytes(std::move(region), "region"),
                                                   storage, kSize);
    if (between(0, 1) > 0) out.cache = std::make_shared<ChunkCache>(between(0, 4096));
    return out;
  }

  std::vector<std::byte> array() const {
    std::vector<std::byte> out;
    std::uint32_t values = 1;
    for (const std::uint64_t n : lengths_) values *= static_cast<std::uint32_t>(n);
    for (std::uint32_t n = 0; n < values; ++n) {
      const std::vector<std::byte> value = bytes_of(n);
      out.insert(out.end(), value.begin(), value.end());
    }
    return out;
  }

  // Checks a chunk. Values before index `from` of the first dimension are missing.
  void expect(const ChunkGrid& grid, std::uint64_t number, const std::vector<std::byte>& found,
              std::uint64_t from) const {
    ASSERT_EQ(found.size(), grid.chunk_bytes());
    std::size_t at = 0;
    visit(grid, number, [&](const Lengths& index, bool is_inside) {
      std::uint32_t wanted = kFill;
      if (is_inside && index[0] >= from) wanted = value_at(lengths_, index);
      if (wanted != kFill && std::ranges::count(unwritten_, wanted) > 0) wanted = kUnwritten;
      EXPECT_EQ(load_le<std::uint32_t>(found.data() + at), wanted);
      at += kSize;
    });
  }

  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }
  const Lengths& lengths() const { return lengths_; }

 private:
  // Calls take(index, is_inside) for each element of a chunk.
  template <class Take>
  static void visit(const ChunkGrid& grid, std::uint64_t number, const Take& take) {
    const Lengths first = grid.first_of(number);
    const Lengths zero(first.size(), 0);
    ASSERT_TRUE(for_each_index(zero, grid.chunk(), [&](const Lengths& at) {
                  Lengths index(first);
                  bool is_inside = true;
                  for (std::size_t i = 0; i < index.size(); ++i) {
                    index[i] += at[i];
                    is_inside = is_inside && index[i] < grid.lengths()[i];
                  }
                  take(index, is_inside);
                  return Status();
                }).ok());
  }

  std::mt19937 random_;
  Lengths lengths_;
  std::vector<std::uint32_t> unwritten_;  // values that no chunk has
};

TEST(GatheredChunkTest, ValuesOfSeveralBoxes) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Case one(seed);
    const std::uint64_t rows = one.lengths()[0];
    // The first rows are in no box.
    const std::uint64_t begin = one.between(0, rows - 1), middle = one.between(begin, rows);
    std::vector<BoxInChunks> boxes;
    if (middle > begin) boxes.push_back(one.box(begin, middle));
    if (rows > middle) boxes.push_back(one.box(middle, rows));
    const ChunkGrid grid = one.grid();
    const std::vector<std::byte> fill = bytes_of(kFill);
    for (std::uint64_t number = 0; number < grid.count(); ++number) {
      GatheredChunk chunk(grid, number, fill);
      std::uint64_t found = 0;
      for (const BoxInChunks& box : boxes) found += *chunk.add(box);
      const std::uint64_t first = grid.first_of(number)[0];
      const std::uint64_t last = std::min(first + grid.chunk()[0], rows);
      const std::uint64_t there = last - std::clamp(begin, first, last);
      std::uint64_t expected = there;
      const Lengths count = grid.count_of(grid.first_of(number));
      for (std::size_t i = 1; i < count.size(); ++i) expected *= count[i];
      EXPECT_EQ(found, expected);
      if (there > 0) one.expect(grid, number, chunk.take(), begin);
    }
  }
}

TEST(GatheredChunkTest, ValuesOfAnArray) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Case one(seed);
    const std::vector<std::byte> bytes = one.array();
    const MemorySource array(bytes);
    const ChunkGrid grid = one.grid();
    const std::vector<std::byte> fill = bytes_of(kFill);
    for (std::uint64_t number = 0; number < grid.count(); ++number) {
      GatheredChunk chunk(grid, number, fill);
      ASSERT_TRUE(chunk.add(array).ok());
      one.expect(grid, number, chunk.take(), 0);
    }
  }
}

// Chunks whose unwritten values equal the fill value of the new chunk stay unwritten.
TEST(GatheredChunkTest, UnwrittenChunks) {
  BoxInChunks box;
  box.first = {0};
  box.grid = *ChunkGrid::make({8}, {2}, kSize);
  box.fill = bytes_of(kFill);
  Storage storage;
  storage.chunk = {2};
  box.table = std::make_shared<const ChunkTable>(
      owned_bytes(std::vector<std::byte>(4 * ChunkRow::kLength), "region"), storage, kSize);
  const ChunkGrid grid = *ChunkGrid::make({8}, {8}, kSize);
  const std::vector<std::byte> fill = bytes_of(kFill);
  GatheredChunk chunk(grid, 0, fill);
  EXPECT_EQ(*chunk.add(box), 8u);
  EXPECT_TRUE(chunk.take().empty());
}

TEST(ChunkGridTest, TooManyChunks) {
  const std::uint64_t most = std::uint64_t{1} << 63;
  EXPECT_EQ(ChunkGrid::make({most, most}, {1, 1}, 4).status().code(), Code::kLimit);
  EXPECT_EQ(ChunkGrid::make({most}, {most}, 4).status().code(), Code::kLimit);
}

}  // namespace
}  // namespace nmb
