// Merging an NMB file whose pieces are larger than those of the new one: each is checked all the
// same.
#include <gtest/gtest.h>

#include <fstream>

#include "merge/reporting/merge.h"
#include "reader/file_reader.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

TEST(PackSums, ValuesOfLargePiecesAreChecked) {
  const TemporaryFolder folder;
  const std::string in = (folder.path() / "in.nmb").string();
  FileWriterOptions options;
  options.piece_size = 4 << 20;
  options.sync = false;
  {
    auto writer = std::move(*FileWriter::create(in, options));
    const BlockId block = *writer->define_block("b");
    const DimId x = *writer->def_dim(block, "x", 3 << 20);
    ASSERT_TRUE(writer->def_var(block, "v", Type::kByte, {{x}}).ok());
    ASSERT_TRUE(writer->end_define().ok());
    const std::vector<signed char> values(3 << 20, 7);
    ASSERT_TRUE(writer->put(block, 0, {{0}, {3 << 20}, {}}, std::span(values)).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  PackOptions merge;
  merge.inputs = {in};
  merge.output = (folder.path() / "out.nmb").string();
  merge.block_name = "{group}";
  merge.writer.sync = false;
  PackReport report;
  ASSERT_TRUE(pack(merge, &report).ok());
  {
    auto entry = *(*FileReader::open(in))->find("b");
    std::fstream file(in, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry->extent_position + 2'000'000));
    file.put(8);
  }
  merge.writer.overwrite = true;
  const Status status = pack(merge, &report);
  EXPECT_EQ(status.code(), Code::kDamaged) << status.text();
}

}  // namespace
}  // namespace nmb::test
