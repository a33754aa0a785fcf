// The digests of the vectors' contents are those of the reference program
// (spec/vectors/digests.tsv).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "nmb/compare.h"
#include "nmb/files.h"
#include "nmb/reader.h"
#include "support/vectors.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

FileBlocks blocks_of(const Reader& reader) {
  return {[&](std::string_view name) { return reader.find(name); },
          [&](std::string_view prefix, const auto& visit) {
            return reader.for_each_entry(prefix, visit);
          },
          [&](const BlockEntry& entry) -> Result<std::shared_ptr<const Dataset>> {
            NMB_ASSIGN(std::shared_ptr<const Block> block, reader.block(entry));
            return std::shared_ptr<const Dataset>(std::move(block));
          }};
}

Result<Digest> digest_of_file(const std::string& path, unsigned threads) {
  NMB_ASSIGN(const std::unique_ptr<Reader> reader, Reader::open(path));
  return digest_file(blocks_of(*reader), {.threads = threads},
                     [](const BlockDigest&) { return Status(); });
}

TEST(DigestVectors, HaveTheDigestsOfTheReference) {
  std::ifstream in(NMB_PROJECT_FOLDER "/spec/vectors/digests.tsv");
  int compared = 0;
  for (std::string name, expected; in >> name >> expected;) {
    const fs::path file = test::vectors() / (name + ".nmb");
    if (expected == "-" || !fs::exists(file)) continue;  // classic files: nminspect_digest.case
    for (const unsigned threads : {1U, 3U}) {
      const Result<Digest> digest = digest_of_file(file.string(), threads);
      ASSERT_TRUE(digest.ok()) << name << ": " << digest.status().text();
      EXPECT_EQ(digest_text(*digest), expected) << name;
    }
    const Result<std::unique_ptr<Reader>> reader = Reader::open(file.string());
    ASSERT_TRUE(reader.ok());
    const ComparisonVisitor visitor{[](const DefinitionDifference&) { return Status(); },
                                    [](const ComparedVariable&) { return Status(); }};
    const Result<bool> same = compare_files(blocks_of(**reader), blocks_of(**reader), {}, visitor);
    EXPECT_TRUE(same.ok() && *same) << name;
    ++compared;
  }
  EXPECT_GT(compared, 90);
}

}  // namespace
}  // namespace nmb
