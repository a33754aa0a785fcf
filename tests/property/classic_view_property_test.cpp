// Random arrays in random storage: their classic view, read in random parts, has their values.
#include <gtest/gtest.h>

#include <random>

#include "netcdf/netcdf_view.h"
#include "support/extended_dataset.h"

namespace nmb::test {
namespace {

class RandomBlock {
 public:
  explicit RandomBlock(unsigned seed) : random_(seed) {}

  std::uint64_t upto(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  }

  // Variables on one dimension that may grow, of which they have a part each, and fixed ones.
  void make() {
    const Type types[] = {made_.type(little_integer(2)), Type::kShort,
                          made_.type(little_integer(2, false))};
    time_ = upto(6);
    const DimId x = made_.dimension("x", 1 + upto(5)), y = made_.dimension("y", 1 + upto(3));
    for (unsigned v = 0; v < 5; ++v) {
      const bool grows = upto(2) > 0;
      // One of them has the whole.
      const std::uint64_t own = v == 0 ? time_ : upto(time_);
      std::vector<DimId> dimensions;
      if (grows || v == 0)
        dimensions.push_back(made_.dimension("time_" + std::to_string(v), own, true));
      if (upto(1) > 0) dimensions.push_back(x);
      if (upto(1) > 0) dimensions.push_back(y);
      add(v, types[upto(2)], dimensions, own);
    }
  }

  ExtendedDataset& made() { return made_; }
  // Values by variable, as they are to be read.
  const std::vector<std::vector<std::int64_t>>& expected() const { return expected_; }

 private:
  std::uint64_t length(DimId d) { return made_.dataset()->metadata.dimension(d).length; }

  void add(unsigned number, Type type, const std::vector<DimId>& dimensions, std::uint64_t own) {
    const bool big = type == Type::kShort;
    std::vector<std::uint64_t> lengths;
    std::uint64_t count = 1;
    for (const DimId d : dimensions) count *= lengths.emplace_back(length(d));
    std::vector<std::uint16_t> values(count);
    for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(upto(0x7FFF));
    const bool chunked = !lengths.empty() && count > 0 && upto(2) > 0;
    const ByteVector region = chunked ? chunks(lengths, values, big) : plain(values, big);
    const std::string name = "v" + std::to_string(number);
    VarId v = 0;
    if (chunked) {
      Storage storage;
      storage.kind = StorageKind::kChunked;
      storage.chunk = chunk_;
      v = made_.stored(name, type, dimensions, std::move(storage), region);
    } else {
      v = made_.variable(name, type, dimensions, region);
    }
    std::vector<std::int64_t> expected(values.begin(), values.end());
    const bool grows = !dimensions.empty() &&
                       made_.dataset()->metadata.dimension(dimensions[0]).name.starts_with("time");
    if (grows) {
      std::vector<std::int32_t> ids = {0};
      for (std::size_t i = 1; i < dimensions.size(); ++i)
        ids.push_back(1 + static_cast<std::int32_t>(dimensions[i]));
      made_.ints(v, "_Netcdf4Coordinates", ids);
      const std::uint64_t row = own == 0 ? row_bytes(lengths) : count / own;
      const bool is_signed = big || made_.dataset()->metadata.extension()->types.at(type).is_signed;
      expected.resize(time_ * row, is_signed ? -32767 : 65535);
    }
    expected_.push_back(std::move(expected));
  }

  static std::uint64_t row_bytes(const std::vector<std::uint64_t>& lengths) {
    std::uint64_t count = 1;
    for (std::size_t i = 1; i < lengths.size(); ++i) count *= lengths[i];
    return count;
  }

  static ByteVector plain(const std::vector<std::uint16_t>& values, bool big) {
    ByteVector out = little(values);
    for (std::size_t i = 0; big && i < out.size(); i += 2) std::swap(out[i], out[i + 1]);
    return out;
  }

  // A region of chunks of random lengths, in chunk_, some of which were never written: their values
  // become 0.
  ByteVector chunks(const std::vector<std::uint64_t>& lengths, std::vector<std::uint16_t>& values,
                    bool big) {
    chunk_.clear();
    std::uint64_t number = 1, size = 1;
    for (const std::uint64_t n : lengths) {
      size *= chunk_.emplace_back(1 + upto(n));
      number *= (n + chunk_.back() - 1) / chunk_.back();
    }
    std::vector<std::uint64_t> table;
    ByteVector stored;
    for (std::uint64_t c = 0; c < number; ++c) {
      const bool written = upto(3) > 0;
      std::vector<std::uint16_t> inside(size);
      for (std::uint64_t e = 0; e < size; ++e) {
        std::uint64_t at = 0, step = 1, chunk = c, element = e;
        bool is_inside = true;
        for (std::size_t i = lengths.size(); i-- > 0;) {
          const std::uint64_t across = (lengths[i] + chunk_[i] - 1) / chunk_[i];
          const std::uint64_t index = chunk % across * chunk_[i] + element % chunk_[i];
          is_inside = is_inside && index < lengths[i];
          at += index * step;
          step *= lengths[i];
          chunk /= across;
          element /= chunk_[i];
        }
        if (!is_inside) continue;
        if (!written) values[at] = 0;
        inside[e] = values[at];
      }
      const std::uint64_t place = number * ChunkRow::kLength + stored.size();
      table.insert(table.end(), {place, written ? size * 2 : 0, 0});
      if (!written) continue;
      const ByteVector bytes = plain(inside, big);
      stored.insert(stored.end(), bytes.begin(), bytes.end());
    }
    ByteVector region = little(table);
    region.insert(region.end(), stored.begin(), stored.end());
    return region;
  }

  std::mt19937 random_;
  ExtendedDataset made_;
  std::uint64_t time_ = 0;
  std::vector<std::uint64_t> chunk_;
  std::vector<std::vector<std::int64_t>> expected_;
};

TEST(ClassicViewProperty, RandomArraysKeepTheirValues) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomBlock block(seed);
    block.make();
    const Result<ClassicView> view = classic_view(block.made().dataset(), Kind::kCdf5);
    ASSERT_TRUE(view.ok()) << seed << ": " << view.status().text();
    ASSERT_TRUE(view->losses.empty()) << seed << ": " << view->losses.front().line();
    const nmb::Dataset& dataset = *view->dataset;
    for (VarId v = 0; v < block.expected().size(); ++v) {
      const Result<std::vector<std::int64_t>> values = dataset.read_all<std::int64_t>(v);
      ASSERT_TRUE(values.ok()) << seed << ": " << values.status().text();
      EXPECT_EQ(*values, block.expected()[v]) << seed << ", variable " << v;
    }
    ByteVector whole(dataset.extent->size());
    ASSERT_TRUE(dataset.extent->read_at(0, whole).ok()) << seed;
    for (unsigned i = 0; i < 20 && !whole.empty(); ++i) {
      const std::uint64_t from = block.upto(whole.size() - 1);
      ByteVector part(block.upto(whole.size() - from));
      ASSERT_TRUE(dataset.extent->read_at(from, part).ok()) << seed;
      EXPECT_TRUE(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(from)))
          << seed;
    }
  }
}

}  // namespace
}  // namespace nmb::test
