// A rank that fails: all others learn why, soon, and nobody hangs.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "reader/file_reader.h"
#include "support/rank_cases.h"
#include "support/rank_program.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

using Clock = std::chrono::steady_clock;

const Status& broken_disk() {
  static const Status status(Code::kIo, "a.nmb", 17, {}, "found a broken disk");
  return status;
}

Status expect_broken_disk(const Status& found, Clock::time_point start) {
  NMB_TRY(expect(found.code() == Code::kIo && found.text() == broken_disk().text(),
                 "the failure of the other rank, not '" + found.text() + "'"));
  return expect(Clock::now() - start < std::chrono::seconds(5), "it within 5 s");
}

// The last rank fails while the others wait for it, and says nothing else.
RANK_CASE(AFailedRankFailsAllThatWait) {
  if (ranks.size() == 1) return {};
  const auto start = Clock::now();
  if (ranks.rank() == ranks.size() - 1) ranks.fail(broken_disk());
  NMB_TRY(expect_broken_disk(ranks.barrier(), start));
  // It stays, and the first reason stays.
  ranks.fail(Status(Code::kLimit, "another reason"));
  return expect_broken_disk(ranks.barrier(), start);
}

// Those that come later learn of it too.
RANK_CASE(AFailureWaitsForThoseThatAreBusy) {
  if (ranks.size() == 1) return {};
  if (ranks.rank() == 0) ranks.fail(broken_disk());
  if (ranks.rank() % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  return expect_broken_disk(ranks.barrier(), Clock::now());
}

// A rank fails after an operation that other ranks are still in: it completes on all, the next
// fails.
RANK_CASE(AFailureAfterAnOperationLeavesTheOperationAlone) {
  if (ranks.size() == 1) return {};
  const int failed = ranks.size() - 1;
  // The ranks to which rank `failed` sends the bytes pass them on, late.
  std::vector<std::byte> bytes(ranks.rank() == failed ? 7 : 0);
  if (ranks.rank() != failed) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  NMB_TRY(ranks.broadcast(failed, &bytes));
  if (ranks.rank() == failed) ranks.fail(broken_disk());
  NMB_TRY(expect(bytes.size() == 7, "the bytes of the last rank"));
  return expect_broken_disk(ranks.barrier(), Clock::now());
}

// The same, after an operation that needs all ranks.
RANK_CASE(AFailureAfterAnAgreementLeavesItAlone) {
  if (ranks.size() == 1) return {};
  for (int i = 0; i < 50; ++i) NMB_TRY(ranks.agree({}));
  if (ranks.rank() == ranks.size() - 1) ranks.fail(broken_disk());
  return expect_broken_disk(ranks.agree({}), Clock::now());
}

// Nobody takes what was sent, and it is too much to be on the way: the ends hang nobody.
RANK_CASE(FailsWithLongMessagesOnTheWay) {
  if (ranks.size() == 1) return {};
  if (ranks.rank() == 0) {
    ranks.fail(broken_disk());
    return {};
  }
  std::vector<Communicator::Parcel> parcels;
  for (int to = 0; to < ranks.size(); ++to)
    parcels.push_back({to, std::vector<std::byte>(1 << 20)});
  const auto start = Clock::now();
  return expect_broken_disk(ranks.exchange(std::move(parcels)).status(), start);
}

// A program that returns early on one rank, with a writer open, as NMB_TRY between collective calls
// does: the others learn which rank has gone.
RANK_CASE(AWriterThatIsGoneOnOneRankHangsNobody) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  // It may be gone before the others have heard that all have made theirs.
  Result<std::unique_ptr<FileWriter>> writer =
      FileWriter::create(folder.file("gone.nmb"), {}, ranks);
  const int gone = ranks.size() - 1;
  if (ranks.rank() == gone) {
    NMB_TRY(writer.status());
    writer->reset();
    return {};
  }
  const auto start = Clock::now();
  const Status status = writer.ok() ? (*writer)->end_define() : writer.status();
  NMB_TRY(expect(status.code() == Code::kUsage &&
                     status.message().find("rank " + std::to_string(gone) + " was destroyed") !=
                         std::string::npos,
                 "the rank that has gone: " + status.text()));
  return expect(Clock::now() - start < std::chrono::seconds(5), "it within 5 s");
}

// A rank gives up after a failure that all ranks have, the others call on: they get it again.
RANK_CASE(CallsAfterASharedFailureHangNobody) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  const int gone = ranks.size() - 1;
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
               FileWriter::create(folder.file("f.nmb"), {}, ranks));
    NMB_ASSIGN(const BlockId block, writer->define_block("b"));
    NMB_TRY(writer->def_dim(block, "x", ranks.rank() == gone ? 77 : 78).status());
    const Status status = writer->end_define();
    NMB_TRY(expect(status.code() == Code::kConflict, "a conflict: " + status.text()));
    if (ranks.rank() != gone) {
      NMB_TRY(expect(writer->sync().text() == status.text(), "the same failure of sync()"));
      NMB_TRY(expect(writer->close().text() == status.text(), "the same failure of close()"));
    }
  }
  return ranks.barrier();
}

// Would catch: ranks that go on after a wrong argument, and wait for a rank that has given up.
RANK_CASE(ARankThatGivesUpAfterWrongArgumentsHangsNobody) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  const auto start = Clock::now();
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
             FileWriter::create(folder.file("f.nmb"), {}, ranks));
  NMB_TRY(writer->end_define());
  const Status refused = writer->extend(77, 1);
  NMB_TRY(expect(refused.code() == Code::kUsage, "a refusal: " + refused.text()));
  if (ranks.rank() == 0) {
    writer.reset();
    return {};
  }
  NMB_TRY(expect(writer->sync().code() == Code::kUsage, "different calls"));
  return expect(Clock::now() - start < std::chrono::seconds(5), "it within 5 s");
}

// One rank alone abandons the writer.
RANK_CASE(AWriterThatOneRankAbandonsHangsNobody) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  Result<std::unique_ptr<FileWriter>> writer = FileWriter::create(folder.file("f.nmb"), {}, ranks);
  if (ranks.rank() == ranks.size() - 1) {
    NMB_TRY(writer.status());
    (*writer)->abandon();
    writer->reset();
    return {};
  }
  const Status status = writer.ok() ? (*writer)->end_define() : writer.status();
  return expect(status.code() == Code::kUsage, "a usage error: " + status.text());
}

// Where all give the writer up the ranks go on.
RANK_CASE(AnAbandonedWriterLeavesTheRanksSound) {
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
               FileWriter::create(folder.file("abandoned.nmb"), {}, ranks));
    writer->abandon();
  }
  return ranks.barrier();
}

// A rank that has ended in good order hears of no failure, and is waited for only a while.
RANK_CASE(AFailureAfterTheEndOfAnotherRank) {
  if (ranks.size() != 2 || ranks.rank() == 0) return {};
  ranks.fail(broken_disk());
  return expect_broken_disk(ranks.barrier(), Clock::now());
}

// After a failure that all ranks share and go on from, one of them gives up.
RANK_CASE(AWriterThatIsGoneAfterASharedFailureHangsNobody) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
             FileWriter::create(folder.file("f.nmb"), {}, ranks));
  const Status missing = FileReader::open(folder.file("missing.nmb"), {}, ranks).status();
  NMB_TRY(expect(missing.code() == Code::kNotFound, missing.text()));
  const int gone = ranks.size() - 1;
  if (ranks.rank() == gone) {
    writer.reset();
    return {};
  }
  const auto start = Clock::now();
  const Status status = writer->end_define();
  NMB_TRY(expect(status.code() == Code::kUsage &&
                     status.message().find("rank " + std::to_string(gone)) != std::string::npos,
                 "the rank that has gone: " + status.text()));
  return expect(Clock::now() - start < std::chrono::seconds(5), "it within 5 s");
}

// All give up after it: the ranks go on.
RANK_CASE(WritersThatEndAfterASharedFailureLeaveTheRanksSound) {
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  for (int i = 0; i < 3; ++i) {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
               FileWriter::create(folder.file("f.nmb"), {}, ranks));
    NMB_ASSIGN(std::unique_ptr<FileWriter> other,
               FileWriter::create(folder.file("g.nmb"), {}, ranks));
    const Status missing = FileReader::open(folder.file("missing.nmb"), {}, ranks).status();
    NMB_TRY(expect(missing.code() == Code::kNotFound, missing.text()));
    // Who goes on from it says how it ends.
    if (i == 2) NMB_TRY(writer->end_define());
    if (i == 2) writer->abandon();
  }
  return ranks.barrier();
}

// Calls of two writers in another order on one rank would put values into the wrong file.
RANK_CASE(TwoWritersInAnotherOrderAreRefused) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  NMB_ASSIGN(std::unique_ptr<FileWriter> a, FileWriter::create(folder.file("a.nmb"), {}, ranks));
  NMB_ASSIGN(std::unique_ptr<FileWriter> b, FileWriter::create(folder.file("b.nmb"), {}, ranks));
  const bool first = ranks.rank() != ranks.size() - 1;
  const Status status = (first ? a : b)->end_define();
  return expect(status.code() == Code::kUsage &&
                    status.message().find("end_define() of file 2 on rank") != std::string::npos,
                "the other file: " + status.text());
}

// So would calls of two readers read from it.
RANK_CASE(TwoReadersInAnotherOrderAreRefused) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  for (const char* name : {"a.nmb", "b.nmb"}) {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
               FileWriter::create(folder.file(name), {}, ranks));
    if (ranks.rank() == 0) NMB_TRY(writer->define_block(name).status());
    NMB_TRY(writer->end_define());
    NMB_TRY(writer->close());
  }
  NMB_ASSIGN(const std::unique_ptr<FileReader> a,
             FileReader::open(folder.file("a.nmb"), {}, ranks));
  NMB_ASSIGN(const std::unique_ptr<FileReader> b,
             FileReader::open(folder.file("b.nmb"), {}, ranks));
  const bool first = ranks.rank() != ranks.size() - 1;
  const std::string_view name = first ? "a.nmb" : "b.nmb";
  const Status status = (first ? a : b)->open_blocks(std::span(&name, 1)).status();
  return expect(status.code() == Code::kUsage, "a usage error: " + status.text());
}

// One rank makes another kind of call, of the communicator: all learn of it.
RANK_CASE(ABarrierBesideAnotherCallHangsNobody) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  // Rank 0 may be ahead of the others.
  Result<std::unique_ptr<FileWriter>> writer = FileWriter::create(folder.file("f.nmb"), {}, ranks);
  const auto start = Clock::now();
  Status status = writer.status();
  if (status.ok()) status = ranks.rank() == 0 ? ranks.barrier() : (*writer)->end_define();
  // The barrier may have ended before the other ranks' messages are seen.
  if (status.ok()) status = (*writer)->end_define();
  NMB_TRY(expect(status.code() == Code::kUsage, "a usage error: " + status.text()));
  return expect(Clock::now() - start < std::chrono::seconds(5), "it within 5 s");
}

}  // namespace
}  // namespace nmb
