// Programs of one rank that write with nmb/writer.h and read with nmb/reader.h.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/api_folder.h"
#include "nmb/compare.h"
#include "nmb/convert.h"
#include "nmb/reader.h"
#include "nmb/verify.h"
#include "nmb/writer.h"

namespace nmb::test {
namespace {

using WriteReadTest = ApiTest;
using Numbers = std::vector<float>;

TEST_F(WriteReadTest, FirstExample) {
  const Numbers values{281.5F, 283.25F, 286};
  Writer out(path());
  Block north = out.block("station/north");
  const Dim time = north.dim("time", kUnlimited);
  Var t = north.var<float>("temperature", {time}).att("units", "K").att("valid_min", 0.0);
  t.put(values);
  EXPECT_FALSE(std::filesystem::exists(path())) << "seen before close()";
  out.close();

  const Reader in(path());
  EXPECT_EQ(in.read<float>("station/north/temperature"), values);
  EXPECT_EQ(in.read<int>("station/north/temperature"), (std::vector<int>{281, 283, 286}));
  EXPECT_EQ(in.kind(), FileKind::kNmb);
  EXPECT_EQ(in.generation(), 1U);
  const VarView v = in.block("station/north").var("temperature");
  EXPECT_EQ(v.type(), Type::kFloat);
  EXPECT_EQ(v.shape(), (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(v.dims(), std::vector<std::string>{"time"});
  EXPECT_EQ(v.att("units").text(), "K");
  EXPECT_EQ(v.att("valid_min").number<double>(), 0.0);
  EXPECT_EQ(v.atts().size(), 2U);
  EXPECT_EQ(v.read<float>({{1}, {1}, {}}), Numbers{283.25F});
}

// One rank defines and puts in any order; the file is that of a program that does one after the
// other.
TEST_F(WriteReadTest, OneRankDefinesAndPutsInTurn) {
  const auto write = [&](const std::string& name, bool in_turn) {
    Writer out(path(name));
    std::vector<Var> later;
    for (int i = 0; i < 40; ++i) {
      Block block = out.block("b" + std::to_string(i)).samples(2);
      Var v = block.var<int>("v", {block.dim("x", 3)});
      if (in_turn) v.put(std::vector<int>{i, i + 1, i + 2});
      later.push_back(v);
    }
    for (int i = 0; i < 40 && !in_turn; ++i)
      later[static_cast<std::size_t>(i)].put(std::vector<int>{i, i + 1, i + 2});
    out.close();
  };
  write("turn.nmb", true);
  write("after.nmb", false);
  for (const char* name : {"turn.nmb", "after.nmb"}) {
    const Reader in(path(name));
    EXPECT_EQ(in.totals().samples, 80U);
    EXPECT_EQ(in.read<int>("b39/v"), (std::vector<int>{39, 40, 41})) << name;
    EXPECT_EQ(in.read<int>("b0/v"), (std::vector<int>{0, 1, 2})) << name;
  }
}

TEST_F(WriteReadTest, RecordsSlabsStringsAndScalars) {
  Writer out(path());
  Block b = out.block("b");
  const Dim time = b.dim("time", kUnlimited), x = b.dim("x", 2), width = b.dim("width", 4);
  Var v = b.var<double>("v", {time, x}), name = b.var<char>("name", {x, width}),
      n = b.var<std::int64_t>("n"), text = b.var<char>("text", {width});
  v.put_records(0, std::vector<double>{1, 2, 3, 4});
  v.put_records(2, std::vector<float>{5, 6});
  v.put({{0, 1}, {3, 1}}, std::vector<int>{20, 40, 60});
  name.put_strings(std::vector<std::string>{"ab", "cdef"});
  n.put(std::int64_t{1} << 60);
  text.put("abcd");
  EXPECT_EQ(b.records(), 3U);
  EXPECT_EQ(v.try_put_records(3, std::vector<double>(3)).code(), Code::kUsage);
  EXPECT_EQ(n.try_put_records(0, std::vector<double>(1)).code(), Code::kUsage);
  EXPECT_EQ(name.try_put_strings(std::vector<std::string>{"too long", ""}).code(), Code::kUsage);
  EXPECT_EQ(v.try_put_strings({}).code(), Code::kUsage);
  out.close();

  const Reader in(path());
  EXPECT_EQ(in.read<double>("b/v"), (std::vector<double>{1, 20, 3, 40, 5, 60}));
  EXPECT_EQ(in.var("b/name").strings(), (std::vector<std::string>{"ab", "cdef"}));
  EXPECT_EQ(in.var("b/text").strings(), std::vector<std::string>{"abcd"});
  EXPECT_EQ(in.read<std::int64_t>("b/n"), std::vector<std::int64_t>{std::int64_t{1} << 60});
  EXPECT_EQ(in.block("b").counts().records, 3U);
  EXPECT_EQ(in.block("b").dims().size(), 3U);
  EXPECT_NE(in.block("b").cdl().find("double v(time, x)"), std::string::npos);
}

TEST_F(WriteReadTest, RuntimeTypesServeOtherLanguages) {
  const std::vector<std::uint16_t> values{7, 8};
  const ConstArray array(MemoryType::kUInt16, std::as_bytes(std::span(values)));
  Writer out(path());
  Block b = out.block("b");
  const std::vector<Dim> dims{b.dim("x", 2)};
  Var v = b.var("v", Type::kUShort, dims);
  EXPECT_TRUE(v.try_att("range", Type::kInt, array).ok());
  EXPECT_TRUE(v.try_put(array).ok());
  out.close();
  const Reader in(path());
  std::vector<std::uint16_t> found(2);
  in.var("b/v").read(MutableArray(MemoryType::kUInt16, std::as_writable_bytes(std::span(found))));
  EXPECT_EQ(found, values);
  EXPECT_EQ(in.var("b/v").att("range").type(), Type::kInt);
  EXPECT_EQ(in.var("b/v").att("range").numbers<int>(), (std::vector<int>{7, 8}));
}

TEST_F(WriteReadTest, RequestsArePutTogether) {
  Writer out(path());
  Block b = out.block("b");
  const Dim x = b.dim("x", 4);
  Var v = b.var<int>("v", {x}), w = b.var<int>("w", {x});
  const std::vector<int> first{1, 2}, second{3, 4}, all{5, 6, 7, 8};
  const std::vector<Request> requests{v.iput({{0}, {2}}, first), v.iput({{2}, {2}}, second),
                                      w.iput(all)};
  EXPECT_EQ(out.try_close().code(), Code::kUsage) << "requests are open";
  out.wait(requests);
  EXPECT_EQ(out.try_wait(requests).code(), Code::kUsage) << "they are closed";
  out.close();
  const Reader in(path());
  EXPECT_EQ(in.read<int>("b/v"), (std::vector<int>{1, 2, 3, 4}));
  std::vector<int> a(2), c(4);
  in.read_many(
      std::vector<ReadRequest>{{in.var("b/v"), {{1}, {2}}, a}, {in.var("b/w"), {{0}, {4}}, c}});
  EXPECT_EQ(a, (std::vector<int>{2, 3}));
  EXPECT_EQ(c, all);
}

// Before a commit, the writer itself reads what was put; the rest is the fill value.
TEST_F(WriteReadTest, TheWriterReadsWhatWasPut) {
  Writer out(path());
  Block b = out.block("b");
  const Dim time = b.dim("time", kUnlimited), x = b.dim("x", 3);
  Var v = b.var<short>("v", {time, x}).att("_FillValue", short{-1});
  Var name = b.var<char>("name", {x});
  v.put({{1, 1}, {1, 2}}, std::vector<int>{5, 300});
  std::vector<int> all(6);
  v.get(all);
  EXPECT_EQ(all, (std::vector<int>{-1, -1, -1, -1, 5, 300}));
  std::vector<signed char> bytes(2);
  EXPECT_EQ(v.try_get({{1, 1}, {1, 2}}, bytes).code(), Code::kRange);
  EXPECT_EQ(bytes[0], 5);
  EXPECT_EQ(v.try_get({{2, 0}, {1, 3}}, std::span(all).first(3)).code(), Code::kUsage);
  EXPECT_EQ(v.try_get(std::span(all).first(3)).code(), Code::kUsage);
  EXPECT_EQ(name.try_get(std::span(all).first(3)).code(), Code::kUsage);
  out.sync();
  // Values that replace committed ones, and definitions that move them.
  v.put({{0, 0}, {1, 1}}, 9);
  Var fixed = b.var<double>("fixed", {x});
  std::vector<double> doubles(3);
  std::string text(3, '?');
  out.get(std::vector<GetRequest>{{v, {{0, 0}, {2, 3}}, all},
                                  {fixed, {{0}, {3}}, doubles},
                                  {name, {{0}, {3}}, std::span(text)}});
  EXPECT_EQ(all, (std::vector<int>{9, -1, -1, -1, 5, 300}));
  EXPECT_EQ(doubles[2], 9.9692099683868690e+36);
  EXPECT_EQ(text, std::string(3, '\0'));
  std::vector<Status> statuses(2);
  EXPECT_EQ(out.try_get_all(std::vector<GetRequest>{{v, {{0, 0}, {1, 1}}, std::span(all).first(1)},
                                                    {v, {{9, 0}, {1, 1}}, std::span(all).first(1)}},
                            statuses)
                .code(),
            Code::kUsage);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_FALSE(statuses[1].ok());
  out.flush();
  out.close();
  EXPECT_EQ(v.try_get(all).code(), Code::kUsage) << "after close()";
  EXPECT_EQ(Reader(path()).read<int>("b/v"), (std::vector<int>{9, -1, -1, -1, 5, 300}));
}

TEST_F(WriteReadTest, NamesAndAttributesChange) {
  Writer out(path());
  Block b = out.block("b").att("title", "old").att("gone", 1);
  const Dim x = b.dim("x", 2);
  Var v = b.var<int>("v", {x}).att("units", "m").att("note", "text");
  Var w = b.var<int>("w", {x});
  w.rename("z");
  v.put(std::vector<int>{1, 2});
  for (const bool committed : {false, true}) {
    if (committed) out.sync();
    const std::string end = committed ? "2" : "1";
    v.rename("v" + end);
    b.rename(x, "x" + end);
    EXPECT_EQ(v.try_rename("z").code(), Code::kExists);
    EXPECT_EQ(v.try_remove_att("none").code(), Code::kNotFound);
    EXPECT_EQ(v.try_rename_att("units", "note").code(), Code::kExists);
    EXPECT_NE(v.try_rename("a/b").code(), Code::kOk);
  }
  b.remove_att("gone");
  b.rename_att("title", "name");
  v.rename_att("units", "unit");
  v.remove_att("note");
  const std::vector<int> never{3, 4};
  const std::vector<Request> requests{w.iput(never)};
  out.cancel(requests);
  EXPECT_EQ(out.try_cancel(requests).code(), Code::kUsage);
  out.close();
  const Reader in(path());
  const BlockView read = in.block("b");
  EXPECT_EQ(read.att("name").text(), "old");
  EXPECT_EQ(read.atts().size(), 1U);
  EXPECT_EQ(read.var("v2").read<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(read.var("v2").dims(), std::vector<std::string>{"x2"});
  EXPECT_EQ(read.var("v2").att("unit").text(), "m");
  EXPECT_EQ(read.var("v2").atts().size(), 1U);
  EXPECT_EQ(read.var("z").read<int>()[0], -2147483647);
}

// Would catch: a writer that takes another writer's request, or the request 0, for its own.
TEST_F(WriteReadTest, ARequestBelongsToItsWriter) {
  const std::vector<int> ones{1, 1}, twos{2, 2};
  Writer a(path("a.nmb")), b(path("b.nmb"));
  Block of_a = a.block("x"), of_b = b.block("x");
  Var v = of_a.var<int>("v", {of_a.dim("n", 2)}), w = of_b.var<int>("v", {of_b.dim("n", 2)});
  const std::vector<Request> first{v.iput(ones)}, second{w.iput(twos)};
  EXPECT_NE(first[0], Request{});
  EXPECT_NE(first[0], second[0]);
  EXPECT_EQ(a.try_wait(second).code(), Code::kUsage);
  EXPECT_EQ(b.try_wait(first).code(), Code::kUsage);
  EXPECT_EQ(a.try_wait(std::vector<Request>{Request{}}).code(), Code::kUsage);
  a.wait(first);
  b.wait(second);
  a.close();
  b.close();
  EXPECT_EQ(Reader(path("a.nmb")).read<int>("x/v"), ones);
  EXPECT_EQ(Reader(path("b.nmb")).read<int>("x/v"), twos);
}

// Would catch: a request for values that are gone when iput() returns.
template <class V>
constexpr bool takes_temporaries = requires(V v, const Hyperslab slab) {
  v.iput({1.F, 2.F});
}
|| requires(V v, const Hyperslab slab) { v.iput(slab, {1.F, 2.F}); }
|| requires(V v, const Hyperslab slab) { v.iput({{0}, {2}}, {1.F, 2.F}); }
|| requires(V v, const Hyperslab slab) { v.try_iput({1, 2}); }
|| requires(V v, const Hyperslab slab) { v.try_iput(slab, {1, 2}); }
|| requires(V v, const Hyperslab slab) { v.iput({std::vector<int>{1, 2}}); }
|| requires(V v, const Hyperslab slab) { v.iput(std::vector<int>{1, 2}); }
|| requires(V v, const Hyperslab slab) { v.try_iput(std::string("ab")); }
|| requires(V v, const Hyperslab slab) { v.try_iput(slab, 1.5); };
template <class V>
constexpr bool takes_lasting = requires(V v, const Hyperslab slab, const std::vector<int> values) {
  v.iput(values);
  v.iput({{0}, {2}}, values);
  v.try_iput(slab, std::span(values));
};
static_assert(!takes_temporaries<Var>);
static_assert(takes_lasting<Var>);

TEST_F(WriteReadTest, GenerationsAreAdded) {
  {
    Writer out(path());
    Block b = out.block("b");
    b.var<int>("v", {b.dim("time", kUnlimited)}).put(std::vector<int>{1, 2});
    out.sync();
    EXPECT_EQ(Reader(path()).read<int>("b/v"), (std::vector<int>{1, 2}));
    b.var("v").put_records(2, std::vector<int>{3});
    Block c = out.block("c").att("made", "later").tag("kind", "test");
    c.var<int>("v").put(4);
    out.close();
    EXPECT_EQ(out.generation(), 2U);
    EXPECT_EQ(b.try_samples(1).code(), Code::kUsage) << "after close()";
  }
  EXPECT_EQ(code_of([&] { Writer out(path()); }), Code::kExists);
  {
    Writer out(path(), {.mode = WriteOptions::Mode::kAppend});
    out.find_block("b").var("v").put_records(3, std::vector<int>{5});
    EXPECT_EQ(code_of([&] { out.find_block("d"); }), Code::kNotFound) << "was not defined";
    out.rename(out.find_block("c"), "d");
    EXPECT_TRUE(out.try_find_block("d").ok());
    out.add_provenance(R"({"program":"test"})");
    out.close();
  }
  const Reader in(path());
  EXPECT_EQ(in.generation(), 3U);
  EXPECT_EQ(in.read<int>("b/v"), (std::vector<int>{1, 2, 3, 5}));
  EXPECT_EQ(in.read<int>("d/v"), std::vector<int>{4});
  EXPECT_EQ(in.provenance(), std::vector<std::string>{R"({"program":"test"})"});
  ASSERT_EQ(in.block("d").tags().size(), 1U);
  EXPECT_EQ(tag_text(in.block("d").tags()[0].value), "test");
  EXPECT_EQ(code_of([&] { in.block("c"); }), Code::kNotFound);
}

// A wrong argument is an error of its call alone: the writer goes on.
TEST_F(WriteReadTest, WrongArgumentsChangeNothing) {
  Writer out(path()), other(path("g.nmb"));
  Block a = out.block("a"), b = out.block("b");
  const Dim x = a.dim("x", 2);
  EXPECT_EQ(code_of([&] { b.var<int>("v", {x}); }), Code::kUsage) << "another block's dimension";
  EXPECT_EQ(code_of([&] { other.block("a").var<int>("v", {x}); }), Code::kUsage);
  EXPECT_EQ(code_of([&] { other.remove(a); }), Code::kUsage);
  EXPECT_EQ(code_of([&] { a.dim("x", 3); }), Code::kExists);
  EXPECT_EQ(code_of([&] { a.var("missing"); }), Code::kNotFound);
  EXPECT_EQ(code_of([&] { a.dim("missing"); }), Code::kNotFound);
  EXPECT_EQ(code_of([&] { out.block("bad//name"); }), Code::kUsage);
  Var v = a.var<signed char>("v", {x});
  EXPECT_EQ(code_of([&] { v.put(std::vector<int>{1, 2, 3}); }), Code::kUsage);
  EXPECT_EQ(code_of([&] { v.put(std::vector<int>{1, 1000}); }), Code::kRange);
  int before = -1;
  EXPECT_EQ(code_of([&] { v.put({{before}, {1}}, 7); }), Code::kUsage) << "a negative position";
  EXPECT_EQ(v.try_put({{0}, {1}, {before}}, 7).message(),
            "hyperslab, dimension 0: found -1, expected no negative number");
  v.put(std::vector<int>{1, 2});
  out.close();
  EXPECT_EQ(Reader(path()).read<int>("a/v"), (std::vector<int>{1, 2}));
}

// Would catch: a fill value of another type than the variable's, which no reader uses.
TEST_F(WriteReadTest, AFillValueHasTheTypeOfItsVariable) {
  Writer out(path());
  Block b = out.block("b");
  const Dim time = b.dim("time", kUnlimited);
  Var tas = b.var<float>("tas", {time}), n = b.var<int>("n"), name = b.var<char>("name");
  EXPECT_EQ(tas.try_att("_FillValue", Type::kDouble, -999.0).message(),
            "_FillValue of \"tas\" must be one float; found double");
  EXPECT_EQ(tas.try_att("_FillValue", 0.1).code(), Code::kUsage) << "no float is 0.1";
  EXPECT_EQ(tas.try_att("_FillValue", "none").code(), Code::kUsage);
  EXPECT_EQ(n.try_att("_FillValue", 1.5).code(), Code::kUsage);
  EXPECT_EQ(n.try_att("_FillValue", std::int64_t{1} << 40).code(), Code::kUsage);
  EXPECT_EQ(n.try_att("_FillValue", {1, 2}).code(), Code::kUsage);
  EXPECT_EQ(n.try_att("_FillValue", "1").message(),
            "_FillValue of \"n\" must be one int; found text");
  EXPECT_EQ(name.try_att("_FillValue", 'x').code(), Code::kOk);
  EXPECT_EQ(name.try_att("_FillValue", 1).code(), Code::kUsage);
  n.att("_FillValue", -1.0);
  tas.att("_FillValue", -999.0).att("missing_value", -999.0);
  tas.put({{2}, {1}}, 280);
  out.close();
  const Reader in(path());
  EXPECT_EQ(in.var("b/tas").att("_FillValue").type(), Type::kFloat);
  EXPECT_EQ(in.var("b/n").att("_FillValue").type(), Type::kInt);
  EXPECT_EQ(in.read<float>("b/tas"), (Numbers{-999, -999, 280}));
  EXPECT_EQ(in.var("b/tas").compute_statistics(StatisticsLevel::kBasic).missing, 2U);
}

TEST_F(WriteReadTest, ADimensionOfLengthZeroIsRefused) {
  Writer out(path());
  Block b = out.block("b");
  EXPECT_EQ(b.try_dim("x", 0).status().code(), Code::kUsage);
  EXPECT_EQ(b.try_dim("x", 0).status().message(),
            "block \"b\": dimension \"x\" has the length 0; the least length is 1");
  b.var<int>("v", {b.dim("x", 1)}).put(3);
  out.close();
  EXPECT_EQ(Reader(path()).read<int>("b/v"), std::vector<int>{3});
}

// Would catch: numbers that readers report as damage.
TEST_F(WriteReadTest, NumbersThatAFileCannotHaveAreRefused) {
  {
    Writer out(path());
    Block a = out.block("a"), b = out.block("b");
    EXPECT_EQ(code_of([&] { a.samples(static_cast<std::uint64_t>(-1)); }), Code::kLimit);
    a.samples(std::uint64_t{1} << 62);
    b.samples(std::uint64_t{1} << 62);
    EXPECT_EQ(out.try_close().message(), "the blocks have more than 2^63 - 1 samples together");
  }
  {
    Writer out(path());  // the sums of samples wrap to 0
    for (const char* name : {"a", "b", "c", "d"}) out.block(name).samples(std::uint64_t{1} << 62);
    EXPECT_EQ(out.try_close().code(), Code::kLimit);
  }
  {
    Writer out(path());
    std::vector<Block> blocks;
    for (const char* name : {"a", "b", "c", "d"}) {
      blocks.push_back(out.block(name));
      blocks.back().dim("time", kUnlimited);
    }
    EXPECT_EQ(
        blocks[0].try_extend(std::uint64_t{1} << 62).message(),
        "extend() of block \"a\": found 4611686018427387904 records, expected fewer than 2^62 "
        "records and bytes");
    for (Block& block : blocks) block.extend((std::uint64_t{1} << 62) - 1);
    EXPECT_EQ(out.try_close().message(), "the blocks have more than 2^63 - 1 records together");
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
  Writer out(path());
  out.block("a").samples((std::uint64_t{1} << 63) - 1);
  out.block("b").dim("time", kUnlimited);
  out.block("b").extend((std::uint64_t{1} << 62) - 1);
  out.close();
  EXPECT_TRUE(verify(path()).is_sound());
}

class TextResult : public ValueAccumulator {
 public:
  explicit TextResult(std::string text) : text_(std::move(text)) {}
  std::unique_ptr<ValueAccumulator> fresh() const override {
    return std::make_unique<TextResult>(text_);
  }
  void add(const ValueBatch&) override {}
  void merge(const ValueAccumulator&) override {}
  TagValue result() const override { return text_; }

 private:
  std::string text_;
};

TEST_F(WriteReadTest, AResultThatIsNoTextIsRefused) {
  for (const std::string& text : {std::string("a\0b", 3), std::string("\xff"), std::string("ok")}) {
    WriteOptions options;
    options.statistics = StatisticsLevel::kBasic;
    options.functions = {
        {"word", [&](std::string_view, Type) { return std::make_unique<TextResult>(text); }}};
    Writer out(path(), options);
    out.block("b").var<int>("v").put(1);
    const Status status = out.try_close();
    EXPECT_EQ(status.code(), text == "ok" ? Code::kOk : Code::kUsage);
    if (!status.ok()) {
      EXPECT_TRUE(status.message().starts_with(
          "invalid value of function \"word\" of variable \"v\" in block \"b\": expected UTF-8"))
          << status.text();
    }
  }
}

TEST_F(WriteReadTest, ProvenanceIsOneJsonObject) {
  Writer out(path());
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "{\"a\":";
  for (const std::string& text :
       {std::string(), std::string("[1]"), std::string("{x"), std::string("{} {}"),
        std::string("run 1"), std::string("{\"a\":}"), std::string("{\"a\":1,}"),
        std::string("{\"a\":[1,]}"), std::string("{\"a\":01}"), std::string("{\"a\":1.}"),
        std::string("{\"a\":tru}"), std::string("{\"a\":\"\\x\"}"), std::string("{\"a\":\"\n\"}"),
        std::string("{\"a\":\"\xff\"}"), std::string("{\"a\":\"\\u12\"}"), std::string("{a:1}"),
        std::string("{\"a\":1}\0", 8), deep})
    EXPECT_EQ(out.try_add_provenance(text).code(), Code::kUsage) << text;
  EXPECT_EQ(out.try_add_provenance("{\"a\":1 2}").message(),
            "provenance: expected one JSON object; the text is wrong at byte 7 of 9");
  const std::vector<std::string> texts{
      "{}", " {\n} ",
      R"({"a":[1,-0.5e+3,2E7,true,false,null,{},[],{"b":"\u00E4\"\\/\n"}] , "ä" : ""})"};
  for (const std::string& text : texts) out.add_provenance(text);
  out.block("b").var<int>("v").put(1);
  out.close();
  EXPECT_EQ(Reader(path()).provenance(), texts);
}

// Would catch: provenance that close() and sync() drop if nothing else has changed.
TEST_F(WriteReadTest, ProvenanceAloneMakesAGeneration) {
  {
    Writer out(path());
    out.block("b").var<int>("v").put(1);
    out.sync();
    out.add_provenance(R"({"b":1})");
    out.sync();
    out.add_provenance(R"({"c":2})");
    out.close();
  }
  EXPECT_EQ(Reader(path()).provenance(), (std::vector<std::string>{R"({"b":1})", R"({"c":2})"}));
  Writer out(path(), {.mode = WriteOptions::Mode::kAppend});
  out.add_provenance("{}");
  out.close();
  const Reader in(path());
  EXPECT_EQ(in.provenance().size(), 3U);
  EXPECT_EQ(in.generation(), 4U);
  EXPECT_EQ(in.read<int>("b/v"), std::vector<int>{1});
  Writer idle(path(), {.mode = WriteOptions::Mode::kAppend});
  idle.close();
  EXPECT_EQ(Reader(path()).generation(), 4U);
}

// Would catch: missing values that a commit has written, and that become data with another
// _FillValue.
TEST_F(WriteReadTest, TheFillValueStaysWhileValuesAreMissing) {
  for (const bool reopened : {false, true}) {
    Writer out(path(), {.mode = WriteOptions::Mode::kReplace});
    Block b = out.block("b");
    const Dim time = b.dim("time", kUnlimited), x = b.dim("x", 3);
    Var part = b.var<int>("part", {x}), whole = b.var<int>("whole", {x}),
        record = b.var<double>("record", {time}), none = b.var<char>("none");
    part.put({{0}, {1}}, 1);
    whole.put({1, 2, 3});
    record.put({{2}, {1}}, 5);
    if (reopened) {
      out.close();
      out = Writer(path(), {.mode = WriteOptions::Mode::kAppend});
    } else {
      out.sync();
    }
    b = out.block("b");
    for (const char* const name : {"part", "record"}) {
      const Status status = b.var(name).try_att("_FillValue", -9);
      EXPECT_EQ(status.code(), Code::kUsage) << name;
      EXPECT_NE(status.message().find("are not written"), std::string::npos) << status.text();
    }
    EXPECT_EQ(b.var("none").try_att("_FillValue", "x").code(), Code::kUsage);
    b.var("part").att("_FillValue", -2147483647);  // netCDF's default: nothing changes
    b.var("whole").att("_FillValue", -9);
    out.close();
    const Reader in(path());
    EXPECT_EQ(in.read<int>("b/whole"), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(in.var("b/part").compute_statistics(StatisticsLevel::kBasic).missing, 2U);
    EXPECT_EQ(in.var("b/record").compute_statistics(StatisticsLevel::kBasic).missing, 2U);
  }
}

// Would catch: text that is stored as numbers.
TEST_F(WriteReadTest, TextInUtf8IsText) {
  const std::u8string_view view = u8"\u00b5m";
  Writer out(path());
  Block b = out.block("b");
  b.var<char8_t>("v", {b.dim("x", 3)}).att("units", u8"\u00b0C").att("other", view).put(view);
  out.close();
  const VarView v = Reader(path()).var("b/v");
  EXPECT_EQ(v.type(), Type::kChar);
  EXPECT_EQ(v.att("units").text(),
            "\xc2\xb0"
            "C");
  EXPECT_EQ(v.att("other").text(), "\xc2\xb5m");
  EXPECT_EQ(v.strings(), std::vector<std::string>{"\xc2\xb5m"});
  static_assert(!std::is_constructible_v<ConstArray, const wchar_t*>);
}

// Would catch: a path that the system cuts off, and a failure only at the end of the run.
TEST_F(WriteReadTest, APathWithoutANameIsRefusedAtOnce) {
  EXPECT_EQ(Writer::try_open("").status().code(), Code::kUsage);
  EXPECT_EQ(Writer::try_open(path("x") + std::string("\0y", 2)).status().code(), Code::kUsage);
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

// Would catch: a type that end_define() finds, when nothing can be saved any more.
TEST_F(WriteReadTest, ATypeThatIsNoneIsRefusedAtOnce) {
  Writer out(path());
  Block b = out.block("b");
  for (const int code : {0, 12, 77, 256, 300}) {
    const auto type = static_cast<Type>(code);
    EXPECT_EQ(b.try_var("bad", type, {}).status().code(), Code::kUsage) << code;
    EXPECT_EQ(b.try_att("bad", type, 1).code(), Code::kUsage) << code;
  }
  Var good = b.var("good", Type::kInt, {});
  EXPECT_EQ(good.try_att("bad", static_cast<Type>(77), 1).code(), Code::kUsage);
  good.put(4);
  out.close();
  EXPECT_EQ(Reader(path()).read<int>("b/good"), std::vector<int>{4});
}

// Would catch: a private file that everybody can read after it was replaced.
TEST_F(WriteReadTest, AReplacedFileKeepsItsPermissions) {
  using std::filesystem::perms;
  const auto replace = [&](const std::string& name) {
    Writer out(path(name), {.mode = WriteOptions::Mode::kReplace});
    out.block("b").var<int>("v").put(1);
    out.close();
  };
  replace("f.nmb");
  for (const perms mode : {perms(0600), perms(0640), perms(0666)}) {
    std::filesystem::permissions(path(), mode);
    replace("f.nmb");
    EXPECT_EQ(std::filesystem::status(path()).permissions(), mode);
    convert(path(), path("f.nc"), {.to = FileKind::kCdf5, .replace = true});
    std::filesystem::permissions(path("f.nc"), mode);
    convert(path(), path("f.nc"), {.to = FileKind::kCdf5, .replace = true});
    EXPECT_EQ(std::filesystem::status(path("f.nc")).permissions(), mode);
  }
  std::filesystem::create_symlink(path(), path("link.nmb"));
  const Status status = caught([&] { replace("link.nmb"); });
  EXPECT_EQ(status.code(), Code::kExists);
  EXPECT_NE(status.message().find("symbolic link"), std::string::npos) << status.text();
}

// Would catch: a handle that a program cannot keep in a container or a member.
TEST_F(WriteReadTest, HandlesCanBeMadeEmpty) {
  Writer out;
  Block b;
  Dim x;
  std::map<std::string, Var> vars;
  EXPECT_EQ(code_of([&] { out.block("b"); }), Code::kUsage);
  EXPECT_EQ(code_of([&] { b.var<int>("v"); }), Code::kUsage);
  EXPECT_EQ(vars["v"].try_put(1).code(), Code::kUsage);
  EXPECT_EQ(code_of([&] { (void)Reader().kind(); }), Code::kUsage);
  out = Writer(path());
  b = out.block("b");
  EXPECT_EQ(code_of([&] { b.var<int>("v", {x}); }), Code::kUsage);
  x = b.dim("x", 2);
  vars["v"] = b.var<int>("v", std::vector<Dim>{x});
  vars["v"].att("range", Type::kShort, {1, 2}).put({3, 4});
  b.att("n", Type::kByte, 5);
  out.close();
  Reader in;
  in = Reader(path());
  EXPECT_EQ(in.read<int>("b/v"), (std::vector<int>{3, 4}));
  EXPECT_EQ(in.var("b/v").att("range").type(), Type::kShort);
  EXPECT_EQ(in.block("b").att("n").type(), Type::kByte);
}

// Would catch: messages with numbers or objects that the program did not pass.
TEST_F(WriteReadTest, RefusalsNameWhatWasPassed) {
  const auto says = [](auto call, std::string_view part) {
    const Status status = caught(call);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.text();
  };
  Writer out(path());
  Block b = out.block("b"), removed = out.block("removed");
  says([&] { b.samples(static_cast<std::uint64_t>(-1)); }, "found -1 samples");
  says([&] { b.dim("n", static_cast<std::uint64_t>(-2)); }, "found length -2");
  Var v = b.var<int>("v", {b.dim("t", kUnlimited)});
  says([&] { b.extend(static_cast<std::uint64_t>(-1)); }, "found -1 records");
  says([&] { v.put({{std::uint64_t{1} << 62}, {1}}, 5); }, "expected records that end within");
  out.remove(removed);
  says([&] { removed.att("a", 1); }, "block \"removed\" was removed");
  Block gone = std::move(removed);
  says([&] { out.remove(removed); }, "the handle is empty");
  out.close();
  says([&] { Writer(path(), {.mode = WriteOptions::Mode::kAppend, .piece_size = 77}); },
       "found piece size 77");
}

// Would catch: a dimension that is known by the address of its writer.
TEST_F(WriteReadTest, ADimensionOfAWriterThatIsGoneIsRefused) {
  std::optional<Dim> left;
  for (int i = 0; i < 20; ++i) {  // a writer may lie in memory where the one before it was
    Writer out(path("w.nmb"));
    Block block = out.block("a");
    const Dim x = block.dim("x", 2);
    if (left) {
      EXPECT_EQ(code_of([&] { block.var<int>("v", {*left}); }), Code::kUsage);
    }
    left = x;
  }
}

TEST_F(WriteReadTest, AnErrorSaysWhereAndWhat) {
  const Result<Reader> none = Reader::try_open(path("none.nmb"));
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  try {
    const Reader in(path("none.nmb"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_EQ(error.file(), path("none.nmb"));
    EXPECT_EQ(error.offset(), kNoOffset);
    EXPECT_EQ(error.rule(), "");
    EXPECT_EQ(std::string(error.what()), none.status().text());
  }
}

// Would catch: a failure whose code and text are lost because a program forgets ok().
TEST_F(WriteReadTest, AResultWithoutAValueThrowsItsFailure) {
  const Result<std::string> none = Status(Code::kIo, "gone");
  const Status status = caught([&] { (void)none->size(); });
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_EQ(status.message(), "gone");
  EXPECT_EQ(code_of([&] { (void)*Reader::try_open(path("none.nmb")); }), Code::kNotFound);
}

TEST_F(WriteReadTest, EachFunctionHasATwin) {
  Writer out(path());
  Block b = out.block("b").att("n", 3).att("title", "t");
  b.var<int>("v", {b.dim("x", 2)}).put(std::vector<int>{1, 2});
  out.close();
  const Reader in(path());
  EXPECT_EQ(*in.try_read<int>("b/v"), (std::vector<int>{1, 2}));
  EXPECT_EQ(in.try_read<int>("b/w").status().code(), Code::kNotFound);
  EXPECT_EQ(*in.block("b").att("n").try_number<int>(), 3);
  EXPECT_EQ(*in.block("b").att("n").try_numbers<double>(), std::vector<double>{3});
  EXPECT_EQ(in.block("b").att("title").try_number<int>().status().code(), Code::kUsage);
  int visited = 0;
  in.for_each_block("**", [&](const BlockView&) { return ++visited < 5; });
  EXPECT_EQ(visited, 1);
  EXPECT_EQ(code_of([&] { in.for_each_block("[", [](const BlockView&) { return true; }); }),
            Code::kUsage);
  const Status thrown = in.try_for_each_block(
      "**", [](const BlockView&) -> Result<bool> { throw std::runtime_error("visit"); });
  EXPECT_EQ(thrown.code(), Code::kUsage);
  EXPECT_EQ(thrown.message(), "visit");
}

// Would catch: a crash in a call of a handle without a state.
TEST_F(WriteReadTest, CallsOfEmptyHandlesFail) {
  const auto refused = [](auto call) { EXPECT_EQ(code_of(call), Code::kUsage); };
  Writer moved(path());
  Writer out = std::move(moved);
  Block gone = out.block("b");
  Block b = std::move(gone);
  const Dim x = b.dim("x", 2);
  Var none = b.var<int>("v", {x});
  Var v = std::move(none);
  const std::vector<int> two{1, 2};
  refused([&] { moved.block("b"); });
  refused([&] { moved.find_block("b"); });
  refused([&] { moved.open_blocks({}); });
  refused([&] { moved.remove(b); });
  refused([&] { moved.rename(gone, "c"); });
  refused([&] { moved.add_provenance("{}"); });
  refused([&] { moved.end_define(); });
  refused([&] { moved.redefine(); });
  refused([&] { moved.wait({}); });
  refused([&] { moved.wait_all(); });
  refused([&] { moved.sync(); });
  refused([&] { moved.close(); });
  refused([&] { moved.report(); });
  refused([&] { (void)moved.generation(); });
  refused([&] { out.remove(gone); });
  refused([&] { gone.dim("y", 2); });
  refused([&] { gone.dim("x"); });
  refused([&] { gone.var<int>("w"); });
  refused([&] { gone.var("v"); });
  refused([&] { gone.att("a", 1); });
  refused([&] { gone.samples(1); });
  refused([&] { gone.tag("t", 1.0); });
  refused([&] { gone.records(); });
  refused([&] { gone.extend(1); });
  refused([&] { none.att("a", 1); });
  refused([&] { none.put(two); });
  refused([&] { none.put({{0}, {2}}, two); });
  refused([&] { none.put_records(0, two); });
  refused([&] { none.put_strings({}); });
  refused([&] { none.put_all(); });
  refused([&] { none.put_all({{0}, {2}}, two); });
  refused([&] { none.iput(two); });
  refused([&] { none.iput({{0}, {2}}, two); });
  v.put(two);
  out.close();
  refused([&] { b.records(); });
  refused([&] { b.dim("x"); });
  refused([&] { b.var("v"); });

  Reader empty(path());
  const Reader in = std::move(empty);
  refused([&] { empty.block("b"); });
  refused([&] { empty.blocks(); });
  refused([&] { empty.find("v.max > 1"); });
  refused([&] { (void)empty.totals(); });
  refused([&] { empty.totals("b"); });
  refused([&] { empty.position("b"); });
  refused([&] { empty.open_blocks({}); });
  refused([&] { empty.read_many({}); });
  refused([&] { (void)empty.kind(); });
  refused([&] { (void)empty.file_length(); });
  refused([&] { (void)empty.generation(); });
  refused([&] { (void)empty.generation_digest(); });
  refused([&] { (void)empty.has_hdf5_view(); });
  refused([&] { (void)empty.warnings(); });
  refused([&] { empty.provenance(); });
  refused([&] { compare(in, empty); });
  refused([&] { digest(empty); });
  const VarView var;
  const BlockView block;
  const AttView att;
  std::vector<int> room(2);
  refused([&] { (void)var.name(); });
  refused([&] { (void)var.type(); });
  refused([&] { var.shape(); });
  refused([&] { (void)var.dims(); });
  refused([&] { var.att("a"); });
  refused([&] { (void)var.atts(); });
  refused([&] { var.read<int>(); });
  refused([&] { var.read(room); });
  refused([&] { var.strings(); });
  refused([&] { var.read_same({{0}, {2}}, room); });
  refused([&] { var.statistics(); });
  refused([&] { var.compute_statistics(StatisticsLevel::kBasic); });
  refused([&] { (void)block.name(); });
  refused([&] { (void)block.counts(); });
  refused([&] { block.var("v"); });
  refused([&] { block.vars(); });
  refused([&] { block.dims(); });
  refused([&] { block.att("a"); });
  refused([&] { block.atts(); });
  refused([&] { block.tags(); });
  refused([&] { block.cdl(); });
  refused([&] { att.text(); });
  refused([&] { att.number<int>(); });
  refused([&] { in.read_many(std::vector<ReadRequest>{{VarView(), {{0}, {2}}, room}}); });
}

TEST_F(WriteReadTest, HandlesOutliveTheirReader) {
  {
    Writer out(path());
    out.block("b").att("title", "t").var<int>("v").put(3);
    out.close();
  }
  std::optional<VarView> v;
  std::optional<AttView> title;
  {
    const Reader in(path());
    v = in.var("b/v");
    title = in.block("b").att("title");
  }
  EXPECT_EQ(v->read<int>(), std::vector<int>{3});
  EXPECT_EQ(title->text(), "t");
}

TEST_F(WriteReadTest, BlocksAreListedCountedAndFound) {
  WriteOptions options;
  options.statistics = StatisticsLevel::kBasic;
  Writer out(path(), options);
  for (int i = 0; i < 6; ++i) {
    Block b = out.block((i < 3 ? "a/" : "b/c/") + std::to_string(i)).samples(1);
    b.att("number", i).tag("parity", std::string(i % 2 == 0 ? "even" : "odd"));
    b.var<float>("t", {b.dim("x", 2)}).put(std::vector<int>{i, 10 * i});
  }
  out.close();

  const Reader in(path());
  EXPECT_EQ(in.blocks("a/*").size(), 3U);
  EXPECT_EQ(in.blocks("*").size(), 0U);
  EXPECT_EQ(in.blocks("**/4").size(), 1U);
  EXPECT_EQ(in.totals("b/").samples, 3U);
  EXPECT_EQ(in.position("b/c/3"), 3U);
  const std::vector<BlockView> found = in.find("t.max > 25 && parity == 'odd'");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].name(), "b/c/5");
  EXPECT_EQ(code_of([&] { in.find("t.max >"); }), Code::kUsage);
  EXPECT_EQ(code_of([&] { in.find("missing == 1"); }), Code::kNotFound);
  const VarView t = in.var("b/c/5/t");
  ASSERT_TRUE(t.statistics());
  EXPECT_EQ(t.statistics()->maximum_value(), 50);
  EXPECT_EQ(t.compute_statistics(StatisticsLevel::kBasic).minimum_value(), 5);
}

// Would catch: a block that is left out of a result without a word.
TEST_F(WriteReadTest, ABlockThatCannotBeDecidedIsAnError) {
  {
    Writer out(path());  // no statistics are stored
    Block b = out.block("b");
    b.var<float>("t", {b.dim("x", 2)}).put(std::vector<int>{1, 30});
    out.close();
  }
  const Reader in(path());
  FindOptions stored_only;
  stored_only.reads_values = false;
  EXPECT_EQ(code_of([&] { in.find("t.max > 25", stored_only); }), Code::kUnsupported);
  int warnings = 0;
  stored_only.on_warning = [&](const std::string&) { ++warnings; };
  EXPECT_EQ(in.find("t.max > 25", stored_only).size(), 0U);
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(in.find("t.max > 25").size(), 1U);
}

class SumOfValues final : public ValueAccumulator {
 public:
  std::unique_ptr<ValueAccumulator> fresh() const override {
    return std::make_unique<SumOfValues>();
  }
  void add(const ValueBatch& batch) override {
    for (std::size_t i = 0; i < batch.count(); ++i)
      sum_ += batch.number(i) * static_cast<double>(batch.times);
  }
  void merge(const ValueAccumulator& other) override {
    sum_ += static_cast<const SumOfValues&>(other).sum_;
  }
  TagValue result() const override { return sum_; }

 private:
  double sum_ = 0;
};

// Would catch: a rename that drops what find() needs, and a block without a result that is left out
// of find() without a word.
TEST_F(WriteReadTest, ResultsStayWithTheirBlock) {
  WriteOptions options;
  options.statistics = StatisticsLevel::kBasic;
  options.functions = {{"sum", [](std::string_view, Type) -> std::unique_ptr<ValueAccumulator> {
                          return std::make_unique<SumOfValues>();
                        }}};
  {
    Writer out(path(), options);
    for (const char* name : {"a", "b"}) {
      Block block = out.block(name);
      block.var<int>("v", {block.dim("x", 2)}).put({1, 2});
    }
    out.block("other").var<int>("w").put(1);
    out.close();
  }
  WriteOptions append;
  append.mode = WriteOptions::Mode::kAppend;
  {
    Writer out(path(), append);
    out.rename(out.block("a"), "z");
    out.block("b").samples(4);
    out.close();
  }
  EXPECT_TRUE(Reader(path()).var("z/v").statistics().has_value());
  EXPECT_EQ(Reader(path()).find("v.sum == 3").size(), 2U);
  EXPECT_EQ(Reader(path()).find("v.max == 2", {.reads_values = false}).size(), 2U);
  {
    Writer out(path(), append);
    out.block("b").var("v").put({3, 0});
    out.close();
  }
  const Reader in(path());
  EXPECT_EQ(code_of([&] { in.find("v.sum == 3"); }), Code::kUnsupported);
  EXPECT_EQ(code_of([&] { in.find("v.product == 3"); }), Code::kNotFound);
  std::vector<std::string> warnings;
  FindOptions warned;
  warned.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(in.find("v.sum == 3", warned).size(), 1U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].find("1 of 3 blocks cannot match"), 0U) << warnings[0];
  EXPECT_EQ(in.find("v.sum == 3 || w.max == 1", warned).size(), 2U);
  EXPECT_EQ(in.find("v.sum == 3 || v.min == 0").size(), 2U) << "decided without the result";
}

template <class T>
concept DimLength = requires(Block block, T length) {
  block.dim("x", length);
};
template <class T>
concept SampleNumber = requires(Block block, T number) {
  block.samples(number);
};
static_assert(DimLength<int> && DimLength<std::size_t> && DimLength<UnlimitedLength>);
static_assert(!DimLength<double> && !SampleNumber<double> && !SampleNumber<UnlimitedLength>);
static_assert(std::is_constructible_v<MutableArray, std::span<signed char>>);
static_assert(!std::is_constructible_v<MutableArray, std::span<bool>>);

// Would catch: a length of -1 that makes a record dimension.
TEST_F(WriteReadTest, ANegativeLengthIsRefused) {
  Writer out(path());
  Block b = out.block("b");
  for (const int length : {-1, -2, 0})
    EXPECT_EQ(b.try_dim("x", length).status().code(), Code::kUsage) << length;
  EXPECT_EQ(b.try_dim("x", ~std::uint64_t{0}).status().code(), Code::kUsage);
  EXPECT_TRUE(b.try_dim("x", kUnlimited).ok());
  EXPECT_EQ(b.try_samples(-1).code(), Code::kLimit);
  Var v = b.var<int>("v", {b.dim("x")});
  EXPECT_FALSE(v.try_put_records(-1, 1).ok());
  EXPECT_FALSE(b.try_extend(-1).ok());
  v.put_records(0, 1);
  out.close();
  EXPECT_EQ(Reader(path()).read<int>("b/v"), std::vector<int>{1});
}

// Would catch: a crash for getenv() of a variable that is not set.
TEST_F(WriteReadTest, ATextThatIsANullPointerIsRefused) {
  const char* const none = nullptr;
  Writer out(path());
  Block b = out.block("b");
  EXPECT_EQ(b.try_att("user", none).code(), Code::kUsage);
  EXPECT_EQ(b.try_tag("user", none).code(), Code::kUsage);
  EXPECT_EQ(code_of([&] { b.tag("user", none); }), Code::kUsage);
  Var v = b.var<char>("v", {b.dim("n", kUnlimited)});
  EXPECT_EQ(v.try_att("user", none).code(), Code::kUsage);
  EXPECT_EQ(v.try_put(none).code(), Code::kUsage);
  EXPECT_EQ(v.try_put({{0}, {0}}, none).code(), Code::kUsage);
  EXPECT_EQ(v.try_put_all({{0}, {0}}, none).code(), Code::kUsage);
  EXPECT_EQ(v.try_iput({{0}, {0}}, none).status().code(), Code::kUsage);
  out.close();
}

TEST_F(WriteReadTest, OptionsOutOfRangeAreRefused) {
  WriteOptions mode, statistics, view;
  mode.mode = static_cast<WriteOptions::Mode>(3);
  statistics.statistics = static_cast<StatisticsLevel>(4);
  view.hdf5_view = static_cast<Hdf5View>(4);
  for (const WriteOptions& options : {mode, statistics, view}) {
    EXPECT_EQ(Writer::try_open(path(), options).status().code(), Code::kUsage);
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
}

// Would catch: a message about a call that the program did not make.
// Requests stay open while definitions change; a wait checks them again.
TEST_F(WriteReadTest, DefinitionsChangeWhileRequestsAreOpen) {
  Writer out(path());
  Block b = out.block("b"), gone = out.block("gone");
  Var v = b.var<int>("v", {b.dim("x", 2)}), w = gone.var<int>("w");
  const std::vector<int> values{1, 2};
  const int one = 1;
  const std::vector<Request> requests{v.iput(values), w.iput(one)};
  b.samples(1).att("a", 1);
  v.att("a", 1).rename("values");
  b.dim("y", 1);
  out.block("c");
  out.rename(b, "renamed");
  out.remove(gone);
  std::vector<Status> statuses(2);
  EXPECT_EQ(out.try_wait(requests, statuses).code(), Code::kUsage);
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].text();
  EXPECT_EQ(statuses[1].code(), Code::kUsage) << "its block was removed";
  out.close();
  const Reader in(path());
  EXPECT_EQ(in.read<int>("renamed/values"), values);
  EXPECT_EQ(in.blocks().size(), 2U);
}

TEST_F(WriteReadTest, ListsAndNumbersAsTheyAreWritten) {
  Writer out(path());
  Block b = out.block("b").tag("u", 5U).tag("i", 5).tag("f", 0.5F).tag("s", "text");
  b.tag("view", std::string_view("seen")).tag("value", TagValue(std::uint64_t{7}));
  Var v = b.var<char>("v", {b.dim("n", 2), b.dim("length", 3)});
  v.put_strings({"a", "bcd"});
  out.sync();
  EXPECT_EQ(out.open_blocks({"b"}).size(), 1U);
  out.close();
  const Reader in(path());
  EXPECT_EQ(in.var("b/v").strings(), (std::vector<std::string>{"a", "bcd"}));
  EXPECT_EQ(in.open_blocks({"b"}).size(), 1U);
  EXPECT_EQ(
      in.find("u == 5 && i == 5 && f == 0.5 && s == 'text' && view == 'seen' && value == 7").size(),
      1U);
}

TEST_F(WriteReadTest, AFailureOfManyReadsNamesTheFile) {
  {
    Writer out(path());
    Block b = out.block("b");
    b.var<int>("v", {b.dim("x", 2)}).put({1, 2});
    out.close();
  }
  const Reader in(path());
  std::vector<int> room(2);
  const std::vector<ReadRequest> requests{{in.var("b/v"), {{1}, {2}}, room}};
  const Status status = in.try_read_many(requests);
  EXPECT_EQ(status.code(), Code::kUsage);
  EXPECT_EQ(status.file(), path());
}

}  // namespace
}  // namespace nmb::test
