// Entries that are chosen by the orders of their blocks: which are visited, how much is read, and
// that no damage leaves one out.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "support/counting_source.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

using Orders = std::set<std::uint64_t>;

std::string name_of(std::uint64_t order, std::uint64_t blocks) {
  return std::to_string(1000 + order * 5 % blocks);
}

std::vector<std::byte> file_of(std::uint64_t blocks, std::uint32_t leaf_rows, bool removes) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "f.nmb").string();
  FileWriterOptions options;
  options.sync = false;
  options.leaf_rows = leaf_rows;
  options.node_rows = 4;
  {
    const auto writer = *FileWriter::create(path, options);
    for (std::uint64_t i = 0; i < blocks; ++i) (void)*writer->define_block(name_of(i, blocks));
    EXPECT_TRUE(writer->close().ok());
  }
  if (removes) {
    const auto writer = *FileWriter::open(path, options);
    EXPECT_TRUE(writer->remove_block(*writer->find_block(name_of(3, blocks))).ok());
    EXPECT_TRUE(writer->close().ok());
  }
  std::ifstream in(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const auto all = std::as_bytes(std::span(bytes));
  return {all.begin(), all.end()};
}

// The orders of the entries that are visited in ascending order of names, or the failure.
Result<Orders> visited(const std::shared_ptr<const ByteSource>& file, const Orders& wanted) {
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(file));
  Orders out;
  std::string last;
  NMB_TRY(reader->for_each_wanted_entry(
      [&](std::uint64_t order) -> Result<bool> { return wanted.contains(order); },
      [&](const BlockEntry& entry) -> Result<bool> {
        EXPECT_LT(last, entry.name);
        last = entry.name;
        out.insert(entry.order);
        return true;
      }));
  return out;
}

bool has_all(const Orders& found, const Orders& wanted) {
  return std::ranges::includes(found, wanted);
}

TEST(WantedEntries, AreVisitedAndFewOthers) {
  constexpr std::uint64_t kCount = 1001;
  const auto file = owned_bytes(file_of(kCount, 16, false), "f.nmb");
  for (const Orders& wanted :
       {Orders{}, Orders{0}, Orders{kCount - 1}, Orders{5, 6, 7, 500}, Orders{kCount}}) {
    const auto counted = std::make_shared<CountingSource>(*file);
    const Result<Orders> found = visited(counted, wanted);
    ASSERT_TRUE(found.ok()) << found.status().text();
    EXPECT_TRUE(has_all(*found, wanted) || wanted.contains(kCount));
    EXPECT_LE(found->size(), 16 * wanted.size());
    EXPECT_LE(counted->bytes(), 60000u) << wanted.size();
  }
  Orders all;
  for (std::uint64_t i = 0; i < kCount; ++i) all.insert(i);
  EXPECT_EQ(*visited(file, all), all);
}

TEST(WantedEntries, AreAllIfBlocksWereRemoved) {
  const auto file = owned_bytes(file_of(101, 8, true), "f.nmb");
  const Result<Orders> found = visited(file, {});
  ASSERT_TRUE(found.ok()) << found.status().text();
  EXPECT_EQ(found->size(), 100u);
}

TEST(WantedEntries, AreNeverLeftOutOfADamagedIndex) {
  constexpr std::uint64_t kCount = 21;
  const std::vector<std::byte> whole = file_of(kCount, 3, false);
  const Orders wanted{2, 11};
  // The index is behind the blocks.
  const std::unique_ptr<FileReader> reader = *FileReader::open(owned_bytes(whole, "f.nmb"));
  std::uint64_t begin = 0;
  ASSERT_TRUE(reader
                  ->for_each_entry("",
                                   [&](const BlockEntry& entry) -> Result<bool> {
                                     begin = std::max(begin, entry.position);
                                     return true;
                                   })
                  .ok());
  std::uint64_t failures = 0, answers = 0;
  const std::uint64_t end = whole.size() - 4096;
  for (std::uint64_t at = begin; at < end; ++at)
    for (const int change : {0x01, 0x02, 0x80, 0xff}) {
      std::vector<std::byte> damaged = whole;
      damaged[at] ^= static_cast<std::byte>(change);
      const Result<Orders> found = visited(owned_bytes(std::move(damaged), "f.nmb"), wanted);
      ++(found.ok() ? answers : failures);
      if (!found.ok()) continue;
      ASSERT_TRUE(has_all(*found, wanted)) << "byte " << at << " changed by " << change;
    }
  EXPECT_GT(failures, 0u);
  EXPECT_GT(answers, 0u);
}

}  // namespace
}  // namespace nmb::test
