// Growth pages and originals are read as the blocks and files that they are (spec/files.md,
// sections 10.3 and 10.4).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "files/files.h"
#include "model/values.h"
#include "reader/extent_pieces.h"
#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/counting_source.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

std::string vector_file(const char* name) {
  return (test::vectors() / (std::string(name) + ".nmb")).string();
}

TEST(Growth, BlocksAreReadAsTheyAre) {
  NMB_NEEDS_VECTORS();
  for (const Unverified unverified : {Unverified::kNothing, Unverified::kPartsOfPieces}) {
    const auto reader = *FileReader::open(vector_file("growth"), {.unverified = unverified});
    EXPECT_EQ(*(*reader->block("a"))->read_all<int>(0), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(*(*reader->block("b"))->read_all<double>(0), (std::vector<double>{0.5, 1.5, 2.5}));
    // A part, across what the entry has and what growth pages add.
    int part[3];
    ASSERT_TRUE((*reader->block("a"))->read(0, {{0, 1}, {3, 1}, {}}, part).ok());
    EXPECT_EQ((std::vector<int>{part, part + 3}), (std::vector<int>{2, 4, 6}));
  }
}

TEST(Growth, CountsInEntriesAndTotals) {
  NMB_NEEDS_VECTORS();
  const auto reader = *FileReader::open(vector_file("growth"));
  EXPECT_EQ(reader->totals().records, 7u);
  EXPECT_EQ(reader->totals_of_subtree("a")->records, 4u);
  EXPECT_EQ(reader->totals_of_prefix("b")->records, 3u);
  EXPECT_EQ(reader->totals_of_prefix("c")->records, 0u);
  const BlockEntry a = **reader->find("a");
  EXPECT_EQ(a.records, 4u);
  EXPECT_EQ(a.extent_length, 32u);
  EXPECT_GT(a.growth, 0u);
  EXPECT_GT(a.grown_records, 0u);
  std::uint64_t end = 0;
  const std::vector<ExtentPiece> pieces = *extent_pieces(*reader, a);
  for (const ExtentPiece& piece : pieces) {
    EXPECT_EQ(piece.offset, end);
    end += piece.length;
  }
  EXPECT_EQ(end, a.extent_length);
}

// A file without growth needs no further reads, and pages are read once.
TEST(Growth, PagesAreReadOnce) {
  NMB_NEEDS_VECTORS();
  const std::shared_ptr<const ByteSource> file = *FileSource::open(vector_file("growth_two_pages"));
  const auto counted = std::make_shared<test::CountingSource>(*file);
  const auto reader = *FileReader::open(counted);
  ASSERT_TRUE(reader->find("a").ok());
  const auto reads = counted->reads();
  ASSERT_TRUE(reader->find("a").ok());
  ASSERT_TRUE(reader->find("b").ok());
  EXPECT_EQ(counted->reads(), reads);
}

TEST(Growth, WritersGoOnWithIt) {
  NMB_NEEDS_VECTORS();
  for (const char* name : {"growth", "growth_two_pages", "growth_coded"}) {
    SCOPED_TRACE(name);
    const test::TemporaryFolder folder;
    const std::string path = (folder.path() / "f.nmb").string();
    std::filesystem::copy_file(vector_file(name), path);
    const auto before = *(*FileReader::open(path))->block("a");
    std::vector<int> expected = *before->read_all<int>(0);
    for (const std::uint64_t record : {before->records, std::uint64_t{0}}) {
      FileWriterOptions options;
      options.sync = false;
      const auto writer = *FileWriter::open(path, options);
      ASSERT_TRUE(writer->end_define().ok());
      const BlockId a = *writer->find_block("a");
      const auto width = expected.size() / before->records;
      const std::vector<int> values(width, 77);
      Hyperslab slab{{record}, {1}, {}};
      if ((*writer->metadata(a))->variable(0).dimensions.size() == 2)
        slab = {{record, 0}, {1, width}, {}};
      ASSERT_TRUE(writer->put(a, 0, slab, std::span<const int>(values)).ok());
      ASSERT_TRUE(writer->close().ok());
      const std::size_t at = record * width;
      if (expected.size() < at + width) expected.resize(at + width);
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), width, 77);
      EXPECT_EQ(test::findings_of(std::filesystem::path(path)), "");
      const auto reader = *FileReader::open(path);
      EXPECT_EQ(*(*reader->block("a"))->read_all<int>(0), expected);
    }
  }
}

TEST(Originals, AreGivenBack) {
  NMB_NEEDS_VECTORS();
  const auto reader = *FileReader::open(vector_file("originals"));
  const std::vector<ExternalFile> files = *reader->external_files();
  std::size_t originals = 0;
  for (std::uint32_t number = 1; number <= files.size(); ++number) {
    std::vector<std::byte> bytes;
    const Status status = reader->give_back(number, [&](std::span<const std::byte> part) {
      bytes.insert(bytes.end(), part.begin(), part.end());
      return Status();
    });
    if (!files[number - 1].is_original) {
      EXPECT_EQ(status.code(), Code::kUsage);
      continue;
    }
    ++originals;
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(bytes.size(), files[number - 1].size);
    // The same by the source, which outlives the reader.
    auto again = *FileReader::open(vector_file("originals"));
    const auto source = *again->open_external(number);
    again.reset();
    std::vector<std::byte> same(source->size());
    ASSERT_TRUE(source->read_at(0, same).ok());
    EXPECT_TRUE(same == bytes);
  }
  EXPECT_GE(originals, 2u);
}

TEST(Originals, OtherBytesAreTold) {
  NMB_NEEDS_VECTORS();
  for (const char* name : {"R-FT-7_digest", "R-EX-5_original"}) {
    SCOPED_TRACE(name);
    const auto reader = *FileReader::open(vector_file(name));
    const auto files = *reader->external_files();
    std::string rules;
    for (std::uint32_t number = 1; number <= files.size(); ++number)
      if (files[number - 1].is_original)
        rules +=
            reader->give_back(number, [](std::span<const std::byte>) { return Status(); }).rule();
    EXPECT_EQ(rules, std::string(name).substr(0, 6));
  }
}

}  // namespace
}  // namespace nmb
