// The promises of writer/file_writer.h for iput(), wait() and wait_all() in one process.
#include <gtest/gtest.h>

#include <numeric>

#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

class PutRequestsTest : public testing::Test {
 protected:
  PutRequestsTest() {
    options_.piece_size = 65536;
    options_.sync = false;
    options_.overwrite = true;
  }
  std::string path(const std::string& name = "f.nmb") const {
    return (folder_.path() / name).string();
  }
  std::unique_ptr<FileWriter> create(const std::string& name = "f.nmb") {
    auto writer = FileWriter::create(path(name), options_);
    EXPECT_TRUE(writer.ok()) << writer.status().text();
    return std::move(*writer);
  }
  // "v" of ints over "x" of `length`, or over records.
  static BlockId define(FileWriter& writer, const std::string& name, std::uint64_t length) {
    const BlockId block = *writer.define_block(name);
    const DimId x = *writer.def_dim(block, "x", length);
    EXPECT_TRUE(writer.def_var(block, "v", Type::kInt, {{x}}).ok());
    return block;
  }
  static std::vector<int> numbers(std::size_t count, int first) {
    std::vector<int> out(count);
    std::iota(out.begin(), out.end(), first);
    return out;
  }
  // Of a range of the variable, which must work.
  RequestId iput(FileWriter& writer, BlockId block, std::uint64_t from,
                 const std::vector<int>& values) {
    auto request =
        writer.iput(block, 0, {{from}, {values.size()}, {}}, std::span<const int>(values));
    EXPECT_TRUE(request.ok()) << request.status().text();
    return request.ok() ? *request : 0;
  }
  std::vector<int> values(const std::string& block, VarId variable = 0) {
    EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
    auto reader = FileReader::open(path());
    EXPECT_TRUE(reader.ok());
    return *(*(*reader)->block(block))->read_all<int>(variable);
  }
  TemporaryFolder folder_;
  FileWriterOptions options_;
};

TEST_F(PutRequestsTest, NothingIsPutBeforeTheWait) {
  auto writer = create();
  const BlockId block = define(*writer, "a", 4);
  ASSERT_TRUE(writer->end_define().ok());
  std::vector<int> late = numbers(2, 1);
  const RequestId request = iput(*writer, block, 1, late);
  // No copy is taken; what is put in the meantime is overwritten.
  const std::vector<int> early{7, 7, 7, 7};
  ASSERT_TRUE(writer->put(block, 0, std::span<const int>(early)).ok());
  late = {50, 60};
  ASSERT_TRUE(writer->wait({{request}}).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(values("a"), (std::vector<int>{7, 50, 60, 7}));
}

TEST_F(PutRequestsTest, AreCheckedAtOnce) {
  auto writer = create();
  const BlockId block = define(*writer, "a", 4);
  const std::vector<int> two{1, 2};
  const std::span<const int> values(two);
  const Hyperslab fits{{2}, {2}, {}};
  const Result<RequestId> early = writer->iput(block, 0, fits, values);
  ASSERT_TRUE(early.ok()) << "in define mode";
  EXPECT_EQ(writer->wait({{*early}}).code(), Code::kUsage) << "in define mode";
  ASSERT_TRUE(writer->end_define().ok());
  EXPECT_TRUE(writer->wait({{*early}}).ok());
  EXPECT_EQ(writer->iput(block + 1, 0, fits, values).status().code(), Code::kUsage);
  EXPECT_EQ(writer->iput(block, 1, fits, values).status().code(), Code::kUsage);
  EXPECT_EQ(writer->iput(block, 0, {{3}, {2}, {}}, values).status().code(), Code::kUsage);
  EXPECT_EQ(writer->iput(block, 0, {{0}, {3}, {}}, values).status().code(), Code::kUsage);
  EXPECT_EQ(writer->iput(block, 0, fits, std::string_view("ab")).status().code(), Code::kUsage);
  EXPECT_EQ(writer->iput(block, 0, std::span(values.first(1))).status().code(), Code::kUsage)
      << "not the whole variable";
  EXPECT_TRUE(writer->close().ok()) << "none is open";
}

TEST_F(PutRequestsTest, OpenOnesKeepWhatWasPutFromBeingCommitted) {
  auto writer = create();
  const BlockId block = define(*writer, "a", 4);
  ASSERT_TRUE(writer->end_define().ok());
  const std::vector<int> some = numbers(4, 1);
  const RequestId first = iput(*writer, block, 0, some), second = iput(*writer, block, 0, some);
  ASSERT_TRUE(writer->redefine().ok()) << "they stay open";
  ASSERT_TRUE(writer->end_define().ok());
  for (const auto& call : {&FileWriter::sync, &FileWriter::close}) {
    const Status status = (writer.get()->*call)();
    EXPECT_EQ(status.code(), Code::kUsage);
    EXPECT_NE(status.message().find("2 requests are open"), std::string::npos) << status.text();
  }
  EXPECT_EQ(writer->generation(), 0u);
  EXPECT_EQ(writer->define_block("b").status().code(), Code::kUsage) << "not in define mode";
  ASSERT_TRUE(writer->wait({{second}}).ok());
  EXPECT_EQ(writer->sync().code(), Code::kUsage);
  ASSERT_TRUE(writer->wait_all({{first}}).ok());
  ASSERT_TRUE(writer->sync().ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(values("a"), some);
}

TEST_F(PutRequestsTest, ListsOfSelectionsAreChecked) {
  auto writer = create();
  const BlockId block = define(*writer, "a", 4);
  const std::vector<int> two{1, 2};
  const auto iput = [&](std::vector<std::uint64_t> numbers) {
    return writer->iput(block, 0, Hyperslabs{numbers}, std::span<const int>(two));
  };
  EXPECT_EQ(iput({0, 1, 2, 1}).status().code(), Code::kUsage) << "in define mode";
  ASSERT_TRUE(writer->end_define().ok());
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
  for (const std::vector<std::uint64_t>& numbers :
       {std::vector<std::uint64_t>{0, 1, 2}, {0, 1}, {0, 1, 4, 1}, {3, 2}, {0, 1, kHuge, kHuge}})
    EXPECT_EQ(iput(numbers).status().code(), Code::kUsage);
  const Result<RequestId> request = iput({3, 1, 1, 1});
  ASSERT_TRUE(request.ok()) << request.status().text();
  ASSERT_TRUE(writer->wait({{*request}}).ok());
  ASSERT_TRUE(writer->close().ok());
  const std::vector<int> found = values("a");
  EXPECT_EQ(found[3], 1);
  EXPECT_EQ(found[1], 2);
}

TEST_F(PutRequestsTest, OfAWriterThatIsGoneAreGone) {
  {
    auto writer = create();
    const BlockId block = define(*writer, "a", 4);
    ASSERT_TRUE(writer->end_define().ok());
    const std::vector<int> some = numbers(4, 1);
    iput(*writer, block, 0, some);
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(PutRequestsTest, IdsAreOfOpenRequestsOnce) {
  auto writer = create();
  const BlockId block = define(*writer, "a", 4);
  ASSERT_TRUE(writer->end_define().ok());
  const std::vector<int> some = numbers(4, 1);
  const RequestId request = iput(*writer, block, 0, some);
  std::vector<Status> statuses(2);
  EXPECT_EQ(writer->wait({{request, request}}).code(), Code::kUsage);
  EXPECT_EQ(writer->wait({{request, request + 1}}).code(), Code::kUsage);
  EXPECT_EQ(writer->wait({{request}}, statuses).code(), Code::kUsage) << "room for two";
  EXPECT_TRUE(writer->wait({}).ok());
  EXPECT_TRUE(writer->wait({{request}}).ok()) << "it stayed open";
  EXPECT_EQ(writer->wait({{request}}).code(), Code::kUsage) << "it was waited for";
  EXPECT_TRUE(writer->close().ok());
}

TEST_F(PutRequestsTest, TheLaterOfOverlappingOnesCounts) {
  for (const bool forward : {true, false}) {
    auto writer = create();
    const BlockId block = define(*writer, "a", 100);
    ASSERT_TRUE(writer->end_define().ok());
    const std::vector<int> low(50, 1), high(50, 2), thin(10, 3), all(100, 4);
    std::vector<RequestId> requests{iput(*writer, block, 0, all), iput(*writer, block, 40, high),
                                    iput(*writer, block, 20, low)};
    auto strided = writer->iput(block, 0, {{5}, {10}, {9}}, std::span<const int>(thin));
    ASSERT_TRUE(strided.ok());
    requests.push_back(*strided);
    std::vector<int> expected(100, 4);
    if (forward) {
      std::fill_n(expected.begin() + 40, 50, 2);
      std::fill_n(expected.begin() + 20, 50, 1);
      for (int i = 0; i < 10; ++i) expected[static_cast<std::size_t>(5 + 9 * i)] = 3;
    } else {
      std::reverse(requests.begin(), requests.end());
    }
    ASSERT_TRUE(writer->wait(requests).ok());
    ASSERT_TRUE(writer->close().ok());
    EXPECT_EQ(values("a"), expected) << forward;
  }
}

TEST_F(PutRequestsTest, EachHasItsOwnStatus) {
  auto writer = create();
  const BlockId block = *writer->define_block("a");
  const DimId x = *writer->def_dim(block, "x", 2);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kByte, {{x}}).ok());
  const BlockId taken = define(*writer, "b", 2);
  ASSERT_TRUE(writer->end_define().ok());
  const std::vector<int> small{1, 2}, large{300, 3};
  const std::vector<RequestId> requests{iput(*writer, block, 0, small),
                                        iput(*writer, taken, 0, small),
                                        iput(*writer, block, 0, large)};
  // Values of another block are taken over in the meantime.
  static constexpr std::byte kBytes[8]{};
  ASSERT_TRUE(
      writer->take_values(taken, std::make_shared<MemorySource>(kBytes), {{0, 0, 0, 0, 8, 1}})
          .ok());
  std::vector<Status> statuses(3);
  EXPECT_EQ(writer->wait(requests, statuses).code(), Code::kUsage) << "the first failure";
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_EQ(statuses[1].code(), Code::kUsage);
  EXPECT_EQ(statuses[2].code(), Code::kRange);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(values("a"), (std::vector<int>{300 - 256, 3}));
  EXPECT_EQ(values("b"), (std::vector<int>{0, 0}));
}

// 1,000 variables of 16 blocks, asked for in no order.
TEST_F(PutRequestsTest, ManySmallOnesAreFewWrites) {
  constexpr std::size_t kBlocks = 16, kVariables = 64, kLength = 100;
  std::vector<OutputCall> calls;
  options_.layer = recording(calls);
  const std::vector<int> some = numbers(kLength, 1);
  const std::span<const int> span(some);
  std::vector<std::byte> expected;
  for (const bool together : {false, true}) {
    auto writer = create();
    for (std::size_t i = 0; i < kBlocks; ++i) {
      const BlockId block = *writer->define_block("block" + std::to_string(i));
      const DimId x = *writer->def_dim(block, "x", kLength);
      for (std::size_t v = 0; v < kVariables; ++v)
        ASSERT_TRUE(writer->def_var(block, "v" + std::to_string(v), Type::kInt, {{x}}).ok());
    }
    ASSERT_TRUE(writer->end_define().ok());
    calls.clear();
    std::vector<RequestId> requests;
    for (std::size_t i = 0; i < kBlocks * kVariables; ++i) {
      const std::size_t k = i * 389 % (kBlocks * kVariables);
      const auto block = static_cast<BlockId>(k / kVariables);
      const auto variable = static_cast<VarId>(k % kVariables);
      if (together)
        requests.push_back(*writer->iput(block, variable, span));
      else
        ASSERT_TRUE(writer->put(block, variable, span).ok());
    }
    if (together) {
      EXPECT_EQ(calls.size(), 0u);
      ASSERT_TRUE(writer->wait(requests).ok());
      EXPECT_LE(calls.size(), 1u) << "what is not in the buffer yet";
    } else {
      EXPECT_GT(calls.size(), kBlocks * kVariables / 2);
    }
    ASSERT_TRUE(writer->close().ok());
    const std::vector<std::byte> bytes = read_file(path());
    if (!together) expected = bytes;
    EXPECT_TRUE(bytes == expected);
  }
}

// Variables that share records lie among one another.
TEST_F(PutRequestsTest, RecordVariablesAreWrittenTogether) {
  constexpr std::size_t kVariables = 20, kRecords = 500;
  std::vector<OutputCall> calls;
  options_.layer = recording(calls);
  auto writer = create();
  const BlockId block = *writer->define_block("a");
  const DimId time = *writer->def_dim(block, "time", kUnlimited);
  const DimId x = *writer->def_dim(block, "x", 100);
  for (std::size_t v = 0; v < kVariables; ++v)
    ASSERT_TRUE(writer->def_var(block, "v" + std::to_string(v), Type::kInt, {{time, x}}).ok());
  ASSERT_TRUE(writer->end_define().ok());
  std::vector<std::vector<int>> all;
  std::vector<RequestId> requests;
  for (std::size_t v = 0; v < kVariables; ++v) {
    all.push_back(numbers(kRecords * 100, static_cast<int>(v)));
    requests.push_back(*writer->iput(block, static_cast<VarId>(v), std::span<const int>(all[v])));
  }
  EXPECT_EQ(*writer->records(block), 0u);
  calls.clear();
  ASSERT_TRUE(writer->wait_all(requests).ok());
  EXPECT_EQ(*writer->records(block), kRecords);
  EXPECT_LE(calls.size(), 2 + 2 * kVariables * kRecords * 400 / (1 << 20)) << "written once";
  ASSERT_TRUE(writer->close().ok());
  for (std::size_t v = 0; v < kVariables; ++v)
    EXPECT_TRUE(values("a", static_cast<VarId>(v)) == all[v]) << v;
}

TEST_F(PutRequestsTest, EmptyOnesAreDone) {
  auto writer = create();
  const BlockId block = define(*writer, "a", kUnlimited);
  ASSERT_TRUE(writer->end_define().ok());
  auto request = writer->iput(block, 0, {{9}, {0}, {}}, std::span<const int>());
  ASSERT_TRUE(request.ok());
  ASSERT_TRUE(writer->wait({{*request}}).ok());
  EXPECT_EQ(*writer->records(block), 0u);
  ASSERT_TRUE(writer->close().ok());
}

}  // namespace
}  // namespace nmb::test
