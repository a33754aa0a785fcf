// Recovery: files that were made to take long or much memory, and the promises of recover().
// tests/cli/recover_damaged.py compares recovered blocks with the reference.
#include "recover/recover.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>

#include "block/block_header.h"
#include "extent/data_map.h"
#include "index/entry_codec.h"
#include "reader/file_reader.h"
#include "superblock/superblock.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "verify/verify.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

constexpr Digest kId{1, 2};

std::shared_ptr<const ByteSource> source(const std::vector<std::byte>& bytes) {
  return std::make_shared<MemorySource>(bytes, "damaged");
}

// Adds pages and blocks to the bytes of a file.
class File final : public PageSink {
 public:
  File() : bytes(kBodyStart) {}
  std::uint64_t next_position() const override { return bytes.size(); }
  Status append(std::span<const std::byte> page) override {
    bytes.insert(bytes.end(), page.begin(), page.end());
    return {};
  }
  void replaced(const Page&) override {}
  void dropped(const Place&) override {}

  // Adds a block with the definitions `body`. `fields` has the other fields of the header.
  void add_block(std::string_view name, std::span<const std::byte> body, BlockHeader fields) {
    fields.origin = {kId, 1, 0};
    fields.position = bytes.size();
    fields.kind = 5;
    fields.stored_length = fields.raw_length = body.size();
    fields.digest = digest_of(body);
    std::vector<std::byte> stored(body.begin(), body.end());
    stored.resize((stored.size() + 7) / 8 * 8);
    fields.body_sum = sum_of(stored);
    std::vector<std::byte> header(block_body_offset(name.size()));
    fields.encode(name, header);
    bytes.insert(bytes.end(), header.begin(), header.end());
    bytes.insert(bytes.end(), stored.begin(), stored.end());
  }
  void add_trailer(Superblock superblock) {
    bytes.resize((bytes.size() + kSlotUnit - 1) / kSlotUnit * kSlotUnit);
    superblock.generation = 1;
    superblock.file_id = kId;
    superblock.file_length = bytes.size() + kSlotUnit;
    const auto trailer = superblock.encode();
    bytes.insert(bytes.end(), trailer.begin(), trailer.end());
  }

  std::vector<std::byte> bytes;
};

// A CDF-5 header without definitions.
std::vector<std::byte> empty_definitions() {
  std::vector<std::byte> body(48);
  std::memcpy(body.data(), "CDF\5", 4);
  return body;
}

TEST(Recover, OverlappingHeadersEndWithALimit) {
  std::vector<std::byte> bytes(4 << 20);
  for (std::size_t at = kBodyStart; at + 40 <= bytes.size(); at += 40) {
    std::memcpy(&bytes[at], "\x89NMBBLCK\1", 9);
    store_le<std::uint16_t>(&bytes[at + in_block_header::kNameLength], 65535);
    store_le<std::uint64_t>(&bytes[at + in_block_header::kPosition], at);
  }
  EXPECT_EQ(recover(source(bytes), {}).status().code(), Code::kLimit);
}

TEST(Recover, MillionsOfMagicsTakeNoTime) {
  std::vector<std::byte> bytes(16 << 20);
  for (std::size_t at = 0; at < bytes.size(); at += 8) std::memcpy(&bytes[at], "\x89NMBBLCK", 8);
  EXPECT_EQ(recover(source(bytes), {}).status().code(), Code::kDamaged);
}

// Each node of the index has many rows, all of which lead to the same child.
TEST(Recover, ManyPathsToOnePageAreFollowedOnce) {
  File file;
  PageBuilder leaf(PageUse::kIndex, 0);
  BlockEntry entry;
  entry.name = "b";
  entry.position = kBodyStart;
  add_entry(leaf, entry);
  auto child = write_page(file, leaf, {kId, 1, 0});
  ASSERT_TRUE(child.ok());
  Superblock superblock;
  for (std::uint16_t level = 1; level < kMaxHeight; ++level) {
    PageBuilder node(PageUse::kIndex, level);
    for (int row = 0; row < 100; ++row) {
      ChildRow to;
      to.separator = row == 0 ? "" : std::string(1, static_cast<char>(row));
      to.position = child->position;
      to.length = static_cast<std::uint32_t>(child->length);
      to.sum = child->sum;
      add_child(node, to);
    }
    std::vector<std::byte> bytes;
    child = write_page(file, node, {kId, 1, 0}, 0, &bytes);
    ASSERT_TRUE(child.ok());
    superblock.root_digest = digest_of(bytes);
  }
  superblock.root_position = child->position;
  superblock.root_length = static_cast<std::uint32_t>(child->length);
  superblock.height = kMaxHeight;
  file.add_trailer(superblock);
  const auto recovery = recover(source(file.bytes), {});
  ASSERT_TRUE(recovery.ok()) << recovery.status().text();
  EXPECT_EQ(recovery->recovered(), 0u);
  ASSERT_EQ(recovery->lost.size(), 1u);
  EXPECT_EQ(recovery->lost[0].name, "b");
}

// A small file whose data map has the same piece thousands of times.
TEST(Recover, PiecesWithTheSameBytesEndWithALimit) {
  File file;
  constexpr std::uint64_t kPiece = 1 << 20, kCount = 4096;
  const std::uint64_t block = file.bytes.size();
  BlockHeader header;
  header.extent_length = kPiece * kCount;
  file.add_block("b", empty_definitions(), header);
  const std::uint64_t at = file.bytes.size();
  file.bytes.resize(at + kPiece);
  const std::uint64_t sum = sum_of(std::span(file.bytes).subspan(at));
  std::vector<Piece> pieces;
  for (std::uint64_t i = 0; i < kCount; ++i) pieces.push_back({i * kPiece, kPiece, false, at, sum});
  ASSERT_TRUE(write_data_map(pieces, nullptr, kNodeRows, file, {kId, 1, 0}, block).ok());
  EXPECT_EQ(recover(source(file.bytes), {}).status().code(), Code::kLimit);
}

// The bytes of a header may be values of another block, for example of a packed file.
TEST(Recover, AHeaderInTheValuesOfAnotherBlockDoesNotCount) {
  File inner;
  inner.bytes.clear();
  File file;
  const auto definitions = empty_definitions();
  // The values of "outer" are a block that lies at its own position.
  const std::uint64_t values = kBodyStart + block_length(5, definitions.size());
  inner.bytes.resize(values);
  inner.add_block("inner", definitions, {});
  const auto stored = std::span(inner.bytes).subspan(values);
  BlockHeader header;
  header.extent_position = values;
  header.extent_length = stored.size();
  header.extent_sum = sum_of(stored);
  file.add_block("outer", definitions, header);
  ASSERT_TRUE(file.append(stored).ok());
  file.bytes.resize(file.bytes.size() + 4096);
  const auto recovery = recover(source(file.bytes), {});
  ASSERT_TRUE(recovery.ok()) << recovery.status().text();
  ASSERT_EQ(recovery->blocks.size(), 1u);
  EXPECT_EQ(recovery->blocks[0].name, "outer");
  EXPECT_EQ(recovery->blocks[0].doubt, BlockDoubt::kPerhapsNotCommitted);
  EXPECT_TRUE(recovery->may_lack_blocks);
}

TEST(Recover, ACancelledCallWritesNothing) {
  File file;
  file.add_block("b", empty_definitions(), {});
  const std::atomic<bool> cancel{true};
  RecoveryOptions options;
  options.output = (std::filesystem::temp_directory_path() / "nmb_recover_cancelled.nmb").string();
  options.writer.cancel = &cancel;
  EXPECT_EQ(recover(source(file.bytes), options).status().code(), Code::kIo);
  EXPECT_FALSE(std::filesystem::exists(options.output));
}

TEST(Recover, ProgressCountsTheValuesThatAreCopied) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "damaged.nmb").string();
  const std::vector<std::uint8_t> values(300000, 7);
  {
    const auto writer = *FileWriter::create(path);
    const BlockId block = *writer->define_block("b");
    const DimId x = *writer->def_dim(block, "x", values.size());
    ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{x}}).ok());
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE(writer->put(block, 0, std::span(values)).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  RecoveryOptions options;
  options.output = (folder.path() / "out.nmb").string();
  std::uint64_t done = 0, total = 0;
  options.writer.progress = [&](std::uint64_t so_far, std::uint64_t all) {
    EXPECT_GT(so_far, done);
    done = so_far, total = all;
  };
  ASSERT_TRUE(recover(*FileSource::open(path), options).ok());
  EXPECT_GE(total, values.size());
  EXPECT_EQ(done, total);
}

}  // namespace
}  // namespace nmb
