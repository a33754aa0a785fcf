// No bit of a closed file can flip, and no byte of its end be lost, without a finding near it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "support/corpus.h"
#include "support/sanitized.h"
#include "support/vectors.h"
#include "verify/verify.h"

namespace nmb {
namespace {

// Small files with all that version 1.0 has: inline values, data maps, dead space, dictionaries,
// sections, file tables.
constexpr const char* kFiles[] = {"simplest_file",      "dead_space", "zstd_dictionary",
                                  "hole_in_a_data_map", "sections",   "hdf5_superblock",
                                  "external_files"};
// Bytes of the largest structure in them: a finding may stand at its begin.
constexpr std::uint64_t kFarthest = 4096;

std::vector<std::byte> load(const char* name) {
  return test::read_file(test::vectors() / (std::string(name) + ".nmb"));
}

// All bits of bytes that are not zero and of those near them; one bit of each other byte.
std::vector<unsigned> bits_of(const std::vector<std::byte>& bytes, std::size_t at) {
  constexpr std::size_t kNear = 16;
  const std::size_t from = at < kNear ? 0 : at - kNear, to = std::min(bytes.size(), at + kNear);
  for (std::size_t i = from; i < to; ++i)
    if (bytes[i] != std::byte{0}) return {0, 1, 2, 3, 4, 5, 6, 7};
  return {static_cast<unsigned>(at % 8)};
}

// A flip is told at the structure that holds it, where a superblock, an entry or a row of dead
// space places that and keeps its sum, or at the block that has the other copy of the dictionary.
bool is_near(const Finding& finding, std::uint64_t at) {
  for (const char* rule : {"R-SB-9", "R-SB-20", "R-SC-2", "R-BK-22", "R-DS-2"})
    if (finding.rule == rule) return true;
  return finding.offset <= at && at < finding.offset + kFarthest;
}

TEST(FlippedBit, IsFound) {
  NMB_NEEDS_VECTORS();
  // One that comes by all bits.
  const std::size_t step = std::getenv("NMB_ALL") ? 1 : test::kSanitized ? 25 : 9;
  for (const char* name : kFiles) {
    SCOPED_TRACE(name);
    std::vector<std::byte> bytes = load(name);
    ASSERT_LE(bytes.size(), 64u << 10);
    std::size_t missed = 0;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      for (const unsigned bit : bits_of(bytes, at)) {
        const std::byte kept = bytes[at];
        bytes[at] ^= std::byte{1} << bit;
        test::FindingList findings;
        const MemorySource file(bytes, name);
        const auto summary = verify(file, {}, findings);
        bytes[at] = kept;
        ASSERT_TRUE(summary.ok()) << at << ": " << summary.status().text();
        bool found = false;
        for (const Finding& finding : findings.list)
          found |= finding.severity == Severity::kFinding && is_near(finding, at);
        if (found) continue;
        ASSERT_LT(++missed, 10u);
        ADD_FAILURE() << "bit " << bit << " of byte " << at << " of " << bytes.size()
                      << ", findings:\n"
                      << findings.text();
      }
    }
  }
}

// The shortest begin of a file by which it is known as one of NMB: a file with a view has the magic
// of its identity at 512 alone.
std::size_t shortest(const std::vector<std::byte>& bytes) {
  constexpr std::size_t kMagic = 8, kIdentity = 512;
  return std::equal(bytes.begin(), bytes.begin() + kMagic, bytes.begin() + kIdentity)
             ? kMagic
             : kIdentity + kMagic;
}

TEST(FlippedBit, CutsAreFound) {
  NMB_NEEDS_VECTORS();
  for (const char* name : kFiles) {
    SCOPED_TRACE(name);
    const std::vector<std::byte> bytes = load(name);
    const std::span<const std::byte> whole(bytes);
    const std::size_t least = shortest(bytes);
    std::set<std::size_t> lengths;
    for (std::size_t length = least; length < bytes.size(); length += 97) lengths.insert(length);
    for (std::size_t bound = 512; bound <= bytes.size(); bound += 512)
      for (const std::size_t length : {bound - 1, bound, bound + 1})
        if (length >= least && length < bytes.size()) lengths.insert(length);
    for (std::size_t length = least; length < 600; ++length) lengths.insert(length);
    for (const std::size_t length : lengths) {
      test::FindingList findings;
      const MemorySource file(whole.first(length), name);
      const auto summary = verify(file, {}, findings);
      ASSERT_TRUE(summary.ok()) << length << ": " << summary.status().text();
      ASSERT_TRUE(findings.has(Severity::kFinding, "R-FL-1", length))
          << length << " of " << bytes.size() << ":\n"
          << findings.text();
    }
    for (std::size_t length = 0; length < 8; ++length) {
      test::FindingList findings;
      const MemorySource file(whole.first(length), name);
      EXPECT_EQ(verify(file, {}, findings).status().code(), Code::kUnknownKind) << length;
    }
  }
}

// Any bytes after the file length, which no generation has committed, are reported.
TEST(FlippedBit, BytesBehindAreFound) {
  NMB_NEEDS_VECTORS();
  std::vector<std::byte> bytes = load("simplest_file");
  const std::size_t size = bytes.size();
  for (const std::size_t more : {1u, 4095u, 4096u, 10000u}) {
    bytes.resize(size + more);
    test::FindingList findings;
    const auto summary = verify(MemorySource(bytes), {}, findings);
    ASSERT_TRUE(summary.ok());
    EXPECT_TRUE(findings.has(Severity::kWarning, "R-FL-2", size)) << findings.text();
    EXPECT_EQ(findings.list.size(), 1u) << findings.text();
    EXPECT_EQ(summary->sound_blocks, summary->recorded_blocks);
  }
}

}  // namespace
}  // namespace nmb
