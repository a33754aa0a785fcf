// Promises of verify other than its findings: bounded memory, work that depends on the file's size,
// reported read failures, classic files.
#include "verify/verify.h"

#include <gtest/gtest.h>

#include <chrono>

#include "files/files.h"
#include "support/corpus.h"
#include "support/counting_source.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "verify/space_map.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

TEST(SpaceMap, TellsTheSecondOfTwo) {
  SpaceMap map;
  EXPECT_FALSE(map.claim(100, 200));
  EXPECT_FALSE(map.claim(200, 300));
  EXPECT_FALSE(map.claim(50, 100));
  EXPECT_FALSE(map.claim(400, 500));
  EXPECT_FALSE(map.claim(70, 70));
  EXPECT_EQ(map.claim(299, 310), 299u);  // begins within another
  EXPECT_EQ(map.claim(0, 51), 50u);      // the other begins within it
  EXPECT_EQ(map.claim(350, 450), 400u);
  EXPECT_EQ(map.claim(0, 1000), 50u);
  EXPECT_EQ(map.claim(100, 200), 100u);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  map.for_each_gap(60, 600, [&](std::uint64_t begin, std::uint64_t end) {
    gaps.push_back({begin, end});
  });
  EXPECT_EQ(gaps, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{300, 400}, {500, 600}}));
}

TEST(SpaceMap, NeighboursBecomeOne) {
  SpaceMap map;
  for (std::uint64_t i = 0; i < 1000; i += 2) EXPECT_FALSE(map.claim(i, i + 1));
  for (std::uint64_t i = 1; i < 1000; i += 2) EXPECT_FALSE(map.claim(i, i + 1));
  std::size_t gaps = 0;
  map.for_each_gap(0, 1000, [&](std::uint64_t, std::uint64_t) { ++gaps; });
  EXPECT_EQ(gaps, 0u);
  EXPECT_EQ(map.claim(10, 11), 10u);
}

TEST(Verify, RefusesOtherKinds) {
  test::FindingList findings;
  const std::vector<std::byte> nothing, zeros(100000), text(7, std::byte{'C'});
  for (const auto* bytes : {&nothing, &zeros, &text})
    EXPECT_EQ(verify(MemorySource(*bytes), {}, findings).status().code(), Code::kUnknownKind);
  EXPECT_TRUE(findings.list.empty());
}

TEST(Verify, FailedReadsLeaveItIncomplete) {
  NMB_NEEDS_VECTORS();
  for (const char* name : {"dead_space", "many_pieces", "zstd_dictionary", "sections"}) {
    const auto bytes = test::read_file(test::vectors() / (std::string(name) + ".nmb"));
    const MemorySource memory(bytes, name);
    const test::CountingSource counted(memory);
    test::FindingList findings;
    ASSERT_TRUE(verify(counted, {}, findings).ok());
    ASSERT_TRUE(findings.list.empty()) << findings.text();
    EXPECT_LE(counted.largest(), 1u << 20);
    for (std::uint64_t fail_at = 0; fail_at < counted.reads(); ++fail_at) {
      SCOPED_TRACE(std::string(name) + ", read " + std::to_string(fail_at));
      const test::CountingSource failing(memory, fail_at);
      const auto summary = verify(failing, {}, findings);
      const Status status = summary.ok() ? summary->incomplete : summary.status();
      EXPECT_EQ(status.code(), Code::kIo) << status.text();
      EXPECT_EQ(status.file(), name);
      EXPECT_TRUE(findings.list.empty()) << findings.text();
    }
  }
}

TEST(Verify, KeepsToItsRate) {
  NMB_NEEDS_VECTORS();
  const auto bytes = test::read_file(test::vectors() / "simplest_file.nmb");
  test::FindingList findings;
  VerifierOptions options;
  options.rate = 200000;
  const auto start = std::chrono::steady_clock::now();
  const auto summary = verify(MemorySource(bytes), options, findings);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(summary.ok());
  EXPECT_GE(took.count(), static_cast<double>(summary->bytes_read) / 200000);
}

TEST(Verify, NamesDamagedBlocks) {
  NMB_NEEDS_VECTORS();
  const auto bytes = test::read_file(test::vectors() / "R-EX-6_sum_of_an_extent.nmb");
  test::FindingList findings;
  std::vector<std::string> damaged;
  VerifierOptions options;
  options.on_damaged_block = [&](const std::string& name) { damaged.push_back(name); };
  auto summary = verify(MemorySource(bytes), options, findings);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(damaged, std::vector<std::string>{"b"});
  EXPECT_EQ(summary->damaged_blocks, 1u);
  EXPECT_EQ(summary->sound_blocks, summary->recorded_blocks - 1);
  damaged.clear();
  options.level = VerifyLevel::kBlocks;
  summary = verify(MemorySource(bytes), options, findings);
  ASSERT_TRUE(summary.ok());
  EXPECT_TRUE(damaged.empty());
}

// Some blocks are whole in a file that lost the end of its values; the index must not be lost for
// that.
TEST(Verify, GoesOnBehindDamage) {
  NMB_NEEDS_VECTORS();
  auto bytes = test::read_file(test::vectors() / "several_leaves.nmb");
  test::FindingList findings;
  const auto whole = verify(MemorySource(bytes), {}, findings);
  ASSERT_TRUE(whole.ok());
  ASSERT_TRUE(findings.list.empty());
  // A leaf that is lost takes its 64 blocks with it, no others.
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t leaf = all.find("\x89NMBINDX");
  ASSERT_NE(leaf, std::string_view::npos);
  bytes[leaf + 20 + 80] ^= std::byte{1};
  const auto damaged = verify(MemorySource(bytes), {}, findings);
  ASSERT_TRUE(damaged.ok());
  EXPECT_EQ(damaged->findings, 1u) << findings.text();
  EXPECT_EQ(damaged->sound_blocks, whole->sound_blocks - 64);
}

// Large metadata that is not compressed is read twice. A failure or a change between the two reads
// is found.
TEST(Verify, ReadsLargeMetadataTwice) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "large.nmb").string();
  FileWriterOptions options;
  options.sync = false;
  options.metadata_codec = MetadataCodec::kNone;
  auto writer = *FileWriter::create(path, options);
  const BlockId block = *writer->define_block("b");
  const std::vector<std::byte> large(std::size_t{17} << 20, std::byte{7});
  ASSERT_EQ(writer->put_att(block, kGlobal, "large", Type::kByte, large).text(), "ok");
  ASSERT_EQ(writer->close().text(), "ok");

  auto bytes = test::read_file(path);
  const MemorySource memory(bytes, "large.nmb");
  const test::CountingSource counted(memory);
  test::FindingList findings;
  const auto whole = verify(counted, {}, findings);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(findings.list.empty()) << findings.text();
  EXPECT_EQ(whole->sound_blocks, 1u);
  EXPECT_GE(counted.bytes(), 2 * large.size());
  for (std::uint64_t fail_at = counted.reads() / 2; fail_at < counted.reads(); ++fail_at) {
    const test::CountingSource failing(memory, fail_at);
    const auto summary = verify(failing, {}, findings);
    EXPECT_EQ((summary.ok() ? summary->incomplete : summary.status()).code(), Code::kIo) << fail_at;
    EXPECT_TRUE(findings.list.empty()) << findings.text();
  }
  bytes[bytes.size() / 2] ^= std::byte{1};
  const auto damaged = verify(memory, {}, findings);
  ASSERT_TRUE(damaged.ok());
  ASSERT_EQ(findings.list.size(), 1u) << findings.text();
  EXPECT_EQ(findings.list[0].rule, "R-BK-6");
}

}  // namespace
}  // namespace nmb
