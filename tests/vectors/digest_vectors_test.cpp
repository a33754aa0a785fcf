// The digests of the vectors' contents are those of the reference program
// (spec/vectors/digests.tsv).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compare/compare.h"
#include "files/files.h"
#include "reader/file_reader.h"
#include "support/content.h"
#include "support/corpus.h"
#include "support/right_sums.h"
#include "support/sanitized.h"
#include "support/vectors.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

Result<Digest> digest_of_file(const std::string& path, unsigned threads) {
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
  return digest_file(test::content_of(*reader), {.threads = threads},
                     [](const BlockDigest&) { return Status(); });
}

TEST(DigestVectors, HaveTheDigestsOfTheReference) {
  NMB_NEEDS_VECTORS();
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
    const Result<std::unique_ptr<FileReader>> reader = FileReader::open(file.string());
    ASSERT_TRUE(reader.ok());
    const ComparisonVisitor visitor{[](const DefinitionDifference&) { return Status(); },
                                    [](const ComparedVariable&) { return Status(); }};
    const Result<bool> same =
        compare_files(test::content_of(**reader), test::content_of(**reader), {}, visitor);
    EXPECT_TRUE(same.ok() && *same) << name;
    ++compared;
  }
  EXPECT_GT(compared, 90);
}

// Whatever the bytes of a file are, the digest is computed or the reason is said; and a file whose
// digest can be computed is the same as itself.
TEST(DigestVectors, DamagedFilesWithRightSums) {
  NMB_NEEDS_VECTORS();
  std::size_t computed = 0, refused = 0;
  for (const char* name : {"extended_types", "extended_small", "extended_classic_in_chunks",
                           "extended_dimensions_above", "attribute_types", "records"}) {
    const auto bytes = test::read_file(test::vectors() / (std::string(name) + ".nmb"));
    for (std::size_t at = 16384; at < bytes.size(); at += test::kShare == 1 ? 37 : 61) {
      auto changed = bytes;
      changed[at] ^= static_cast<std::byte>(1 << at % 8);
      test::make_sums_right(changed);
      const Result<std::unique_ptr<FileReader>> reader =
          FileReader::open(std::make_shared<MemorySource>(changed));
      if (!reader.ok()) continue;
      const ContentFile file = test::content_of(**reader);
      const Result<Digest> digest =
          digest_file(file, {}, [](const BlockDigest&) { return Status(); });
      (digest.ok() ? computed : refused) += 1;
      const ComparisonVisitor visitor{[](const DefinitionDifference&) { return Status(); },
                                      [](const ComparedVariable&) { return Status(); }};
      const Result<bool> same = compare_files(file, file, {}, visitor);
      EXPECT_EQ(same.ok(), digest.ok()) << name << " at " << at << same.status().text();
      EXPECT_TRUE(!same.ok() || *same) << name << " at " << at;
    }
  }
  EXPECT_GT(computed, 50U);
  EXPECT_GT(refused, 5U);
}

}  // namespace
}  // namespace nmb
