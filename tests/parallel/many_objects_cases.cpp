// Sizes and numbers that 32 bits, one read, or one rank's memory do not hold; blocks of other
// ranks.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

#include "reader/file_reader.h"
#include "support/model.h"
#include "support/rank_cases.h"
#include "support/rank_program.h"
#include "verify/verify.h"

namespace nmb {
namespace {

using test::RankFolder;

FileWriterOptions without_sync() {
  FileWriterOptions options;
  options.sync = false;
  return options;
}

Status check_alone(Communicator& ranks, const std::function<Status()>& check) {
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

// By 8 ranks an index of 2,125 leaves.
RANK_CASE(SeventeenThousandBlocksOfEachRank) {
  constexpr std::uint64_t kBlocks = 17000;
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("many.nmb");
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, without_sync(), ranks));
    for (std::uint64_t i = 0; i < kBlocks; ++i) {
      NMB_ASSIGN(const BlockId block, writer->define_block("b" + std::to_string(i * size + rank)));
      NMB_TRY(writer->def_var(block, "v", Type::kInt, {}).status());
    }
    NMB_TRY(writer->end_define());
    // Global IDs are places in the order of names.
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < kBlocks * size; ++i) names.push_back("b" + std::to_string(i));
    std::sort(names.begin(), names.end());
    for (std::uint64_t i = 0; i < kBlocks; i += 997) {
      const std::string name = "b" + std::to_string(i * size + rank);
      NMB_ASSIGN(const std::uint64_t id, writer->global_id(static_cast<BlockId>(i)));
      NMB_TRY(expect(names[id] == name, "the global ID of " + name));
    }
    NMB_TRY(writer->close());
  }
  return check_alone(ranks, [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_TRY(expect(reader->totals().blocks == kBlocks * size, "as many blocks"));
    NMB_TRY(expect(reader->totals().variables == kBlocks * size, "as many variables"));
    NMB_ASSIGN(const Object last, reader->object("b" + std::to_string(kBlocks * size - 1) + "/v"));
    return expect(test::findings_of(reader->file()).empty(), "a sound file");
  });
}

// A variable of 6 GiB that ranks write at both ends of and in the middle, and blocks behind it.
RANK_CASE(VariablesPastFourGibibytes) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("large.nmb");
  constexpr std::uint64_t kLength = 6ull << 30;
  const std::uint64_t places[] = {0, kLength / 2 + 1, kLength - 4};
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, without_sync(), ranks));
    NMB_ASSIGN(const BlockId large, writer->define_block("large"));
    NMB_ASSIGN(const DimId x, writer->def_dim(large, "x", kLength));
    NMB_ASSIGN(const VarId bytes, writer->def_var(large, "bytes", Type::kByte, std::span(&x, 1)));
    NMB_ASSIGN(const BlockId own, writer->define_block("own" + std::to_string(ranks.rank())));
    NMB_ASSIGN(const DimId y, writer->def_dim(own, "y", kLength));
    NMB_ASSIGN(const VarId more, writer->def_var(own, "more", Type::kByte, std::span(&y, 1)));
    NMB_TRY(writer->end_define());
    for (int i = 0; i < 3; ++i) {
      const std::vector<signed char> four(4, static_cast<signed char>(10 + i));
      const Hyperslab slab{{places[i]}, {4}, {}};
      if (i % ranks.size() == ranks.rank())
        NMB_TRY(writer->put(large, bytes, slab, std::span<const signed char>(four)));
      NMB_TRY(writer->put(own, more, slab, std::span<const signed char>(four)));
    }
    NMB_TRY(writer->close());
  }
  return check_alone(ranks, [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    std::vector<std::string> names{"large/bytes"};
    for (int rank = 0; rank < ranks.size(); ++rank)
      names.push_back("own" + std::to_string(rank) + "/more");
    for (const std::string& name : names) {
      NMB_ASSIGN(const Object object, reader->object(name));
      for (int i = 0; i < 3; ++i) {
        signed char four[4];
        NMB_TRY(object.block->read(object.variable, {{places[i]}, {4}, {}}, four));
        NMB_TRY(expect(four[0] == 10 + i && four[3] == 10 + i, "values of " + name));
      }
    }
    return {};
  });
}

// Blocks that other ranks defined are open right after end_define(): definitions, and values.
RANK_CASE(BlocksOfOtherRanksRightAfterEndDefine) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("others.nmb");
  const int next = (ranks.rank() + 1) % ranks.size();
  const std::string own_name = "of/" + std::to_string(ranks.rank());
  const std::string next_name = "of/" + std::to_string(next);
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, without_sync(), ranks));
    NMB_ASSIGN(const BlockId own, writer->define_block(own_name));
    NMB_ASSIGN(const DimId x, writer->def_dim(own, "x", 10));
    NMB_TRY(writer->def_var(own, "v", Type::kInt, std::span(&x, 1)).status());
    NMB_TRY(writer->end_define());
    // Every rank wants the next one's and rank 0's, rank 0 its own too.
    const std::string_view names[] = {next_name, "of/0"};
    NMB_ASSIGN(const std::vector<BlockId> blocks, writer->open_blocks(names));
    NMB_ASSIGN(const Metadata* metadata, writer->metadata(blocks[0]));
    NMB_TRY(expect(metadata->find_variable("v").has_value(), "the variable of another rank"));
    std::vector<int> five(5);
    std::iota(five.begin(), five.end(), next * 100);
    NMB_TRY(writer->put(blocks[0], 0, {{0}, {5}, {}}, std::span<const int>(five)));
    std::iota(five.begin(), five.end(), ranks.rank() * 100 + 5);
    NMB_TRY(writer->put(own, 0, {{5}, {5}, {}}, std::span<const int>(five)));
    NMB_TRY(writer->close());
  }
  NMB_TRY(check_alone(ranks, [&]() -> Status {
    return expect(test::findings_of(std::filesystem::path(path)).empty(), "a sound file");
  }));
  // Different ranks read different blocks at once.
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
  NMB_ASSIGN(const Object object, reader->object(own_name + "/v"));
  NMB_ASSIGN(const std::vector<int> values, object.block->read_all<int>(object.variable));
  std::vector<int> expected(10);
  std::iota(expected.begin(), expected.end(), ranks.rank() * 100);
  NMB_TRY(expect(values == expected, "the values of two ranks"));
  return ranks.barrier();
}

RANK_CASE(BlocksThatNobodyDefinedAreNotFound) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
             FileWriter::create(folder.file("none.nmb"), without_sync(), ranks));
  NMB_TRY(writer->end_define());
  std::vector<std::string_view> names;
  if (ranks.rank() == ranks.size() - 1) names = {"nowhere"};
  const Status status = writer->open_blocks(names).status();
  return expect(status.code() == Code::kNotFound, "nothing on any rank: " + status.text());
}

// A step costs what it adds: names that ranks hold since earlier steps do not travel again.
RANK_CASE(StepsThatAddAsMuchSendAsMuch) {
  constexpr int kSteps = 12, kBlocks = 50;
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("steps.nmb");
  std::vector<std::uint64_t> sent;
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, without_sync(), ranks));
    for (int step = 0; step < kSteps; ++step) {
      if (step > 0) NMB_TRY(writer->redefine());
      for (int i = 0; i < kBlocks; ++i) {
        const std::string name = "step" + std::to_string(100 + step) + "/r" +
                                 std::to_string(100 + ranks.rank()) + "/" + std::to_string(100 + i);
        NMB_ASSIGN(const BlockId block, writer->define_block(name));
        NMB_TRY(writer->def_var(block, "v", Type::kInt, {}).status());
      }
      const std::uint64_t before = ranks.traffic().bytes;
      NMB_TRY(writer->end_define());
      sent.push_back(ranks.traffic().bytes - before);
      NMB_TRY(writer->sync());
    }
    // A block of the first step is where it was, and its place is known again.
    NMB_ASSIGN(const BlockId first, writer->find_block("step100/r100/100"));
    NMB_ASSIGN(const std::uint64_t id, writer->global_id(first));
    NMB_TRY(expect(id == 0, "the first of all names"));
    NMB_TRY(writer->close());
  }
  return ranks.agree(expect(sent[11] <= sent[2] + sent[2] / 10,
                            "as many bytes in step 12 as in step 3, not " +
                                std::to_string(sent[11]) + " and " + std::to_string(sent[2])));
}

// After a commit blocks of all ranks are found, without definitions between.
RANK_CASE(BlocksOfOtherRanksAfterSync) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
             FileWriter::create(folder.file("after.nmb"), without_sync(), ranks));
  const int next = (ranks.rank() + 1) % ranks.size();
  NMB_ASSIGN(const BlockId own, writer->define_block("of/" + std::to_string(ranks.rank())));
  NMB_TRY(writer->def_var(own, "v", Type::kInt, {}).status());
  NMB_TRY(writer->end_define());
  const int mine = ranks.rank();
  NMB_TRY(writer->put(own, 0, {}, std::span<const int>(&mine, 1)));
  NMB_TRY(writer->sync());
  const std::string name = "of/" + std::to_string(next);
  const std::string_view names[] = {name};
  NMB_ASSIGN(const std::vector<BlockId> blocks, writer->open_blocks(names));
  // One rank after the other changes the same block, each in a generation of its own.
  for (int step = 0; step < 3; ++step) {
    if (step % ranks.size() == ranks.rank()) {
      NMB_ASSIGN(const BlockId first, writer->find_block("of/0"));
      const int value = 100 + step;
      NMB_TRY(writer->put(first, 0, {}, std::span<const int>(&value, 1)));
    }
    NMB_TRY(writer->sync());
  }
  NMB_TRY(writer->close());
  return check_alone(ranks, [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
               FileReader::open(folder.file("after.nmb")));
    NMB_ASSIGN(const Object first, reader->object("of/0/v"));
    NMB_ASSIGN(const std::vector<int> values, first.block->read_all<int>(first.variable));
    NMB_TRY(expect(values == std::vector<int>{102}, "the last value of the first block"));
    return expect(test::findings_of(std::filesystem::path(folder.file("after.nmb"))).empty(),
                  "a sound file");
  });
}

}  // namespace
}  // namespace nmb
