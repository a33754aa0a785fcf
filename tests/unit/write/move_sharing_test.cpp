// Parts of moves read as the moves do, and moves that are dealt to ranks leave the same file.
#include "origins/move_sharing.h"

#include <gtest/gtest.h>

#include <random>

#include "parallel/communicator.h"
#include "sources/value_source.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

constexpr std::uint32_t kPiece = 65536;

// Bytes that depend on their position.
std::vector<std::byte> source_bytes(std::size_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * i / 7 % 251 + 1);
  return bytes;
}

// Of runs, strided runs, gaps and holes, as the generator wants.
Move random_move(std::mt19937& random, std::shared_ptr<const ByteSource> source,
                 std::uint64_t position) {
  auto below = [&](std::uint64_t n) { return random() % n; };
  Move move;
  move.source = std::move(source);
  move.origin = "origin";
  move.position = position;
  move.length = 1 + below(12 * kPiece);
  for (std::uint64_t at = below(1000); at < move.length; at += below(3) * 100) {
    ValueRuns run;
    run.length = 1 + below(below(4) == 0 ? 3 * kPiece : 500);
    run.extent_offset = at;
    run.count = 1 + below(40) * below(3);
    run.extent_stride = run.length + below(200);
    run.source_stride = below(2000);
    run.source_offset = below(10000);
    const std::uint64_t end = at + (run.count - 1) * run.extent_stride + run.length;
    if (end > move.length) break;
    move.runs.push_back(run);
    at = end;
  }
  for (std::uint64_t at = 0; at < move.length; at += kPiece)
    if (below(4) == 0) move.holes.push_back({at, std::min(move.length, at + kPiece)});
  return move;
}

// The parts of a move that go to the output: its windows without the holes.
std::vector<std::byte> output_of(const Move& move) {
  std::vector<std::byte> out;
  auto hole = move.holes.begin();
  for (std::uint64_t at = 0; at < move.length; at += kPiece) {
    if (hole != move.holes.end() && hole->begin == at) {
      at = (hole++)->end - kPiece;
      continue;
    }
    std::vector<std::byte> window(std::min<std::uint64_t>(kPiece, move.length - at));
    EXPECT_TRUE(read_moved(move, at, window).ok());
    out.insert(out.end(), window.begin(), window.end());
  }
  return out;
}

TEST(MoveSharing, PartsReadAsTheWhole) {
  const auto source = owned_bytes(source_bytes(2 << 20), "source");
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Move move = random_move(random, source, 4096);
    const std::vector<std::byte> whole = output_of(move);
    ASSERT_EQ(whole.size(), move.stored_length());
    for (std::uint64_t from = 0; from < whole.size();) {
      const std::uint64_t to =
          std::min<std::uint64_t>(whole.size(), from + (1 + random() % 3) * kPiece);
      const Move part = part_of(move, from, to);
      ASSERT_EQ(part.position, move.position + from);
      ASSERT_EQ(part.stored_length(), to - from);
      const std::vector<std::byte> bytes = output_of(part);
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(),
                             whole.begin() + static_cast<std::ptrdiff_t>(from),
                             whole.begin() + static_cast<std::ptrdiff_t>(to)));
      from = to;
    }
  }
}

// Writes to a file, and counts the bytes.
class CountedOutput final : public OutputFile {
 public:
  explicit CountedOutput(OutputFile& file) : file_(file) {}
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    written += bytes.size();
    return file_.write_at(offset, bytes);
  }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return file_.read_at(offset, out);
  }
  Status truncate(std::uint64_t length) override { return file_.truncate(length); }
  Status reserve(std::uint64_t offset, std::uint64_t length) override {
    return file_.reserve(offset, length);
  }
  Status sync() override { return {}; }
  Status publish() override { return {}; }
  Result<std::uint64_t> size() const override { return file_.size(); }
  const std::string& name() const override { return file_.name(); }

  std::uint64_t written = 0;

 private:
  OutputFile& file_;
};

// Moves of each rank; the generator says how many, and whether others may take them.
std::vector<std::vector<Move>> random_moves(std::mt19937& random, int ranks,
                                            const std::shared_ptr<const ByteSource>& source) {
  std::vector<std::vector<Move>> moves(static_cast<std::size_t>(ranks));
  std::uint64_t position = 4096;
  for (std::vector<Move>& own : moves) {
    for (std::uint64_t n = random() % 3 == 0 ? random() % 40 : random() % 3; n > 0; --n) {
      own.push_back(random_move(random, source, position));
      if (random() % 8 == 0) own.back().origin.clear();
      position += (own.back().stored_length() + 7) / 8 * 8;
    }
  }
  return moves;
}

TEST(MoveSharing, RanksLeaveTheSameFileAndSums) {
  const auto source = owned_bytes(source_bytes(2 << 20), "source");
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const int size = 2 + static_cast<int>(seed % 6);
    std::vector<std::vector<Move>> moves = random_moves(random, size, source);
    std::uint64_t stored = 0, fixed = 0;
    for (const std::vector<Move>& own : moves) {
      std::uint64_t stays = 0;
      for (const Move& move : own) {
        stored += move.stored_length();
        if (move.origin.empty()) stays += move.stored_length();
      }
      fixed = std::max(fixed, stays);
    }
    const TemporaryFolder folder;
    auto file = *create_output((folder.path() / "f").string(), {});
    std::vector<std::uint64_t> written(moves.size());
    FileWriterOptions options;
    options.open_values =
        [&](std::string_view origin) -> Result<std::shared_ptr<const ByteSource>> {
      EXPECT_EQ(origin, "origin");
      return std::shared_ptr<const ByteSource>(source);
    };
    const Status status = run_thread_ranks(size, [&](Communicator& ranks) {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      std::vector<Move*> own;
      for (Move& move : moves[rank]) own.push_back(&move);
      CountedOutput output(*file);
      const Status done = share_moves(ranks, own, output, kPiece, options);
      written[rank] = output.written;
      return done;
    });
    ASSERT_TRUE(status.ok()) << status.text();
    const std::uint64_t share = stored / moves.size();
    const std::uint64_t most = std::max(fixed, share + share / 16 + 7 * kPiece);
    for (std::uint64_t bytes : written) EXPECT_LE(bytes, most + most / 8);
    for (std::vector<Move>& own : moves) {
      for (Move& move : own) {
        const std::vector<std::byte> expected = output_of(move);
        std::vector<std::byte> found(expected.size());
        ASSERT_TRUE(file->read_at(move.position, found).ok());
        ASSERT_EQ(found, expected);
        const std::vector<std::uint64_t> sums = move.sums;
        std::vector<Move*> alone{&move};
        ASSERT_TRUE(move_values(alone, *file, kPiece, options).ok());
        ASSERT_EQ(sums, move.sums);
      }
    }
  }
}

TEST(MoveSharing, ARankThatFailsIsEverybodysFailure) {
  const auto source = owned_bytes(source_bytes(2 << 20), "source");
  Move move;
  move.source = source;
  move.origin = "origin";
  move.length = 20 * kPiece;
  move.position = 4096;
  move.runs = {{0, 0, 0, 0, move.length, 1}};
  const TemporaryFolder folder;
  auto file = *create_output((folder.path() / "f").string(), {});
  FileWriterOptions options;
  options.open_values = [](std::string_view) -> Result<std::shared_ptr<const ByteSource>> {
    return Status(Code::kIo, "input", kNoOffset, "", "cannot be opened");
  };
  std::vector<Code> codes(3);
  ASSERT_TRUE(run_thread_ranks(3, [&](Communicator& ranks) -> Status {
                std::vector<Move*> own;
                if (ranks.rank() == 1) own.push_back(&move);
                codes[static_cast<std::size_t>(ranks.rank())] =
                    share_moves(ranks, own, *file, kPiece, options).code();
                return {};
              }).ok());
  EXPECT_EQ(codes, std::vector<Code>(3, Code::kIo));
}

}  // namespace
}  // namespace nmb::test
