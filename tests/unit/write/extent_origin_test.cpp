// All origins of values through the steps of end_define and of a commit: one row each.
#include "origins/extent_origin.h"

#include <gtest/gtest.h>

#include "files/files.h"
#include "support/programs.h"
#include "wire/hash.h"

namespace nmb::test {
namespace {

// The known facts of an origin: R-EX-1 requires pieces that make up the extent.
struct OriginRow {
  const char* name;
  ExtentOrigin origin;
  ValueSpace space;
  std::uint64_t moved;
  std::vector<Piece> pieces;  // but for their sums
  bool appended;
  std::uint64_t missing;  // elements that were not written
  bool takes_puts;
  bool is_inline = false;
};

class ExtentOriginTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPiece = 65536;
  static constexpr std::uint64_t kLength = 3 * kPiece;
  static constexpr std::uint64_t kPlace = 4096;  // of the run
  static constexpr std::uint64_t kPut = 100000;
  static constexpr std::array kFill{std::byte{255}};

  ExtentOriginTest() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<std::byte>(i % 251);
    const DimId x = *metadata_.def_dim("x", kLength);
    const VarId v = *metadata_.def_var("v", Type::kUByte, std::array{x});
    EXPECT_TRUE(metadata_.put_att(v, "_FillValue", Type::kUByte, kFill).ok());
    layout_ = *layout_classic(metadata_, Kind::kCdf5);
  }

  std::unique_ptr<ExtentState> extent() const {
    return std::make_unique<ExtentState>(
        kPiece, [](std::uint64_t, std::uint64_t, const auto&) { return Status(); });
  }

  ExtentOrigin put() {
    auto state = extent();
    state->start_run(kLength, kPlace);
    EXPECT_TRUE(state->write(0, std::span(values_).first(kPut), buffer_, stage_).ok());
    return ExtentOrigin(PutValues(std::move(state)));
  }
  // The middle window, if it is a hole.
  ExtentOrigin moved(bool with_hole) {
    Move move{.source = source_, .runs = {{0, 0, 0, 0, kLength, 1}}, .length = kLength};
    if (with_hole) move.holes = {{kPiece, 2 * kPiece}};
    return ExtentOrigin(MovedValues(std::move(move)));
  }
  ExtentOrigin ready() {
    const auto none = PieceCodec::kNone;
    return ExtentOrigin(*ReadyPieces::make(
        {{kPiece, none, kPiece, 0}, {kPiece, none, 0, 0}, {kPiece, none, kPiece, 2 * kPiece}},
        source_, kPiece, "b"));
  }
  ExtentOrigin linked() {
    LinkedValues given;
    given.files = {{"unused", 5}, {"other", 10 + kPiece}};
    const auto piece = [&](std::uint64_t stored, std::uint64_t from, std::uint32_t file) {
      LinkedPiece one;
      one.length = kPiece;
      one.stored_length = stored;
      one.source_offset = from;
      one.file = file;
      one.position = 10;
      given.pieces.push_back(one);
    };
    piece(kPiece, 0, 1);
    piece(0, 0, 0);
    piece(kPiece, 2 * kPiece, LinkedPiece::kCopied);
    given.source = source_;
    LinkedPieces out = *LinkedPieces::make(std::move(given), kPiece, "b");
    EXPECT_EQ(out.linked_bytes(), kPiece);
    EXPECT_EQ(out.reading_move().stored_length(), kPiece);
    EXPECT_TRUE(out.take_sums({sum_of(std::span(values_).first(kPiece))}, true).ok());
    out.for_each_file([&](std::size_t i, const ExternalFile& file) {
      EXPECT_EQ(file.path, "other");
      out.set_number(i, 7);
    });
    return ExtentOrigin(std::move(out));
  }

  std::vector<OriginRow> rows() {
    const auto piece = [](std::uint64_t at, std::uint64_t position) {
      return Piece{at, kPiece, position == 0, position, 0};
    };
    Piece in_other = piece(0, 10);
    in_other.file = 7;
    std::vector<OriginRow> rows;
    rows.push_back({"none", ExtentOrigin(NoValues()), {}, 0, {}, false, kLength, false});
    rows.push_back({"unchanged", ExtentOrigin(UnchangedValues()), {}, 0, {}, true, kLength, true});
    rows.push_back(
        {"not put yet", ExtentOrigin(), {kLength, true, true}, 0, {}, false, kLength, true});
    rows.push_back({"put",
                    put(),
                    {},
                    0,
                    {piece(0, kPlace), piece(kPiece, kPlace + kPiece), piece(2 * kPiece, 0)},
                    false,
                    kLength - kPut,
                    true});
    rows.push_back({"moved",
                    moved(true),
                    {2 * kPiece, true, true},
                    2 * kPiece,
                    {piece(0, kPlace), piece(kPiece, 0), piece(2 * kPiece, kPlace + kPiece)},
                    false,
                    kPiece,
                    false});
    rows.push_back({"moved inline",
                    moved(false),
                    {kLength, true, true},
                    kLength,
                    {{0, kLength, false, kPlace, 0}},
                    false,
                    0,
                    false,
                    true});
    rows.push_back({"ready",
                    ready(),
                    {2 * kPiece, false, false},
                    2 * kPiece,
                    {piece(0, kPlace), piece(kPiece, 0), piece(2 * kPiece, kPlace + kPiece)},
                    false,
                    kPiece,
                    false});
    rows.push_back({"linked",
                    linked(),
                    {kPiece, false, false},
                    kPiece,
                    {in_other, piece(kPiece, 0), piece(2 * kPiece, kPlace)},
                    false,
                    kPiece,
                    false});
    return rows;
  }

  FinishContext finish_context(bool is_inline) {
    return {kLength, kPlace, is_inline, false,
            kPiece,  false,  buffer_,   [&]() -> Result<const Metadata*> { return &metadata_; },
            layout_};
  }
  Result<std::unique_ptr<ExtentCounter>> counter() const {
    return ExtentCounter::make(metadata_, layout_, 0, {});
  }

  const TemporaryFolder folder_;
  std::vector<std::byte> values_ = std::vector<std::byte>(kLength);
  std::shared_ptr<const ByteSource> source_ = std::make_shared<MemorySource>(values_);
  std::unique_ptr<OutputFile> file_ = *create_output((folder_.path() / "f").string(), {});
  WriteBuffer buffer_{*file_};
  Stage stage_;
  Metadata metadata_;
  ClassicLayout layout_;
};

TEST_F(ExtentOriginTest, TakesAllSteps) {
  for (OriginRow& row : rows()) {
    SCOPED_TRACE(row.name);
    const ValueSpace space = row.origin.space(kLength);
    EXPECT_EQ(space.length, row.space.length);
    EXPECT_EQ(space.aligned, row.space.aligned);
    EXPECT_EQ(space.may_be_inline, row.space.may_be_inline);
    EXPECT_EQ(row.origin.takes_puts(), row.takes_puts);
    EXPECT_EQ(row.origin.moved_bytes(), row.moved);
    EXPECT_TRUE(row.origin.check("b", kLength, false).ok());
    row.origin.place(kPlace);
    row.origin.tap([&] { return counter(); });
    std::vector<Move*> moves;
    if (Move* const move = row.origin.move(); move && !row.is_inline) moves.push_back(move);
    ASSERT_TRUE(move_values(moves, *file_, kPiece, {}).ok());

    const Result<FinishedExtent> finished = row.origin.finish(finish_context(row.is_inline));
    ASSERT_TRUE(finished.ok()) << finished.status().text();
    EXPECT_EQ(finished->appended, row.appended);
    ASSERT_EQ(finished->pieces.size(), row.pieces.size());
    EXPECT_EQ(finished->inline_values, row.is_inline ? values_ : std::vector<std::byte>());
    for (std::size_t i = 0; i < row.pieces.size(); ++i) {
      Piece piece = finished->pieces[i];
      const auto bytes = std::span(values_).subspan(piece.logical, piece.length);
      // Arrays that were put in part are filled.
      const bool filled = row.name == std::string_view("put");
      if (!piece.hole) {
        EXPECT_EQ(piece.sum,
                  filled ? *sum_in_file(buffer_, piece.position, piece.length) : sum_of(bytes))
            << i;
      }
      if (piece.file == 0 && !piece.hole && !row.is_inline) {
        std::vector<std::byte> stored(std::min(piece.length, kPut - std::min(kPut, piece.logical)));
        if (row.moved > 0) stored.resize(piece.length);
        ASSERT_TRUE(buffer_.read_at(piece.position, stored).ok());
        EXPECT_TRUE(std::ranges::equal(stored, bytes.first(stored.size()))) << i;
      }
      piece.sum = 0;
      EXPECT_EQ(piece, row.pieces[i]) << i;
    }

    Result<Counting> counting = row.origin.count({kLength, 2, buffer_, [&] { return counter(); },
                                                  [&] {
                                                    if (!row.origin.extent()) {
                                                      row.origin =
                                                          ExtentOrigin(PutValues(extent()));
                                                      row.origin.extent()->start_committed(kLength);
                                                    }
                                                    return row.origin.extent();
                                                  }});
    ASSERT_TRUE(counting.ok()) << counting.status().text();
    const BlockStatistics counted =
        counting->counter ? *counting->counter->finish() : counting->counted.statistics;
    ASSERT_EQ(counted.variables.size(), 1u);
    EXPECT_TRUE(counted.variables[0].computed);
    EXPECT_EQ(counted.variables[0].elements, kLength);
    EXPECT_EQ(counted.variables[0].missing, row.missing);

    row.origin.committed();
    EXPECT_TRUE(row.origin.takes_puts());
    EXPECT_EQ(row.origin.move(), nullptr);
    EXPECT_EQ(row.origin.space(0).length, 0u);
  }
}

TEST_F(ExtentOriginTest, PiecesMakeUpTheExtentOfOneRank) {
  for (OriginRow& row : rows()) {
    SCOPED_TRACE(row.name);
    const bool of_pieces = row.origin.as<ReadyPieces>() || row.origin.as<LinkedPieces>();
    const Code expected = of_pieces ? Code::kUsage : Code::kOk;
    EXPECT_EQ(row.origin.check("b", kLength + 1, false).code(), expected);
    EXPECT_EQ(row.origin.check("b", kLength, true).code(), expected);
  }
}

}  // namespace
}  // namespace nmb::test
