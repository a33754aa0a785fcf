// Classic datasets whose dimensions are those of groups above.
#include "netcdf/shared_dimensions.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/decode_group.h"
#include "model/classic.h"
#include "netcdf/netcdf_view.h"
#include "support/dataset.h"
#include "support/extended_dataset.h"

namespace nmb::test {
namespace {

using Levels = std::vector<std::uint32_t>;

TEST(SharedDimensions, LevelsOfPaths) {
  EXPECT_EQ(levels_between("g", "/t"), 1U);
  EXPECT_EQ(levels_between("g/h/i", "/t"), 3U);
  EXPECT_EQ(levels_between("g/h/i", "/g/t"), 2U);
  EXPECT_EQ(levels_between("g", "/g/t"), 0U);
  EXPECT_EQ(levels_between("", "/t"), 0U);
  EXPECT_EQ(levels_between("gh/i", "/g/t"), 0U);
  EXPECT_EQ(levels_between("g", ""), 0U);
  EXPECT_EQ(path_above("g/h", 1, "t"), "g/t");
  EXPECT_EQ(path_above("g/h", 2, "t"), "t");
  EXPECT_EQ(path_above("g/h", 0, "t"), "g/h/t");
  EXPECT_EQ(path_above("g/h", 3, "t"), std::nullopt);
}

// Three records of one variable of five bytes, and a fixed-size one: odd lengths, where CDF-5 pads.
ClassicDataset three_records() {
  Metadata metadata(Metadata::Names::kAsFound);
  const DimId t = *metadata.def_dim("t", kUnlimited), x = *metadata.def_dim("x", 5);
  EXPECT_TRUE(metadata.def_var("fixed", Type::kShort, std::vector<DimId>{x}).ok());
  EXPECT_TRUE(metadata.def_var("v", Type::kByte, std::vector<DimId>{t, x}).ok());
  ClassicDataset made = make_dataset(std::move(metadata), Kind::kCdf5, 3);
  for (std::size_t i = 0; i < made.values.size(); ++i) made.values[i] = static_cast<std::byte>(i);
  return made;
}

TEST(SharedDimensions, BodyIsReadAsItWasMade) {
  const test::ClassicDataset made = three_records();
  nmb::Dataset classic;
  classic.metadata = made.metadata;
  classic.layout = made.layout;
  classic.records = 3;
  classic.extent = made.extent();
  const nmb::Dataset group = with_dimensions_above(classic, {2, 0});
  EXPECT_EQ(levels_above(group.metadata), (Levels{2, 0}));
  const auto body = encode_extended_body(group.metadata, group.records);
  ASSERT_TRUE(body.ok()) << body.status().text();
  const auto block =
      hdf5::decode_group({"a/b", *body, classic.extent->size(), classic.extent, {}}, "made");
  ASSERT_TRUE(block.ok()) << block.status().text();
  EXPECT_EQ(levels_above((*block)->metadata), (Levels{2, 0}));
  EXPECT_TRUE(is_classic_dataset((*block)->metadata));
  EXPECT_EQ((*block)->records, 3U);
  EXPECT_EQ((*block)->layout.record_size, made.layout.record_size);
  // To all that knows nothing of groups it is the dataset that it was.
  const auto view = classic_view(*block, Kind::kCdf5);
  ASSERT_TRUE(view.ok()) << view.status().text();
  EXPECT_TRUE(view->losses.empty());
  const nmb::Dataset& back = *view->dataset;
  EXPECT_FALSE(back.metadata.extension());
  ASSERT_EQ(back.metadata.variable_count(), 2U);
  for (VarId v = 0; v < 2; ++v)
    EXPECT_EQ(back.metadata.begin(v) - back.layout.header_length,
              made.metadata.begin(v) - made.layout.header_length);
}

// Whatever else a group has is for HDF5 to write.
TEST(SharedDimensions, OthersAreNoClassicDatasets) {
  hdf5::Property above;
  above.number = hdf5::Property::Number::kDimensionsAbove;
  above.dimensions_above = {{0, 1}};
  const auto with = [&](const auto& change) {
    ExtendedDataset made;
    made.dimension("x", 2);
    change(made);
    return levels_above(made.dataset()->metadata);
  };
  EXPECT_EQ(with([&](ExtendedDataset& made) { made.property(above); }), Levels{1});
  EXPECT_EQ(with([](ExtendedDataset&) {}), Levels());
  EXPECT_EQ(with([&](ExtendedDataset& made) {
              made.type(little_integer(4));
              made.property(above);
            }),
            Levels{1});  // a type that differs in its byte order only
  EXPECT_EQ(with([&](ExtendedDataset& made) {
              made.dimension("y", 2, true);
              made.property(above);
            }),
            (Levels{1, 0}));  // a single dimension that may grow
  EXPECT_EQ(with([&](ExtendedDataset& made) {
              made.unwritten("v", Type::kInt, {0});
              made.property(above);
            }),
            Levels());
  EXPECT_EQ(with([&](ExtendedDataset& made) {
              made.property({});
              made.property(above);
            }),
            Levels());
  above.dimensions_above = {{1, 1}};  // not there
  EXPECT_EQ(with([&](ExtendedDataset& made) { made.property(above); }), Levels());
}

}  // namespace
}  // namespace nmb::test
