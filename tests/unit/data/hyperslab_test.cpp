// Shapes, checks and reads of hyperslabs.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "model/values.h"
#include "support/counting_source.h"

namespace nmb {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kHeader = 100;  // bytes of the header the test's begins stand behind

// fixed(3, 4) of int at 0, then records of series(time, 2) short and wide(time, 3) double.
struct Arrays {
  Metadata metadata;
  ClassicLayout layout;
  VarId fixed = 0, series = 0, wide = 0, text = 0;

  Arrays() {
    const DimId time = *metadata.def_dim("time", kUnlimited);
    const DimId two = *metadata.def_dim("two", 2);
    const DimId three = *metadata.def_dim("three", 3);
    const DimId four = *metadata.def_dim("four", 4);
    fixed = *metadata.def_var("fixed", Type::kInt, std::vector{three, four});
    text = *metadata.def_var("text", Type::kChar, std::vector{three});
    series = *metadata.def_var("series", Type::kShort, std::vector{time, two});
    wide = *metadata.def_var("wide", Type::kDouble, std::vector{time, three});
    metadata.set_begin(fixed, kHeader);
    metadata.set_begin(text, kHeader + 48);
    metadata.set_begin(series, kHeader + 52);
    metadata.set_begin(wide, kHeader + 56);
    layout.header_length = kHeader;
    layout.record_begin = kHeader + 52;
    layout.record_size = 28;
  }
};

TEST(Shape, OfFixedAndRecordVariables) {
  const Arrays e;
  const auto fixed = shape_of(e.metadata, e.layout, e.fixed, 5);
  ASSERT_TRUE(fixed.ok());
  EXPECT_EQ(fixed->lengths, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(fixed->begin, 0u);
  EXPECT_EQ(fixed->record_size, 0u);
  EXPECT_EQ(fixed->element_size, 4u);
  const auto wide = shape_of(e.metadata, e.layout, e.wide, 5);
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->lengths, (std::vector<std::uint64_t>{5, 3}));
  EXPECT_EQ(wide->begin, 56u);
  EXPECT_EQ(wide->record_size, 28u);
}

TEST(Shape, RefusesWhatDoesNotFit) {
  Arrays e;
  EXPECT_EQ(shape_of(e.metadata, e.layout, e.wide, kMax / 2).status().code(), Code::kDamaged);
  e.metadata.set_begin(e.fixed, kHeader - 1);
  EXPECT_EQ(shape_of(e.metadata, e.layout, e.fixed, 5).status().code(), Code::kDamaged);
  Metadata huge;
  const DimId big = *huge.def_dim("big", std::uint64_t{1} << 62);
  const VarId v = *huge.def_var("v", Type::kDouble, std::vector{big});
  huge.set_begin(v, kHeader);
  EXPECT_EQ(shape_of(huge, e.layout, v, 0).status().code(), Code::kDamaged);
}

TEST(CheckHyperslab, Limits) {
  const Arrays e;
  const VariableShape shape = *shape_of(e.metadata, e.layout, e.wide, 5);
  const auto code = [&](const Hyperslab& slab, bool may_grow = false) {
    return check_hyperslab(shape, slab, may_grow).code();
  };
  EXPECT_EQ(code({{0, 0}, {5, 3}, {}}), Code::kOk);
  EXPECT_EQ(code({{4, 2}, {1, 1}, {7, 7}}), Code::kOk);
  EXPECT_EQ(code({{0, 0}, {3, 2}, {2, 2}}), Code::kOk);
  EXPECT_EQ(code({{5, 3}, {0, 0}, {}}), Code::kOk);
  EXPECT_EQ(code({{0}, {5, 3}, {}}), Code::kUsage);
  EXPECT_EQ(code({{0, 0}, {5}, {}}), Code::kUsage);
  EXPECT_EQ(code({{0, 0}, {5, 3}, {1}}), Code::kUsage);
  EXPECT_EQ(code({{0, 0}, {5, 3}, {1, 0}}), Code::kUsage);
  EXPECT_EQ(code({{0, 0}, {6, 3}, {}}), Code::kUsage);
  EXPECT_EQ(code({{6, 0}, {0, 3}, {}}), Code::kUsage);
  EXPECT_EQ(code({{0, 0}, {3, 3}, {2, 2}}), Code::kUsage);
  EXPECT_EQ(code({{kMax, 0}, {2, 1}, {}}), Code::kUsage);
  EXPECT_EQ(code({{1, 0}, {2, 1}, {kMax, 1}}), Code::kUsage);
  EXPECT_EQ(code({{5, 0}, {100, 3}, {}}, true), Code::kOk);
  EXPECT_EQ(code({{5, 0}, {100, 4}, {}}, true), Code::kUsage);
  EXPECT_EQ(code({{0, 0}, {kMax, 3}, {}}, true), Code::kUsage);
  EXPECT_EQ(code({{0, 0}, {kMax / 2, 3}, {}}, true), Code::kUsage);
}

TEST(CheckHyperslab, FixedVariablesDoNotGrow) {
  const Arrays e;
  const VariableShape shape = *shape_of(e.metadata, e.layout, e.fixed, 5);
  EXPECT_EQ(check_hyperslab(shape, {{0, 0}, {4, 4}, {}}, true).code(), Code::kUsage);
}

std::vector<std::byte> extent_of(const Arrays& e, std::uint64_t records) {
  std::vector<std::byte> bytes(52 + records * 28);
  const auto put = [&](std::uint64_t at, Type type, const std::vector<std::int32_t>& values) {
    EXPECT_EQ(convert_to_external(MemoryType::kInt32, values.data(), values.size(), type,
                                  bytes.data() + at),
              0u);
  };
  std::vector<std::int32_t> fixed(12);
  std::iota(fixed.begin(), fixed.end(), 100);
  put(0, Type::kInt, fixed);
  for (std::uint64_t r = 0; r < records; ++r) {
    const auto n = static_cast<std::int32_t>(r * 10);
    put(52 + r * 28, Type::kShort, {n, n + 1});
    put(56 + r * 28, Type::kDouble, {n + 2, n + 3, n + 4});
  }
  EXPECT_EQ(e.layout.record_size, 28u);
  return bytes;
}

TEST(ReadHyperslab, Converts) {
  const Arrays e;
  const std::vector<std::byte> bytes = extent_of(e, 4);
  const MemorySource memory(bytes);
  const test::CountingSource source(memory);
  const VariableShape wide = *shape_of(e.metadata, e.layout, e.wide, 4);
  std::vector<std::int16_t> out(4);
  ASSERT_TRUE(read_hyperslab(e.metadata, wide, e.wide, source, {{1, 0}, {2, 2}, {2, 2}}, out).ok());
  EXPECT_EQ(out, (std::vector<std::int16_t>{12, 14, 32, 34}));
  const VariableShape fixed = *shape_of(e.metadata, e.layout, e.fixed, 4);
  std::vector<std::int8_t> small(12);
  EXPECT_EQ(read_hyperslab(e.metadata, fixed, e.fixed, source, {{0, 0}, {3, 4}, {}}, small).code(),
            Code::kOk);
  EXPECT_EQ(small[11], 111);
}

TEST(ReadHyperslab, ReportsRangeAfterConvertingAll) {
  const Arrays e;
  std::vector<std::byte> bytes = extent_of(e, 1);
  bytes[0] = std::byte{1};
  const MemorySource memory(bytes);
  const test::CountingSource source(memory);
  const VariableShape fixed = *shape_of(e.metadata, e.layout, e.fixed, 1);
  std::vector<std::int8_t> out(12);
  const Status status =
      read_hyperslab(e.metadata, fixed, e.fixed, source, {{0, 0}, {3, 4}, {}}, out);
  EXPECT_EQ(status.code(), Code::kRange);
  EXPECT_NE(status.message().find("fixed: found 1 values"), std::string::npos) << status.message();
  EXPECT_EQ(out[0], 100);
  EXPECT_EQ(out[11], 111);
}

TEST(ReadHyperslab, RefusesTextForNumbers) {
  const Arrays e;
  const std::vector<std::byte> bytes = extent_of(e, 1);
  const MemorySource memory(bytes);
  const test::CountingSource source(memory);
  std::array<char, 12> letters;
  std::array<std::uint8_t, 3> numbers;
  const VariableShape fixed = *shape_of(e.metadata, e.layout, e.fixed, 1);
  EXPECT_EQ(
      read_hyperslab(e.metadata, fixed, e.fixed, source, {{0, 0}, {3, 4}, {}}, letters).code(),
      Code::kUsage);
  const VariableShape text = *shape_of(e.metadata, e.layout, e.text, 1);
  EXPECT_EQ(read_hyperslab(e.metadata, text, e.text, source, {{0}, {3}, {}}, numbers).code(),
            Code::kUsage);
  EXPECT_EQ(source.reads(), 0u);
}

TEST(ReadHyperslab, RefusesAnotherNumberOfValues) {
  const Arrays e;
  const std::vector<std::byte> bytes = extent_of(e, 1);
  const MemorySource memory(bytes);
  const VariableShape fixed = *shape_of(e.metadata, e.layout, e.fixed, 1);
  const Hyperslab slab{{0, 0}, {3, 4}, {}};
  std::array<int, 13> out;
  for (const std::size_t count : {11u, 13u}) {
    const Status status =
        read_hyperslab(e.metadata, fixed, e.fixed, memory, slab, std::span(out).first(count));
    EXPECT_EQ(status.code(), Code::kUsage);
    EXPECT_EQ(status.message(), "found " + std::to_string(count) + " values, expected 12");
  }
  // As bytes, of a type that is known when the program runs.
  const MutableArray room(MemoryType::kInt32, std::as_writable_bytes(std::span(out).first(12)));
  EXPECT_TRUE(read_hyperslab(e.metadata, fixed, e.fixed, memory, slab, room).ok());
  EXPECT_EQ(out[11], 111);
}

TEST(ReadHyperslab, CutSourceIsDamaged) {
  const Arrays e;
  std::vector<std::byte> bytes = extent_of(e, 2);
  bytes.pop_back();
  const MemorySource memory(bytes);
  const test::CountingSource source(memory);
  const VariableShape wide = *shape_of(e.metadata, e.layout, e.wide, 2);
  std::vector<double> out(6);
  EXPECT_EQ(read_hyperslab(e.metadata, wide, e.wide, source, {{0, 0}, {2, 3}, {}}, out).code(),
            Code::kDamaged);
}

TEST(ReadHyperslab, AFailedReadIsReported) {
  const Arrays e;
  const std::vector<std::byte> bytes(1 << 20);
  const MemorySource memory(bytes);
  const VariableShape wide = *shape_of(e.metadata, e.layout, e.wide, 30000);
  std::vector<double> out(30000 * 3);
  const Hyperslab all{{0, 0}, {30000, 3}, {}};
  const auto read = [&](const ByteSource& source) {
    return read_hyperslab(e.metadata, wide, e.wide, source, all, out).code();
  };
  const test::CountingSource sound(memory);
  ASSERT_EQ(read(sound), Code::kOk);
  ASSERT_GE(sound.reads(), 1u);
  for (std::uint64_t fail_at = 0; fail_at < sound.reads(); ++fail_at)
    EXPECT_EQ(read(test::CountingSource(memory, fail_at)), Code::kIo) << fail_at;
}

TEST(ReadHyperslab, SmallHolesAreReadOver) {
  const Arrays e;
  const std::vector<std::byte> bytes = extent_of(e, 1000);
  const MemorySource memory(bytes);
  const test::CountingSource source(memory);
  const VariableShape series = *shape_of(e.metadata, e.layout, e.series, 1000);
  std::vector<std::int32_t> out(2000);
  ASSERT_TRUE(
      read_hyperslab(e.metadata, series, e.series, source, {{0, 0}, {1000, 2}, {}}, out).ok());
  EXPECT_EQ(out[1999], 9991);
  EXPECT_EQ(source.reads(), 1u);
}

TEST(ReadHyperslab, LargeReadsAreBoundedAndLargeHolesSkipped) {
  Metadata metadata;
  const DimId rows = *metadata.def_dim("rows", 1000);
  const DimId columns = *metadata.def_dim("columns", 3000);
  const VarId v = *metadata.def_var("v", Type::kShort, std::vector{rows, columns});
  const VariableShape shape = *shape_of(metadata, ClassicLayout{}, v, 0);
  const std::vector<std::byte> bytes(1000 * 3000 * 2);
  const MemorySource memory(bytes);
  const test::CountingSource source(memory);
  std::vector<std::int16_t> out(1000 * 3000);
  ASSERT_TRUE(read_hyperslab(metadata, shape, v, source, {{0, 0}, {1000, 3000}, {}}, out).ok());
  EXPECT_EQ(source.reads(), 6u);
  EXPECT_EQ(source.bytes(), 6000000u);
  EXPECT_LE(source.largest(), std::uint64_t{1} << 20);
  const test::CountingSource column(memory);
  // A column: rows lie 6,000 bytes apart, so each is a read of its own.
  const std::span<std::int16_t> of_column(out.data(), 1000);
  ASSERT_TRUE(read_hyperslab(metadata, shape, v, column, {{0, 7}, {1000, 1}, {}}, of_column).ok());
  EXPECT_EQ(column.reads(), 1000u);
  EXPECT_EQ(column.bytes(), 2000u);
}

}  // namespace
}  // namespace nmb
