// Elements of any type, blocks by position, and older generations, as programs use them.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "api/api_folder.h"
#include "nmb/reader.h"
#include "nmb/writer.h"

namespace nmb::test {
namespace {

class ElementsTest : public ApiTest {
 protected:
  template <class T>
  static std::vector<T> values_of(const Elements& elements) {
    std::vector<T> out(elements.values.size() / sizeof(T));
    std::memcpy(out.data(), elements.values.data(), elements.values.size());
    return out;
  }
  // Blocks b00, b01, ..., each with `x` of a different length and a scalar `label`.
  void write_blocks(int count) const {
    Writer out(path());
    std::vector<Var> x, label;
    for (int i = 0; i < count; ++i) {
      Block b = out.block("b" + std::to_string(10 + i));
      x.push_back(b.var<float>("x", {b.dim("n", static_cast<std::uint64_t>(i) + 1)}));
      label.push_back(b.var<std::int64_t>("label"));
    }
    for (int i = 0; i < count; ++i) {
      std::vector<float> values(static_cast<std::size_t>(i) + 1);
      std::iota(values.begin(), values.end(), static_cast<float>(100 * i));
      x[static_cast<std::size_t>(i)].put(values);
      label[static_cast<std::size_t>(i)].put(std::int64_t{i} << 40);
    }
    out.close();
  }
};

TEST_F(ElementsTest, NumbersHaveTheByteOrderOfTheMachine) {
  Writer out(path());
  Block b = out.block("b");
  const Dim n = b.dim("n", 3);
  b.var<std::int16_t>("short", {n}).att("two", {1.5, 2.5}).att("units", "m s-1").put({1, -2, 3});
  b.var<double>("double", {n}).put({0.5, 1.5, 2.5});
  b.var<char>("text", {n}).put("abc");
  out.close();
  const Reader in(path());
  const VarView v = in.var("b/short");
  EXPECT_EQ(v.datatype().data_class, DataClass::kInteger);
  EXPECT_EQ(v.datatype().text(), "int16");
  EXPECT_EQ(values_of<std::int16_t>(v.elements()), (std::vector<std::int16_t>{1, -2, 3}));
  EXPECT_EQ(values_of<std::int16_t>(v.elements({{1}, {2}})), (std::vector<std::int16_t>{-2, 3}));
  EXPECT_EQ(values_of<std::int16_t>(v.elements({{0}, {2}, {2}})),
            (std::vector<std::int16_t>{1, 3}));
  EXPECT_EQ(values_of<double>(in.var("b/double").elements()), (std::vector<double>{0.5, 1.5, 2.5}));
  EXPECT_EQ(in.var("b/text").datatype().text(), "char");
  EXPECT_EQ(values_of<char>(in.var("b/text").elements()), (std::vector<char>{'a', 'b', 'c'}));
  EXPECT_EQ(values_of<double>(v.att("two").elements()), (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(v.att("two").shape(), std::vector<std::uint64_t>{2});
  EXPECT_EQ(v.att("units").datatype().text(), "char");
  EXPECT_EQ(code_of([&] { v.read_elements({{0}, {3}}, std::span<std::byte>()); }), Code::kUsage);
  EXPECT_EQ(code_of([&] { v.elements({{0}, {4}}); }), Code::kUsage);
  EXPECT_EQ(code_of([&] { VarView().datatype(); }), Code::kUsage);
}

TEST_F(ElementsTest, FillValues) {
  Writer out(path());
  Block b = out.block("b");
  b.var<int>("stated").att("_FillValue", -1).put(7);
  b.var<int>("usual").put(7);
  out.close();
  const Reader in(path());
  const FillValue stated = in.var("b/stated").fill_value(), usual = in.var("b/usual").fill_value();
  EXPECT_EQ(stated.from, FillValue::From::kAttribute);
  EXPECT_EQ(values_of<int>(stated.element), std::vector<int>{-1});
  EXPECT_EQ(usual.from, FillValue::From::kDefault);
  EXPECT_EQ(values_of<int>(usual.element), std::vector<int>{-2147483647});
  EXPECT_TRUE(in.var("b/usual").stored().chunk.empty());
}

TEST_F(ElementsTest, ManyRequestsOnThreads) {
  constexpr int kBlocks = 40;
  write_blocks(kBlocks);
  const Reader in(path());
  for (const unsigned threads : {1u, 3u}) {
    std::vector<std::vector<float>> x(kBlocks);
    std::vector<std::int64_t> labels(kBlocks);
    std::vector<ElementRequest> requests;
    for (std::uint64_t i = 0; i < kBlocks; ++i) {
      const BlockView block = in.block_at(i);
      x[i].resize(i + 1);
      requests.push_back({block.var("x"), {}, std::as_writable_bytes(std::span(x[i])), nullptr});
      requests.push_back(
          {block.var("label"), {}, std::as_writable_bytes(std::span(&labels[i], 1)), nullptr});
    }
    in.read_elements(requests, threads);
    for (std::size_t i = 0; i < kBlocks; ++i) {
      EXPECT_EQ(x[i].back(), static_cast<float>(101 * i));
      EXPECT_EQ(labels[i], static_cast<std::int64_t>(i) << 40);
    }
    // A request that is wrong does not stop the others.
    requests[0].out = requests[0].out.first(2);
    x[5].assign(6, 0);
    std::vector<Status> statuses(requests.size());
    EXPECT_EQ(in.try_read_elements(requests, statuses, threads).code(), Code::kUsage);
    EXPECT_EQ(statuses[0].code(), Code::kUsage);
    EXPECT_TRUE(statuses[10].ok());
    EXPECT_EQ(x[5].back(), 505);
  }
}

TEST_F(ElementsTest, BlocksByCountedObjects) {
  constexpr std::uint64_t kBlocks = 300;  // several leaves
  Writer out(path());
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    Block b = out.block("b" + std::to_string(100 + i));
    for (std::uint64_t v = 0; v < i % 4; ++v) b.var<int>("v" + std::to_string(v)).put(1);
    b.samples(i % 3);
  }
  out.close();
  const Reader in(path());
  for (const auto& [count, of] : {std::pair(&BlockCounts::samples, std::uint64_t{3}),
                                  std::pair(&BlockCounts::variables, std::uint64_t{4})}) {
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < kBlocks; ++i)
      for (std::uint64_t number = 0; number < i % of; ++number) {
        const auto [block, within] = in.block_with(count, total++);
        EXPECT_EQ(block.name(), "b" + std::to_string(100 + i));
        EXPECT_EQ(within, number);
      }
    EXPECT_EQ(in.totals().*count, total);
    EXPECT_EQ(code_of([&, count = count] { in.block_with(count, total); }), Code::kNotFound);
  }
  EXPECT_EQ(code_of([&] { in.block_with(&BlockCounts::records, 0); }), Code::kUsage);
}

TEST_F(ElementsTest, BlocksByPosition) {
  write_blocks(20);
  const Reader in(path());
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(in.block_at(i).name(), "b" + std::to_string(10 + i));
    EXPECT_EQ(in.position(in.block_at(i).name()), i);
  }
  EXPECT_EQ(code_of([&] { in.block_at(20); }), Code::kNotFound);
  std::vector<std::string> names;
  in.for_each_block(
      "b*",
      [&](const BlockView& block) {
        names.push_back(block.name());
        return names.size() < 2;
      },
      "b15x");
  EXPECT_EQ(names, (std::vector<std::string>{"b16", "b17"}));
  in.for_each_block(
      "b12", [&](const BlockView&) { return names.emplace_back("no"), true; }, "b13");
  EXPECT_EQ(names.size(), 2u);
}

// Would catch: a generation that is chosen by its number but read with the newest index.
TEST_F(ElementsTest, OlderGenerationsStayReadable) {
  for (int g = 1; g <= 4; ++g) {
    WriteOptions options;
    if (g > 1) options.mode = WriteOptions::Mode::kAppend;
    Writer out(path(), options);
    Block b = out.block("b" + std::to_string(g));
    b.var<int>("v").put(g);
    out.close();
  }
  for (std::uint64_t g = 1; g <= 4; ++g) {
    ReadOptions options;
    options.generation = g;
    const Reader in(path(), options);
    EXPECT_EQ(in.generation(), g);
    EXPECT_EQ(in.totals().blocks, g);
    EXPECT_EQ(in.read<int>("b" + std::to_string(g) + "/v"), std::vector<int>{static_cast<int>(g)});
    EXPECT_EQ(in.try_block("b" + std::to_string(g + 1)).status().code(), Code::kNotFound);
  }
  ReadOptions options;
  options.generation = 5;
  EXPECT_EQ(Reader::try_open(path(), options).status().code(), Code::kNotFound);
}

TEST_F(ElementsTest, AClassicBlockIsShownAsItIs) {
  Writer out(path());
  Block b = out.block("b");
  const Dim time = b.dim("time", kUnlimited), x = b.dim("x", 2);
  b.att("title", "t");
  b.var<float>("v", {time, x}).att("units", "K").put({1, 2, 3, 4});
  out.close();
  const Reader in(path());
  EXPECT_TRUE(in.block("b").is_classic());
  const ShownBlock shown = in.block("b").shown();
  ASSERT_EQ(shown.dims.size(), 2u);
  EXPECT_TRUE(shown.dims[0].may_grow && shown.dims[0].is_record);
  EXPECT_EQ(shown.dims[0].length, 2u);
  EXPECT_FALSE(shown.dims[1].may_grow);
  ASSERT_EQ(shown.vars.size(), 1u);
  EXPECT_EQ(shown.vars[0].name, "v");
  EXPECT_EQ(shown.vars[0].dims, (std::vector<std::uint32_t>{0, 1}));
  ASSERT_EQ(shown.vars[0].atts.size(), 1u);
  EXPECT_EQ(shown.vars[0].atts[0].text(), "K");
  ASSERT_EQ(shown.atts.size(), 1u);
}

}  // namespace
}  // namespace nmb::test
