// Ranges of the options of conversions.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "convert/convert.h"
#include "reader/file_reader.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

TEST(ExtractOptions, OutOfRangeAreRefused) {
  const TemporaryFolder folder;
  const std::string in = folder.path() / "in.nmb", out = folder.path() / "out.h5";
  ASSERT_TRUE((*FileWriter::create(in))->close().ok());
  const std::unique_ptr<FileReader> reader = *FileReader::open(in);
  Communicator alone;
  const auto refused = [&](const ExtractOptions& options) {
    return write_hdf5(*reader, in, out, options, alone).message();
  };
  ExtractOptions options;
  options.deflate = 10;
  EXPECT_EQ(refused(options), "found deflate level 10, expected 0 to 9");
  options.deflate = -1;
  EXPECT_EQ(refused(options), "found deflate level -1, expected 0 to 9");
  options.deflate = 0;
  options.chunk = {{"time", 0}};
  EXPECT_EQ(refused(options),
            "found chunks of length 0 along dimension \"time\", expected 1 or more");
}

}  // namespace
}  // namespace nmb::test
