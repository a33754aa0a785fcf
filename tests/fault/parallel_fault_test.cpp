// Every call of every rank that changes or reads the file is made to fail: all ranks have the same
// error, soon; what was committed stays, and nothing else is left.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "parallel/communicator.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/rank_outcome.h"
#include "support/rank_session.h"
#include "support/sanitized.h"

namespace nmb::test {
namespace {

using Session = Status (*)(Communicator&, const std::string&, const FileWriterOptions&);

struct Way {
  Fault::How how;
  Code code;
  bool reads = false;
};

constexpr Way kWays[] = {{Fault::How::kOnce, Code::kIo},
                         {Fault::How::kForEver, Code::kNoSpace},
                         {Fault::How::kShort, Code::kNoSpace},
                         {Fault::How::kOnce, Code::kIo, true},
                         {Fault::How::kThrow, Code::kUsage}};

// Runs the session on threads, each with its fault; the statuses by rank.
std::vector<Status> run(std::vector<Fault>& faults, const std::string& path, Session session,
                        const std::string& what) {
  const Watchdog watchdog(what);
  std::vector<Status> statuses(faults.size());
  const Status ended =
      run_thread_ranks(static_cast<int>(faults.size()), [&](Communicator& ranks) -> Status {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        statuses[rank] = run_session(ranks, path, [&] {
          return session(ranks, path, session_options(faults[rank].layer()));
        });
        // After what was agreed the ranks may go on.
        return statuses[rank].code() == Code::kUsage ? Status() : ranks.barrier();
      });
  if (!ended.ok()) ADD_FAILURE() << ended.text();
  return statuses;
}

// Calls each rank makes in a session without failures.
std::vector<std::uint64_t> count_calls(int size, bool reads, const std::string& path,
                                       Session session) {
  std::vector<Fault> faults(static_cast<std::size_t>(size));
  for (Fault& fault : faults) fault.reads = reads;
  for (const Status& status : run(faults, path, session, "no failure"))
    EXPECT_TRUE(status.ok()) << status.text();
  std::vector<std::uint64_t> calls;
  for (const Fault& fault : faults) calls.push_back(fault.calls);
  return calls;
}

// Calls visit() after each way that each call fails in: all of rank 0, of the others together about
// as many, since they do much the same.
void fail_each_call(int size, const std::string& path, Session session,
                    const std::function<void()>& prepare, const std::function<void()>& visit) {
  for (const Way& way : kWays) {
    prepare();
    const std::vector<std::uint64_t> calls = count_calls(size, way.reads, path, session);
    for (std::size_t rank = 0; rank < calls.size(); ++rank) {
      const std::uint64_t stride = (rank == 0 ? 1 : calls.size() - 1) * kShare;
      for (std::uint64_t call = rank % stride; call < calls[rank]; call += stride) {
        const std::string what =
            std::to_string(size) + " ranks, call " + std::to_string(call) + " of " +
            std::to_string(calls[rank]) + " of rank " + std::to_string(rank) + ", way " +
            std::to_string(static_cast<int>(way.how)) + (way.reads ? ", reads too" : "");
        SCOPED_TRACE(what);
        prepare();
        std::vector<Fault> faults(calls.size());
        faults[rank].call = call;
        faults[rank].how = way.how;
        faults[rank].code = way.code;
        faults[rank].reads = way.reads;
        const std::vector<Status> statuses = run(faults, path, session, what);
        // Whether rank 0 makes the file longer depends on what others have written already.
        if (faults[rank].calls <= call && statuses[0].ok()) continue;
        ASSERT_EQ(statuses[0].code(), way.code) << statuses[0].text();
        for (const Status& status : statuses) ASSERT_EQ(status.text(), statuses[0].text());
        if (size > 1) {
          ASSERT_NE(statuses[0].text().find("on rank " + std::to_string(rank)), std::string::npos)
              << statuses[0].text();
        }
        visit();
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

class ParallelFault : public testing::TestWithParam<int> {};

TEST_P(ParallelFault, OfACreationLeavesTheTargetAlone) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb";
  bool target = false;
  auto prepare = [&] {
    std::filesystem::remove(path);
    target = !target;
    if (target) write_file(path, "an old target");
  };
  fail_each_call(GetParam(), path, create_session, prepare, [&] {
    ASSERT_EQ(names_in(folder.path()),
              target ? std::vector<std::string>{"f.nmb"} : std::vector<std::string>{});
    if (target) {
      ASSERT_EQ(read_file(path).size(), 13u);
    }
  });
}

TEST_P(ParallelFault, OfAChangeLeavesAWholeGeneration) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb", base = folder.path() / "base.nmb";
  // The content of generations; of those in between, the first that a failure leaves.
  std::map<std::uint64_t, std::string> generations;
  count_calls(GetParam(), false, base, create_session);
  generations[1] = content_of(base);
  std::filesystem::copy_file(base, path);
  count_calls(GetParam(), false, path, change_session);
  generations[6] = content_of(path);
  ASSERT_EQ(findings_of(base) + findings_of(path), "");
  auto prepare = [&] {
    std::filesystem::copy_file(base, path, std::filesystem::copy_options::overwrite_existing);
  };
  std::set<std::uint64_t> seen;
  fail_each_call(GetParam(), path, change_session, prepare, [&] {
    auto reader = FileReader::open(path.string());
    ASSERT_TRUE(reader.ok()) << reader.status().text();
    const std::uint64_t generation = (*reader)->generation();
    seen.insert(generation);
    const std::string content = content_of(path);
    ASSERT_EQ(content, generations.emplace(generation, content).first->second);
    const auto writer = FileWriter::open(path.string(), session_options());
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    // A whole generation that was not committed is adopted.
    const std::uint64_t adopted = (*writer)->generation();
    ASSERT_TRUE(adopted == generation || adopted == generation + 1);
    ASSERT_EQ(findings_of(path, {"R-FL-2"}), "");
    const std::string again = content_of(path);
    ASSERT_EQ(again, generations.emplace(adopted, again).first->second) << "opened again";
    ASSERT_EQ(names_in(folder.path()), (std::vector<std::string>{"base.nmb", "f.nmb"}));
  });
  // Few calls follow the last commit: a share of all may have none of them.
  if (kShare == 1)
    EXPECT_EQ(seen, (std::set<std::uint64_t>{1, 2, 3, 4, 5, 6}));
  else
    EXPECT_TRUE(seen.count(1) == 1 && *seen.rbegin() <= 6) << *seen.rbegin();
}

TEST_P(ParallelFault, BehindTheSlotSaysThatTheGenerationMayBeInTheFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb", base = folder.path() / "base.nmb";
  const std::size_t calls = count_calls(GetParam(), false, base, create_session).size();
  // Slot and mark of generation 2.
  for (const std::uint64_t at : {Superblock::slot_position(2), kCoverPosition}) {
    std::filesystem::copy_file(base, path, std::filesystem::copy_options::overwrite_existing);
    std::vector<Fault> faults(calls);
    faults[0].at = at;
    const std::vector<Status> statuses = run(faults, path, change_session, "slot or mark");
    for (const Status& status : statuses) {
      EXPECT_EQ(status.code(), Code::kIo);
      EXPECT_EQ(status.text(), statuses[0].text());
      EXPECT_NE(status.message().find("generation 2 may be in the file"), std::string::npos)
          << status.text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ParallelFault, testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace nmb::test
