// Numbers of dimensions of several netCDF-4 files in one file, and the check that netCDF sees the
// same dimensions.
#include "client/dimension_ids.h"

#include <gtest/gtest.h>

#include "client/netcdf_check.h"
#include "hdf5_types/netcdf_marks.h"
#include "interop/extended_file.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

using hdf5::DimensionIds;
using hdf5::Hdf5Form;
using hdf5::NetcdfCheck;

constexpr std::string_view kClass = "DIMENSION_SCALE";

std::vector<std::byte> big_endian(const std::vector<std::int32_t>& numbers) {
  std::vector<std::byte> bytes;
  for (const std::int32_t n : numbers)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::byte>(n >> shift));
  return bytes;
}

// Scales x and y, and v(x, y) that uses them by number. first: that of x; -1: netCDF counts both.
ExtendedBlock netcdf_block(const std::string& name, std::uint64_t x, std::uint64_t y,
                           std::int32_t first) {
  ExtendedBlock block(name);
  ExtendedType text;
  text.type_class = TypeClass::kString;
  text.size = kClass.size();
  const Type string = block.type(text);
  const auto scale = [&](std::string_view of, std::uint64_t length, std::int32_t id) {
    const std::vector<std::byte> values(length);
    const VarId v = block.variable(of, Type::kByte, {length}, values);
    block.attribute(v, "CLASS", string, 1, std::as_bytes(std::span(kClass)));
    if (first >= 0) block.attribute(v, kDimensionId, Type::kInt, 1, big_endian({id}));
  };
  scale("x", x, first);
  scale("y", y, first + 1);
  const std::vector<std::byte> values(x * y);
  const VarId v = block.variable("v", Type::kByte, {x, y}, values);
  if (first >= 0) block.attribute(v, kCoordinates, Type::kInt, 2, big_endian({first, first + 1}));
  return block;
}

class DimensionIdsTest : public testing::Test {
 protected:
  void write(const std::vector<ExtendedBlock>& blocks) {
    const std::string path = (folder_.path() / "a.nmb").string();
    write_extended(path, blocks);
    Result<std::unique_ptr<FileReader>> reader = FileReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.status().text();
    reader_ = std::move(*reader);
  }

  std::shared_ptr<const LoadedBlock> block(const std::string& name) {
    return *reader_->block(name);
  }

  // Numbers of x, y and those that v has.
  std::vector<std::int64_t> numbers(const DimensionIds& ids, const std::string& name) {
    const std::shared_ptr<const LoadedBlock> written = *ids.renumbered(block(name));
    std::vector<std::int64_t> all;
    for (const auto& [variable, attribute] :
         {std::pair("x", kDimensionId), std::pair("y", kDimensionId), std::pair("v", kCoordinates)})
      for (const std::int64_t n :
           integers(written->metadata, *written->metadata.find_variable(variable), attribute))
        all.push_back(n);
    return all;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<FileReader> reader_;
};

using Numbers = std::vector<std::int64_t>;

TEST_F(DimensionIdsTest, OfOneSourceStay) {
  write({netcdf_block("p", 2, 4, 5)});
  const Result<DimensionIds> ids = DimensionIds::plan(*reader_);
  ASSERT_TRUE(ids.ok()) << ids.status().text();
  EXPECT_FALSE(ids->changes());
  EXPECT_EQ(numbers(*ids, "p"), (Numbers{5, 6, 5, 6}));
}

TEST_F(DimensionIdsTest, OfTwoSourcesAreUnlike) {
  write({netcdf_block("p", 2, 4, 0), netcdf_block("q", 3, 5, 0)});
  const Result<DimensionIds> ids = DimensionIds::plan(*reader_);
  ASSERT_TRUE(ids.ok()) << ids.status().text();
  EXPECT_EQ(numbers(*ids, "p"), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(numbers(*ids, "q"), (Numbers{2, 3, 2, 3}));
}

TEST_F(DimensionIdsTest, LeaveRoomForThoseThatNetcdfCounts) {
  write({netcdf_block("a", 6, 6, -1), netcdf_block("p", 2, 4, 0)});
  const Result<DimensionIds> ids = DimensionIds::plan(*reader_);
  ASSERT_TRUE(ids.ok()) << ids.status().text();
  EXPECT_EQ(numbers(*ids, "p"), (Numbers{2, 3, 2, 3}));
}

TEST_F(DimensionIdsTest, LargestNumberIsNoHindrance) {
  write({netcdf_block("p", 2, 4, 0x7ffffffe), netcdf_block("q", 3, 5, 0)});
  const Result<DimensionIds> ids = DimensionIds::plan(*reader_);
  ASSERT_TRUE(ids.ok()) << ids.status().text();
  EXPECT_EQ(numbers(*ids, "q").size(), 4u);
}

TEST_F(DimensionIdsTest, CheckFindsDimensionsOfAnotherSource) {
  write({netcdf_block("p", 2, 4, 0), netcdf_block("q", 3, 5, 0)});
  const Result<Hdf5Form> form = Hdf5Form::of(*reader_);
  ASSERT_TRUE(form.ok()) << form.status().text();
  NetcdfCheck right(*reader_, *form), wrong(*reader_, *form);
  for (const char* const name : {"p", "q"}) {
    right.add(**form->written(block(name)));
    wrong.add(*block(name));  // as the sources have them
  }
  EXPECT_TRUE(right.finish().ok()) << right.finish().text();
  const Status found = wrong.finish();
  EXPECT_EQ(found.code(), Code::kDamaged);
  EXPECT_EQ(found.message(),
            "the written file differs from the source: variable \"p/v\": netCDF sees dimension "
            "\"q/x\", expected dimension \"p/x\"");
}

}  // namespace
}  // namespace nmb::test
