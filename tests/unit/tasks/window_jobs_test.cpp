// Windows of values that other ranks encode: the same pieces and the same errors as with one rank.
#include "merge/storing/window_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "merge/storing/value_coder.h"
#include "merge/uniting/chunk_jobs.h"
#include "support/programs.h"

namespace nmb {
namespace {

using Results = std::vector<std::optional<CodedChunk>>;

constexpr std::uint32_t kPiece = 4096;

class WindowJobsTest : public testing::Test {
 protected:
  // Returns values of `windows` windows in a file. Every third window cannot be compressed.
  ValuesToCode values(const std::string& name, std::size_t windows) {
    std::string text;
    std::uint64_t random = 1;
    for (std::size_t i = 0; i < windows * kPiece; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      text += static_cast<char>(random >> (i / kPiece % 3 == 0 ? 56 : 62));
    }
    const std::string path = (folder_.path() / name).string();
    test::write_file(path, text);
    ValuesToCode out;
    out.values = *PooledFile::open(path, pool_);
    out.codec = PieceCodec::kDeflate;
    out.level = 1;
    return out;
  }

  struct Outcome {
    Status status;
    std::vector<std::vector<StoredPiece>> pieces;
    std::vector<std::vector<std::byte>> stored;
    int helped = 0;  // windows that other ranks encoded
  };

  // fails: the other ranks give no results.
  Outcome code(const std::vector<ValuesToCode>& all, int size, bool fails = false) {
    auto ends = make_thread_network(size);
    std::vector<int> helped(static_cast<std::size_t>(size));
    std::vector<std::jthread> others;
    for (std::size_t rank = 1; rank < helped.size(); ++rank)
      others.emplace_back([&, rank, end = std::move(ends[rank])]() mutable {
        Communicator ranks(std::move(end));
        const ReceivedFrom from{std::make_shared<FilePool>(3), nullptr, {}};
        const auto encode = [&](std::span<const std::byte> job) {
          Results results = encode_windows(job, from, {2});
          if (fails) results.clear();
          helped[rank] += static_cast<int>(
              std::ranges::count_if(results, [](const auto& r) { return r.has_value(); }));
          return results;
        };
        EXPECT_TRUE(serve_jobs(ranks, encode).ok());
      });
    Communicator ranks(std::move(ends[0]));
    RankHelpers helpers(ranks);
    ValueCoder coder(kPiece, {1, nullptr, &helpers});
    const auto coded = coder.code(all);
    EXPECT_TRUE(helpers.end().ok());
    others.clear();
    Outcome out;
    out.status = coded.status();
    for (const int count : helped) out.helped += count;
    if (!coded.ok()) return out;
    for (const auto& one : *coded) {
      out.pieces.push_back(one ? one->pieces : std::vector<StoredPiece>());
      auto& bytes = out.stored.emplace_back(one ? one->stored->size() : 0);
      EXPECT_TRUE(!one || one->stored->read_at(0, bytes).ok());
    }
    return out;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<FilePool> pool_ = std::make_shared<FilePool>(3);
};

void expect_same(const auto& found, const auto& expected) {
  EXPECT_TRUE(found.status.ok()) << found.status.text();
  EXPECT_EQ(found.stored, expected.stored);
  ASSERT_EQ(found.pieces.size(), expected.pieces.size());
  for (std::size_t i = 0; i < found.pieces.size(); ++i) {
    ASSERT_EQ(found.pieces[i].size(), expected.pieces[i].size());
    for (std::size_t k = 0; k < found.pieces[i].size(); ++k) {
      EXPECT_EQ(found.pieces[i][k].codec, expected.pieces[i][k].codec);
      EXPECT_EQ(found.pieces[i][k].stored_length, expected.pieces[i][k].stored_length);
    }
  }
}

TEST_F(WindowJobsTest, RanksShareTheWindows) {
  const std::vector<ValuesToCode> all{values("a", 7), values("b", 1), values("c", 5)};
  const Outcome alone = code(all, 1);
  EXPECT_EQ(alone.helped, 0);
  for (const int size : {2, 3, 5, 20}) {
    const Outcome shared = code(all, size);
    expect_same(shared, alone);
    EXPECT_NEAR(shared.helped, 13.0 * (size - 1) / size, 1.0) << size;
  }
}

TEST_F(WindowJobsTest, RankZeroRepeatsWhatFails) {
  const std::vector<ValuesToCode> all{values("a", 7), values("b", 1)};
  expect_same(code(all, 3, true), code(all, 1));
}

TEST_F(WindowJobsTest, ErrorIsThatOfRankZero) {
  const std::vector<ValuesToCode> all{values("a", 7)};
  std::filesystem::resize_file(folder_.path() / "a", 100);
  const Outcome alone = code(all, 1), shared = code(all, 3);
  EXPECT_FALSE(alone.status.ok());
  EXPECT_EQ(shared.status.text(), alone.status.text());
  EXPECT_EQ(shared.helped, 0);
}

TEST_F(WindowJobsTest, MessageThatIsCutHasNoResults) {
  const std::vector<std::byte> message =
      message_of({{PieceCodec::kDeflate, 1, {{0, kPiece}}, std::vector<std::byte>(30)}});
  const ReceivedFrom from{pool_, nullptr, {}};
  EXPECT_TRUE(encode_windows(std::span(message).first(message.size() - 1), from, {1}).empty());
}

}  // namespace
}  // namespace nmb
