// Values that are stored in coded pieces: given to the writer, read back whole and in parts,
// changed by later generations.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "block/block_header.h"
#include "extent/piece_codec.h"
#include "merge/reporting/merge.h"
#include "origins/stored_values.h"
#include "reader/extent_pieces.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "support/corpus.h"
#include "support/counting_source.h"
#include "support/model.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr std::uint64_t kPiece = 65536;
// Ints: of three pieces and a part.
constexpr std::uint64_t kInts = 3 * kPiece / 4 + 1000;

class CodedPiecesTest : public testing::Test {
 protected:
  CodedPiecesTest() {
    options_.piece_size = kPiece;
    options_.sync = false;
    expected_.resize(kInts);
    for (std::uint64_t i = 0; i < kInts; ++i) expected_[i] = static_cast<int>(i % 1000);
  }
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  static std::vector<std::byte> external(std::span<const int> values) {
    std::vector<std::byte> out(values.size() * 4);
    EXPECT_EQ(convert_to_external(memory_type_of<int>(), values.data(), values.size(), Type::kInt,
                                  out.data()),
              0u);
    return out;
  }
  // A block "b" with ints "v" over "x", and after it a small one.
  static BlockId define(FileWriter& writer) {
    const BlockId block = *writer.define_block("b");
    const DimId x = *writer.def_dim(block, "x", kInts);
    EXPECT_TRUE(writer.def_var(block, "v", Type::kInt, {{x}}).ok());
    const BlockId small = *writer.define_block("small");
    EXPECT_TRUE(writer.def_var(small, "v", Type::kInt, {}).ok());
    return block;
  }
  // Its pieces: zstd, a hole where `hole` says so, deflate, and one as it is.
  struct Given {
    std::vector<StoredPiece> pieces;
    std::shared_ptr<const ByteSource> stored;
  };
  Given give(bool hole = false) const {
    const std::vector<std::byte> values = external(expected_);
    const PieceCodec codecs[] = {PieceCodec::kZstd, PieceCodec::kZstd, PieceCodec::kDeflate,
                                 PieceCodec::kNone};
    Given out;
    std::vector<std::byte> all;
    for (std::uint64_t at = 0, i = 0; at < values.size(); at += kPiece, ++i) {
      const auto window =
          std::span(values).subspan(at, std::min<std::uint64_t>(kPiece, values.size() - at));
      if (hole && i == 1) {
        out.pieces.push_back({window.size(), PieceCodec::kNone, 0, 0});
        continue;
      }
      std::vector<std::byte> stored(window.begin(), window.end());
      if (codecs[i] != PieceCodec::kNone) stored = encode_piece(codecs[i], 1, window);
      EXPECT_FALSE(stored.empty());
      out.pieces.push_back({window.size(), codecs[i], stored.size(), all.size()});
      all.insert(all.end(), stored.begin(), stored.end());
    }
    out.stored = owned_bytes(std::move(all), "pieces");
    return out;
  }
  void write(bool hole = false) {
    auto writer = *FileWriter::create(path(), options_);
    const BlockId block = define(*writer);
    Given given = give(hole);
    ASSERT_TRUE(take_pieces(*writer, block, std::move(given.pieces), given.stored).ok());
    ASSERT_TRUE(writer->close().ok());
    if (hole) std::fill_n(expected_.begin() + kPiece / 4, kPiece / 4, -2147483647);
    check();
  }
  void check() {
    EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
    auto values = (*(*FileReader::open(path()))->block("b"))->read_all<int>(0);
    ASSERT_TRUE(values.ok()) << values.status().text();
    EXPECT_TRUE(*values == expected_);
  }
  std::vector<ExtentPiece> coded() const {
    auto reader = *FileReader::open(path());
    return *coded_pieces(*reader, **reader->find("b"));
  }
  TemporaryFolder folder_;
  FileWriterOptions options_;
  std::vector<int> expected_;
};

TEST_F(CodedPiecesTest, ComeBackAndTakeLessRoom) {
  write();
  EXPECT_LT(std::filesystem::file_size(path()), kInts * 4 / 2);
  const std::vector<ExtentPiece> pieces = coded();
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].codec, PieceCodec::kZstd);
  EXPECT_EQ(pieces[2].codec, PieceCodec::kDeflate);
  EXPECT_EQ(pieces[2].offset, 2 * kPiece);
  auto reader = *FileReader::open(path());
  const BlockEntry entry = **reader->find("b");
  EXPECT_EQ(entry.extent_position, 0u);
  EXPECT_EQ(entry.map.position, entry.position + block_length(1, entry.stored_length));
}

// A coded piece may cross a multiple of the piece size, wherever it begins; what changes of it is
// cut at the windows again.
TEST_F(CodedPiecesTest, CrossMultiplesOfThePieceSize) {
  const std::vector<std::byte> values = external(expected_);
  for (const std::uint64_t first : {std::uint64_t{40000}, std::uint64_t{40004}, kPiece - 4}) {
    SCOPED_TRACE(first);
    std::filesystem::remove(path());
    std::iota(expected_.begin(), expected_.end(), 0);
    std::ranges::transform(expected_, expected_.begin(), [](int i) { return i % 1000; });
    std::vector<StoredPiece> pieces;
    std::vector<std::byte> all;
    for (std::uint64_t at = 0, length = first; at < values.size(); at += length, length = kPiece) {
      length = std::min(length, values.size() - at);
      const std::vector<std::byte> stored =
          encode_piece(PieceCodec::kZstd, 1, std::span(values).subspan(at, length));
      pieces.push_back({length, PieceCodec::kZstd, stored.size(), all.size()});
      all.insert(all.end(), stored.begin(), stored.end());
    }
    auto writer = *FileWriter::create(path(), options_);
    const BlockId block = define(*writer);
    const auto source = owned_bytes(std::move(all), "pieces");
    ASSERT_TRUE(take_pieces(*writer, block, std::move(pieces), source).ok());
    ASSERT_TRUE(writer->close().ok());
    check();
    EXPECT_EQ(coded().size(), (values.size() - first + kPiece - 1) / kPiece + 1);
    // A few values of the second piece, across the multiple.
    auto again = *FileWriter::open(path(), options_);
    const BlockId same = *again->find_block("b");
    ASSERT_TRUE(again->end_define().ok());
    const std::uint64_t from = kPiece / 4 - 1;
    const std::vector<int> changed{-5, -6, -7};
    std::ranges::copy(changed, expected_.begin() + static_cast<std::ptrdiff_t>(from));
    ASSERT_TRUE(again->put(same, 0, {{from}, {changed.size()}, {}}, changed).ok());
    ASSERT_TRUE(again->close().ok());
    check();
  }
}

TEST_F(CodedPiecesTest, LieAmongHoles) {
  write(true);
  auto reader = *FileReader::open(path());
  const std::vector<ByteRange> holes = *reader->holes(**reader->find("b"));
  EXPECT_TRUE(holes == (std::vector<ByteRange>{{kPiece, 2 * kPiece}}));
}

TEST_F(CodedPiecesTest, AreReadInPartsAndByRequests) {
  write();
  for (const Unverified unverified : {Unverified::kNothing, Unverified::kPartsOfPieces}) {
    ReadOptions read;
    read.unverified = unverified;
    auto reader = *FileReader::open(path(), read);
    const Object object = *reader->object("b/v");
    std::mt19937 random(3);
    GetRequests requests;
    std::vector<RequestId> ids;
    std::vector<std::vector<int>> got(200);
    std::vector<std::uint64_t> starts;
    for (std::vector<int>& values : got) {
      const std::uint64_t start = random() % kInts,
                          count = 1 + random() % std::min<std::uint64_t>(kInts - start, 20000);
      values.resize(count);
      starts.push_back(start);
      const Hyperslab slab{{start}, {count}, {}};
      ASSERT_TRUE(object.block->read(0, slab, values).ok());
      ASSERT_TRUE(std::equal(values.begin(), values.end(),
                             expected_.begin() + static_cast<std::ptrdiff_t>(start)));
      std::ranges::fill(values, -1);
      ids.push_back(*requests.iget(object, slab, std::span(values)));
    }
    ASSERT_TRUE(requests.wait(ids).ok());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(std::equal(got[i].begin(), got[i].end(),
                             expected_.begin() + static_cast<std::ptrdiff_t>(starts[i])))
          << i;
  }
}

TEST_F(CodedPiecesTest, AreDecodedOnceForManySmallParts) {
  write();
  const std::vector<std::byte> bytes = read_file(path());
  const MemorySource memory(bytes, "memory");
  auto counted = std::make_shared<CountingSource>(memory, CountingSource::kNever);
  auto reader = *FileReader::open(counted, ReadOptions());
  const Object object = *reader->object("b/v");
  int value = 0;
  ASSERT_TRUE(object.block->read(0, {{1}, {1}, {}}, std::span(&value, 1)).ok());
  const std::uint64_t before = counted->reads();
  for (std::uint64_t i = 2; i < 1000; ++i)
    ASSERT_TRUE(object.block->read(0, {{i}, {1}, {}}, std::span(&value, 1)).ok());
  EXPECT_EQ(counted->reads(), before);
}

TEST_F(CodedPiecesTest, DamageIsFoundByEveryRead) {
  write();
  std::vector<std::byte> bytes = read_file(path());
  bytes[coded()[1].position + 40] ^= std::byte{1};
  auto reader = *FileReader::open(std::make_shared<MemorySource>(bytes, "memory"));
  const Object object = *reader->object("b/v");
  std::vector<int> values(kInts);
  const auto read = [&](std::uint64_t start, std::uint64_t count) {
    return object.block->read(0, {{start}, {count}, {}}, std::span(values).first(count));
  };
  EXPECT_TRUE(read(0, 100).ok());
  EXPECT_EQ(read(kPiece / 4 + 5, 1).rule(), "R-EX-5");
  EXPECT_EQ(read(0, kInts).rule(), "R-EX-5");
  GetRequests requests;
  const RequestId id =
      *requests.iget(object, {{kPiece / 4 + 5}, {1}, {}}, std::span(values).first(1));
  EXPECT_EQ(requests.wait({{id}}).code(), Code::kDamaged);
}

TEST_F(CodedPiecesTest, ValuesInThemAreChangedByALaterGeneration) {
  write();
  const std::vector<ExtentPiece> before = coded();
  auto writer = *FileWriter::open(path(), options_);
  const BlockId block = *writer->find_block("b");
  const std::vector<int> more(kPiece / 4 + 10, 77);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->put(block, 0, {{kPiece / 4 - 5}, {3}, {}}, std::span(more).first(3)).ok());
  ASSERT_TRUE(writer->close().ok());
  std::fill_n(expected_.begin() + kPiece / 4 - 5, 3, 77);
  check();
  ASSERT_EQ(coded().size(), 2u);
  EXPECT_EQ(coded()[0].position, before[1].position);

  // The whole of one, and the ends of its neighbours.
  writer = *FileWriter::open(path(), options_);
  ASSERT_TRUE(writer->end_define().ok());
  const BlockId again = *writer->find_block("b");
  ASSERT_TRUE(writer->put(again, 0, {{kPiece / 4 - 5}, {more.size()}, {}}, std::span(more)).ok());
  ASSERT_TRUE(writer->close().ok());
  std::fill_n(expected_.begin() + kPiece / 4 - 5, more.size(), 77);
  check();
  EXPECT_EQ(coded().size(), 0u);
}

TEST_F(CodedPiecesTest, StayWhereBlocksAreRenamedAndMoveWhereTheyAreRedefined) {
  write();
  const std::vector<ExtentPiece> before = coded();
  auto writer = *FileWriter::open(path(), options_);
  ASSERT_TRUE(writer->rename_block(*writer->find_block("b"), "c").ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->sync().ok());
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->rename_block(*writer->find_block("c"), "b").ok());
  ASSERT_TRUE(writer->close().ok());
  check();
  ASSERT_EQ(coded().size(), 3u);
  EXPECT_EQ(coded()[2].position, before[2].position);

  writer = *FileWriter::open(path(), options_);
  const BlockId block = *writer->find_block("b");
  // A header that is longer: values keep their offsets. And a variable behind them.
  ASSERT_TRUE(writer->put_att_text(block, kGlobal, "title", "again").ok());
  const DimId y = *writer->def_dim(block, "y", 5);
  ASSERT_TRUE(writer->def_var(block, "w", Type::kInt, {{y}}).ok());
  ASSERT_TRUE(writer->end_define().ok());
  const std::vector<int> five{1, 2, 3, 4, 5};
  ASSERT_TRUE(writer->put(block, 1, std::span<const int>(five)).ok());
  ASSERT_TRUE(writer->close().ok());
  check();
  EXPECT_EQ(*(*(*FileReader::open(path()))->block("b"))->read_all<int>(1), five);
}

TEST_F(CodedPiecesTest, DieWithTheirBlock) {
  write();
  auto writer = *FileWriter::open(path(), options_);
  ASSERT_TRUE(writer->remove_block(*writer->find_block("b")).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
}

TEST_F(CodedPiecesTest, RecordsGrowBehindThem) {
  auto writer = *FileWriter::create(path(), options_);
  const BlockId block = *writer->define_block("b");
  const DimId t = *writer->def_dim(block, "t", kUnlimited), x = *writer->def_dim(block, "x", 1000);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kInt, {{t, x}}).ok());
  ASSERT_TRUE(writer->end_define().ok());
  expected_.resize(30000);
  ASSERT_TRUE(writer->put(block, 0, std::span<const int>(expected_)).ok());
  ASSERT_TRUE(writer->close().ok());
  // The same with coded pieces.
  Metadata metadata = (*(*FileReader::open(path()))->block("b"))->metadata;
  options_.overwrite = true;
  writer = *FileWriter::create(path(), options_);
  const BlockId coded_block = *writer->define_block("b", metadata, 30);
  const std::vector<std::byte> values = external(expected_);
  std::vector<StoredPiece> pieces;
  std::vector<std::byte> all;
  for (std::uint64_t at = 0; at < values.size(); at += kPiece) {
    const auto window =
        std::span(values).subspan(at, std::min<std::uint64_t>(kPiece, values.size() - at));
    const std::vector<std::byte> stored = encode_piece(PieceCodec::kZstd, 1, window);
    pieces.push_back({window.size(), PieceCodec::kZstd, stored.size(), all.size()});
    all.insert(all.end(), stored.begin(), stored.end());
  }
  ASSERT_TRUE(
      take_pieces(*writer, coded_block, std::move(pieces), owned_bytes(std::move(all), "pieces"))
          .ok());
  ASSERT_TRUE(writer->close().ok());
  check();
  writer = *FileWriter::open(path(), options_);
  ASSERT_TRUE(writer->end_define().ok());
  const std::vector<int> record(1000, 5);
  ASSERT_TRUE(
      writer
          ->put(*writer->find_block("b"), 0, {{30, 0}, {1, 1000}, {}}, std::span<const int>(record))
          .ok());
  ASSERT_TRUE(writer->close().ok());
  expected_.insert(expected_.end(), record.begin(), record.end());
  check();
  EXPECT_EQ(coded().size(), 2u);
}

TEST_F(CodedPiecesTest, MergesKeepThem) {
  write(true);
  auto writer = *FileWriter::open(path(), options_);
  ASSERT_TRUE(writer->end_define().ok());
  const int one = 77;
  ASSERT_TRUE(
      writer->put(*writer->find_block("b"), 0, {{0}, {1}, {}}, std::span<const int>(&one, 1)).ok());
  ASSERT_TRUE(writer->close().ok());
  expected_[0] = one;
  check();
  ASSERT_EQ(coded().size(), 1u);
  PackOptions merge;
  merge.inputs = {path()};
  merge.block_name = "{group}";
  merge.writer = options_;
  merge.writer.overwrite = true;
  const std::string in = path(), out = (folder_.path() / "out.nmb").string();
  // Windows of which a coded piece is a part are coded too.
  for (const auto& [piece_size, pieces] :
       {std::pair{1u << 16, 1u}, std::pair{1u << 17, 1u}, std::pair{1u << 20, 1u}}) {
    merge.output = out;
    merge.writer.piece_size = piece_size;
    PackReport report;
    const Status status = pack(merge, &report);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(findings_of(std::filesystem::path(out)), "");
    auto reader = *FileReader::open(out);
    const std::vector<ExtentPiece> kept = *coded_pieces(*reader, **reader->find("b"));
    EXPECT_EQ(kept.size(), pieces) << piece_size;
    EXPECT_EQ(kept.at(0).codec, PieceCodec::kDeflate);
    EXPECT_TRUE(*(*reader->block("b"))->read_all<int>(0) == expected_);
  }
}

TEST_F(CodedPiecesTest, DryRunsTellTheirSize) {
  write();
  options_.dry_run = true;
  options_.overwrite = true;
  auto writer = *FileWriter::create(path(), options_);
  const BlockId block = define(*writer);
  Given given = give();
  ASSERT_TRUE(take_pieces(*writer, block, std::move(given.pieces), given.stored).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(writer->planned()->file_length, std::filesystem::file_size(path()));
}

TEST_F(CodedPiecesTest, PiecesThatAreNoneAreRefused) {
  auto writer = *FileWriter::create(path(), options_);
  const BlockId block = define(*writer);
  const auto status = [&](auto change) {
    Given given = give();
    change(given.pieces);
    return take_pieces(*writer, block, std::move(given.pieces), given.stored).code();
  };
  using Pieces = std::vector<StoredPiece>;
  EXPECT_EQ(status([](Pieces& p) { p[0].length += 4, p[1].length -= 4; }), Code::kUsage);
  EXPECT_EQ(status([](Pieces& p) { p[0].length = 0; }), Code::kUsage);
  EXPECT_EQ(status([](Pieces& p) { p[0].stored_length = 0; }), Code::kUsage);
  EXPECT_EQ(status([](Pieces& p) { p[0].stored_length = p[0].length; }), Code::kUsage);
  EXPECT_EQ(status([](Pieces& p) { p[0].codec = PieceCodec::kNone; }), Code::kUsage);
  EXPECT_EQ(status([](Pieces& p) { p[3].source_offset += 1; }), Code::kUsage);
  EXPECT_EQ(status([](Pieces& p) { p = {{kPiece, PieceCodec::kNone, 0, 0}}; }), Code::kUsage);
  EXPECT_EQ(status([](Pieces& p) { p.clear(); }), Code::kUsage);
  EXPECT_EQ(status([](Pieces& p) { p.pop_back(); }), Code::kOk);
  EXPECT_EQ(writer->end_define().code(), Code::kUsage);
  EXPECT_EQ(status([](Pieces&) {}), Code::kOk);
  ASSERT_TRUE(writer->end_define().ok());
  EXPECT_EQ(status([](Pieces&) {}), Code::kUsage);
  const int one = 1;
  EXPECT_EQ(writer->put(block, 0, {{0}, {1}, {}}, std::span(&one, 1)).code(), Code::kUsage);
  ASSERT_TRUE(writer->close().ok());
  check();
}

}  // namespace
}  // namespace nmb::test
