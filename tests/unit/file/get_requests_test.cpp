// Requests return the values of Dataset::read, with few reads (reader/file_reader.h).
#include <gtest/gtest.h>

#include <numeric>

#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/counting_source.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr int kBlocks = 16, kVariables = 64;
constexpr std::uint64_t kLength = 100;

class GetRequestsTest : public testing::Test {
 protected:
  GetRequestsTest() {
    options_.sync = false;
    options_.overwrite = true;
  }
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  // Blocks "b0".. of `variables` ints over "x"; each value tells its block, variable and place.
  void write(int blocks, int variables, std::uint64_t length) {
    auto writer = *FileWriter::create(path(), options_);
    for (int b = 0; b < blocks; ++b) {
      const BlockId block = *writer->define_block("b" + std::to_string(b));
      const DimId x = *writer->def_dim(block, "x", length);
      for (int v = 0; v < variables; ++v)
        ASSERT_TRUE(writer->def_var(block, "v" + std::to_string(v), Type::kInt, {{x}}).ok());
    }
    ASSERT_TRUE(writer->end_define().ok());
    for (int b = 0; b < blocks; ++b)
      for (int v = 0; v < variables; ++v) {
        const std::vector<int> values = expected(b, v, length);
        ASSERT_TRUE(
            writer
                ->put(static_cast<BlockId>(b), static_cast<VarId>(v), std::span<const int>(values))
                .ok());
      }
    ASSERT_TRUE(writer->close().ok());
    bytes_ = read_file(path());
  }
  static std::vector<int> expected(int block, int variable, std::uint64_t length) {
    std::vector<int> values(length);
    std::iota(values.begin(), values.end(), block * 1000003 + variable * 1009);
    return values;
  }
  // A reader of the file, its reads counted; the one with number fail_at fails.
  std::unique_ptr<FileReader> open(Unverified unverified = Unverified::kPartsOfPieces,
                                   std::uint64_t fail_at = CountingSource::kNever) {
    memory_ = std::make_unique<MemorySource>(bytes_, "memory");
    counted_ = std::make_shared<CountingSource>(*memory_, fail_at);
    ReadOptions options;
    options.unverified = unverified;
    auto reader = FileReader::open(counted_, options);
    EXPECT_TRUE(reader.ok()) << reader.status().text();
    return std::move(*reader);
  }
  TemporaryFolder folder_;
  FileWriterOptions options_;
  std::vector<std::byte> bytes_;
  std::unique_ptr<MemorySource> memory_;
  std::shared_ptr<CountingSource> counted_;
};

TEST_F(GetRequestsTest, ManySmallOnesAreFewReads) {
  ASSERT_NO_FATAL_FAILURE(write(kBlocks, kVariables, kLength));
  for (const Unverified unverified : {Unverified::kNothing, Unverified::kPartsOfPieces}) {
    const auto reader = open(unverified);
    std::vector<std::shared_ptr<const LoadedBlock>> blocks;
    for (int b = 0; b < kBlocks; ++b) blocks.push_back(*reader->block("b" + std::to_string(b)));
    GetRequests requests;
    std::vector<RequestId> ids;
    std::vector<std::vector<int>> values(kBlocks * kVariables, std::vector<int>(kLength));
    for (int i = 0; i < kBlocks * kVariables; ++i) {
      const int k = i * 389 % (kBlocks * kVariables);
      auto id = requests.iget(
          {blocks[static_cast<std::size_t>(k / kVariables)], static_cast<VarId>(k % kVariables)},
          {{0}, {kLength}, {}}, std::span(values[static_cast<std::size_t>(k)]));
      ASSERT_TRUE(id.ok()) << id.status().text();
      ids.push_back(*id);
    }
    EXPECT_EQ(requests.open(), ids.size());
    const std::uint64_t before = counted_->reads(), bytes_before = counted_->bytes();
    const Status status = requests.wait(ids);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(counted_->reads() - before, 1u) << "410 KB, side by side";
    EXPECT_LT(counted_->bytes() - bytes_before, kBlocks * (kVariables * kLength * 4 + 4096));
    EXPECT_EQ(requests.open(), 0u);
    for (int k = 0; k < kBlocks * kVariables; ++k)
      ASSERT_EQ(values[static_cast<std::size_t>(k)],
                expected(k / kVariables, k % kVariables, kLength));
  }
}

TEST_F(GetRequestsTest, AreCheckedAtOnce) {
  ASSERT_NO_FATAL_FAILURE(write(1, 2, 10));
  const auto reader = open();
  const Object object = *reader->object("b0/v1");
  GetRequests requests;
  std::vector<int> values(3);
  const std::span<int> out(values);
  char text[3];
  EXPECT_EQ(requests.iget({object.block, 2}, {{0}, {3}, {}}, out).status().code(), Code::kUsage);
  EXPECT_EQ(requests.iget(object, {{8}, {3}, {}}, out).status().code(), Code::kUsage);
  EXPECT_EQ(requests.iget(object, {{0}, {2}, {}}, out).status().code(), Code::kUsage);
  EXPECT_EQ(requests.iget(object, {{0}, {3}, {}}, text).status().code(), Code::kUsage);
  const auto foreign = std::make_shared<LoadedBlock>();
  DimId x = *foreign->metadata.def_dim("x", 3);
  ASSERT_TRUE(foreign->metadata.def_var("v", Type::kInt, {{x}}).ok());
  EXPECT_EQ(requests.iget({foreign, 0}, {{0}, {3}, {}}, out).status().code(), Code::kUsage);
  const RequestId id = *requests.iget(object, {{0}, {3}, {}}, out);
  EXPECT_EQ(requests.wait({{id, id}}).code(), Code::kUsage);
  EXPECT_EQ(requests.wait({{id + 1}}).code(), Code::kUsage);
  EXPECT_TRUE(requests.wait({}).ok());
  EXPECT_EQ(requests.open(), 1u);
  EXPECT_TRUE(requests.wait({{id}}).ok());
  EXPECT_EQ(values, (std::vector<int>{1009, 1010, 1011}));
}

TEST_F(GetRequestsTest, FarApartTheyAreReadAloneAndInNoMoreBytesThanTheyTake) {
  ASSERT_NO_FATAL_FAILURE(write(1, 1, 3000000));
  const auto reader = open();
  const Object object = *reader->object("b0/v0");
  GetRequests requests;
  std::vector<int> values(10);
  std::vector<RequestId> ids;
  for (std::uint64_t i = 0; i < 10; ++i)
    ids.push_back(*requests.iget(object, {{i * 250000}, {1}, {}}, std::span(values).subspan(i, 1)));
  const std::uint64_t before = counted_->reads(), bytes = counted_->bytes();
  ASSERT_TRUE(requests.wait(ids).ok());
  EXPECT_EQ(counted_->reads() - before, 10u);
  EXPECT_EQ(counted_->bytes() - bytes, 40u);
  EXPECT_EQ(values[9], 9 * 250000);
}

// One piece is damaged: who takes none of it is not disturbed, and of the others a read that takes
// the piece whole finds it, as one of the variable alone does.
TEST_F(GetRequestsTest, ChecksThePiecesThatItReadsWhole) {
  options_.piece_size = 65536;
  ASSERT_NO_FATAL_FAILURE(write(1, 4, 65536));  // each has four pieces
  const auto reader = open();
  const Object first = *reader->object("b0/v0"), second = *reader->object("b0/v1");
  const std::uint64_t position = first.block->entry.extent_position;
  ASSERT_NE(position, 0u);
  bytes_[position + 65536 + 77] ^= std::byte{1};  // in the second piece of v0
  std::vector<int> a(65536), b(65536), part(100);
  ASSERT_EQ(first.block->read(0, {{0}, {65536}, {}}, a).code(), Code::kDamaged);
  GetRequests requests;
  const Hyperslab whole{{0}, {65536}, {}};
  const std::vector<RequestId> ids{*requests.iget(second, whole, std::span(b)),
                                   *requests.iget(first, whole, std::span(a)),
                                   *requests.iget(first, {{200}, {100}, {}}, std::span(part))};
  std::vector<Status> statuses(3);
  EXPECT_EQ(requests.wait(ids, statuses).code(), Code::kDamaged);
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].text();
  EXPECT_EQ(statuses[1].code(), Code::kDamaged);
  EXPECT_EQ(statuses[1].rule(), "R-EX-5");
  EXPECT_TRUE(statuses[2].ok()) << statuses[2].text();
  EXPECT_EQ(b, expected(0, 1, 65536));
  // A part of the piece is read as it is, unless the reader verifies.
  const Hyperslab of_damaged{{16384 + 50}, {100}, {}};
  const RequestId unchecked = *requests.iget(first, of_damaged, std::span(part));
  EXPECT_TRUE(requests.wait({{unchecked}}).ok());
  const auto verifying = open(Unverified::kNothing);
  const RequestId checked =
      *requests.iget(*verifying->object("b0/v0"), of_damaged, std::span(part));
  EXPECT_EQ(requests.wait({{checked}}).code(), Code::kDamaged);
}

TEST_F(GetRequestsTest, APieceIsReadAndVerifiedOnce) {
  for (const std::uint32_t piece : {65536u, 1u << 20, 1u << 21}) {
    options_.piece_size = piece;
    constexpr std::uint64_t kValues = 1500001;
    ASSERT_NO_FATAL_FAILURE(write(1, 1, kValues));
    const auto reader = open(Unverified::kNothing);
    const Object object = *reader->object("b0/v0");
    GetRequests requests;
    std::vector<RequestId> ids;
    std::vector<int> values(1501 * 1000);
    // Every 1,000th in one request, and the ones behind in others.
    for (std::uint64_t k = 0; k < 1000; ++k) {
      const std::uint64_t count = (kValues - k + 999) / 1000;
      ids.push_back(*requests.iget(object, {{k}, {count}, {1000}},
                                   std::span(values).subspan(k * 1501, count)));
    }
    const std::uint64_t before = counted_->bytes();
    ASSERT_TRUE(requests.wait(ids).ok());
    // And the pages of the map.
    EXPECT_LT(counted_->bytes() - before, kValues * 4 + 20000) << piece;
    for (std::uint64_t i = 0; i < kValues; i += 991)
      ASSERT_EQ(values[i % 1000 * 1501 + i / 1000], static_cast<int>(i));
  }
}

TEST_F(GetRequestsTest, EveryFailedReadIsAFailureOfWhoNeededIt) {
  ASSERT_NO_FATAL_FAILURE(write(3, 2, 300000));
  const auto counting = open();
  for (int b = 0; b < 3; ++b) ASSERT_TRUE(counting->block("b" + std::to_string(b)).ok());
  const std::uint64_t first = counted_->reads();
  int failures = 0;
  for (std::uint64_t call = first;; ++call) {
    const auto reader = open(Unverified::kPartsOfPieces, call);
    GetRequests requests;
    std::vector<RequestId> ids;
    std::vector<std::vector<int>> values(6, std::vector<int>(300000));
    for (int i = 0; i < 6; ++i) {
      const Object object{*reader->block("b" + std::to_string(i / 2)), static_cast<VarId>(i % 2)};
      ids.push_back(*requests.iget(object, {{0}, {300000}, {}},
                                   std::span(values[static_cast<std::size_t>(i)])));
    }
    std::vector<Status> statuses(6);
    const Status status = requests.wait(ids, statuses);
    if (counted_->reads() <= call) {
      EXPECT_TRUE(status.ok());
      break;
    }
    ++failures;
    ASSERT_EQ(status.code(), Code::kIo) << call;
    int failed = 0;
    for (int i = 0; i < 6; ++i) {
      const auto n = static_cast<std::size_t>(i);
      if (statuses[n].ok())
        ASSERT_EQ(values[n], expected(i / 2, i % 2, 300000)) << call;
      else
        ++failed;
    }
    ASSERT_TRUE(failed == 1 || failed == 2) << call << ": " << failed;
  }
  EXPECT_GT(failures, 6);
}

TEST_F(GetRequestsTest, RangeErrorsAreEachRequestsOwn) {
  ASSERT_NO_FATAL_FAILURE(write(1, 2, 200));
  const auto reader = open();
  GetRequests requests;
  std::vector<std::int8_t> first(200), part(100);
  const Object object = *reader->object("b0/v0");
  const std::vector<RequestId> ids{*requests.iget(object, {{0}, {100}, {}}, std::span(part)),
                                   *requests.iget(object, {{0}, {200}, {}}, std::span(first))};
  std::vector<Status> statuses(2);
  EXPECT_EQ(requests.wait(ids, statuses).code(), Code::kRange);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_EQ(statuses[1].message(), object.block->read(0, {{0}, {200}, {}}, first).message());
  EXPECT_EQ(first[99], 99);
  EXPECT_EQ(part[99], 99);
}

}  // namespace
}  // namespace nmb::test
