// Conversions that read back what they write: bytes that went wrong on their way are found before
// the file gets its name.
#include <gtest/gtest.h>

#include <filesystem>

#include "convert/convert.h"
#include "merge/reporting/merge.h"
#include "reader/file_reader.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

// Flips a bit of the last byte of a write.
class FlippedOutput final : public OutputFileLayer {
 public:
  FlippedOutput(std::unique_ptr<OutputFile> base, std::size_t* left)
      : OutputFileLayer(std::move(base)), left_(left) {}
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if ((*left_)-- != 0 || bytes.empty()) return base_->write_at(offset, bytes);
    std::vector<std::byte> other(bytes.begin(), bytes.end());
    other.back() ^= std::byte{1};
    return base_->write_at(offset, other);
  }

 private:
  std::size_t* left_;  // writes ahead of that one
};

class ReadBack : public testing::Test {
 protected:
  ReadBack() {
    FileWriterOptions options;
    options.sync = false;
    auto writer = std::move(*FileWriter::create(file("in.nmb"), options));
    const BlockId block = *writer->define_block("b");
    const DimId x = *writer->def_dim(block, "x", 3 << 19);
    EXPECT_TRUE(writer->def_var(block, "v", Type::kShort, {{x}}).ok());
    EXPECT_TRUE(writer->end_define().ok());
    const std::vector<short> values(3 << 19, 7);
    EXPECT_TRUE(writer->put(block, 0, {{0}, {3 << 19}, {}}, std::span(values)).ok());
    EXPECT_TRUE(writer->close().ok());
  }

  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  OutputLayer flips(std::size_t* write) const {
    return [write](std::unique_ptr<OutputFile> file) {
      return std::make_unique<FlippedOutput>(std::move(file), write);
    };
  }
  Status merge(bool check, std::size_t write) const {
    PackOptions options;
    options.inputs = {file("in.nmb")};
    options.output = file("out");
    options.writer.sync = false;
    options.writer.layer = flips(&write);
    options.check = check;
    PackReport report;
    return pack(options, &report);
  }
  Status extract(bool check, std::size_t write) const {
    ExtractOptions options;
    options.sync = false;
    options.check = check;
    options.layer = flips(&write);
    const auto reader = std::move(*FileReader::open(file("in.nmb")));
    return extract_block(*reader, **reader->find("b"), file("out"), options);
  }

  // Each write in turn, up to one that there is not: 3 of values at least, and a head.
  template <class Write>
  void expect_found(Write write) const {
    std::size_t flipped = 0;
    for (Status status; !(status = write(true, flipped)).ok(); ++flipped) {
      EXPECT_EQ(status.code(), Code::kIo);
      EXPECT_NE(status.message().find("the bytes read back differ"), std::string::npos)
          << status.message();
      EXPECT_FALSE(std::filesystem::exists(file("out")));
      ASSERT_LT(flipped, 100U);
    }
    EXPECT_GE(flipped, 4U);
    std::filesystem::remove(file("out"));
    EXPECT_TRUE(write(false, 1).ok()) << "nobody looked";
  }

  const TemporaryFolder folder_;
};

TEST_F(ReadBack, FindsEveryWriteOfAMergeThatWentWrong) {
  expect_found([&](bool check, std::size_t at) { return merge(check, at); });
}

TEST_F(ReadBack, FindsEveryWriteOfAClassicFileThatWentWrong) {
  expect_found([&](bool check, std::size_t at) { return extract(check, at); });
}

}  // namespace
}  // namespace nmb::test
