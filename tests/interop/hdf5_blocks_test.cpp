// Programs that write to a file with blocks that came from HDF5: the blocks stay as they are.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "interop/extended_file.h"
#include "nmb/ranks.h"
#include "nmb/reader.h"
#include "nmb/verify.h"
#include "nmb/writer.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

// Values 1, 2, 3 in "h/v", and a classic block "c".
std::string write_blocks(const std::filesystem::path& folder) {
  const std::string path = (folder / "f.nmb").string();
  ExtendedBlock block("h");
  Bytes values;
  for (const char value : {'\1', '\2', '\3'}) values.put(value);
  block.variable("v", Type::kByte, {3}, values);
  write_extended(path, {block});
  Writer out(path, {.mode = WriteOptions::Mode::kAppend, .sync = false});
  Block c = out.block("c");
  c.var<int>("v", {c.dim("x", 1)}).put({7});
  out.close();
  return path;
}

void expect_unchanged(const std::string& path) {
  const Reader in(path);
  EXPECT_EQ(in.read<int>("h/v"), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(in.generation(), 2U);
  EXPECT_TRUE(verify(path).is_sound());
}

TEST(Hdf5BlocksTest, TheyTakeNoValuesAndNoOtherNames) {
  const TemporaryFolder folder;
  const std::string path = write_blocks(folder.path());
  const std::vector<int> three{4, 5, 6};
  const std::vector<std::string> strings{"a"};
  {
    Writer out(path, {.mode = WriteOptions::Mode::kAppend, .sync = false});
    Block h = out.block("h");
    Var v = h.var("v");
    EXPECT_EQ(v.try_put(three).code(), Code::kUnsupported);
    EXPECT_EQ(v.try_put(7).code(), Code::kUnsupported);
    EXPECT_EQ(v.try_put({{1}, {1}}, 7).code(), Code::kUnsupported);
    EXPECT_EQ(v.try_put_records(0, three).code(), Code::kUnsupported);
    EXPECT_EQ(v.try_put_strings(strings).code(), Code::kUnsupported);
    EXPECT_EQ(v.try_put_all({{0}, {3}}, three).code(), Code::kUnsupported);
    EXPECT_EQ(v.try_iput(three).status().code(), Code::kUnsupported);
    EXPECT_EQ(v.try_iput({{0}, {3}}, three).status().code(), Code::kUnsupported);
    EXPECT_EQ(h.try_extend(1).code(), Code::kUnsupported);
    EXPECT_EQ(v.try_att("a", 1).code(), Code::kUnsupported);
    EXPECT_EQ(out.try_rename(h, "g").code(), Code::kUnsupported);
    const Status removed = out.try_remove(h);
    EXPECT_EQ(removed.code(), Code::kUnsupported);
    EXPECT_NE(removed.message().find("block \"h\" came from HDF5"), std::string::npos)
        << removed.text();
    out.close();
  }
  expect_unchanged(path);
}

TEST(Hdf5BlocksTest, AllRanksGetTheRefusal) {
  const TemporaryFolder folder;
  const std::string path = write_blocks(folder.path());
  run_threads(3, [&](Ranks& ranks) {
    Writer out(path, ranks, {.mode = WriteOptions::Mode::kAppend, .sync = false});
    Var v = out.block("h").var("v");
    out.end_define();
    const std::vector<int> three{4, 5, 6};
    const Status status = ranks.rank() == 1 ? v.try_put_all({{0}, {3}}, three) : v.try_put_all();
    EXPECT_EQ(status.code(), Code::kUnsupported) << status.text();
    EXPECT_EQ(status.rank(), 1);
    out.close();
  });
  expect_unchanged(path);
}

}  // namespace
}  // namespace nmb::test
