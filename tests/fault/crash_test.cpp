// A machine that stops at any time: of the calls that change a file, any prefix may have reached
// the device, and of those since the last sync any part.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "fault/session_file.h"
#include "superblock/superblock.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/programs.h"
#include "support/sanitized.h"
#include "verify/verify.h"

namespace nmb::test {
namespace {

constexpr std::size_t kSector = 512;

// By memcmp: std::equal() goes byte by byte, and images are compared thousands of times.
bool same_body(const std::vector<std::byte>& whole, const std::vector<std::byte>& image) {
  return std::memcmp(whole.data() + kBodyStart, image.data() + kBodyStart,
                     whole.size() - kBodyStart) == 0;
}

// The findings of nmverify, without those about a commit that did not finish. The values are
// compared elsewhere.
std::string damage_in(const std::vector<std::byte>& image) {
  class Damage final : public Findings {
   public:
    void report(Finding finding) override {
      if (finding.severity != Severity::kWarning) text += finding.text() + "\n";
    }
    std::string text;
  } damage;
  VerifierOptions options;
  options.level = VerifyLevel::kIndex;
  const auto summary = verify(MemorySource(image, "image"), options, damage);
  if (!summary.ok()) return summary.status().text();
  return damage.text + (summary->incomplete.ok() ? "" : summary->incomplete.text());
}

// A generation, and the file that has it whole.
struct Generation {
  Model model;
  std::vector<std::byte> bytes;
  std::uint64_t number = 0;
};

class Crash {
 public:
  Crash(const Generation& before, const Generation& after, const std::filesystem::path& scratch)
      : before_(before), after_(after), scratch_(scratch) {}

  // Opens what was left; repair: also by a writer.
  void check(const std::vector<std::byte>& image, bool repair) {
    ++checked_;
    auto reader = FileReader::open(std::make_shared<MemorySource>(image, "image"));
    ASSERT_TRUE(reader.ok()) << reader.status().text();
    const bool is_new = (*reader)->generation() == after_.number;
    ASSERT_TRUE(is_new || (*reader)->generation() == before_.number) << (*reader)->generation();
    const Generation& expected = is_new ? after_ : before_;
    if (is_new) ++new_;
    ASSERT_EQ(damage_in(image), "");
    // The same bytes as in the whole file say more than the same values, and sooner.
    ASSERT_GE(image.size(), expected.bytes.size());
    ASSERT_TRUE(same_body(expected.bytes, image))
        << (is_new ? "new: " : "old: ") << difference(expected.model, **reader);
    if (!repair && (*reader)->warnings().empty()) return;
    write_file(scratch_, {reinterpret_cast<const char*>(image.data()), image.size()});
    auto writer = FileWriter::open(scratch_.string(), fault_options());
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    // It may adopt the new one where that is whole, and never goes back.
    const bool adopted = (*writer)->generation() == after_.number;
    ASSERT_TRUE(adopted || (!is_new && (*writer)->generation() == before_.number));
    writer->reset();
    // One that is not whole stays behind the newest until the next commit records it.
    ASSERT_EQ(findings_of(scratch_, {"R-FL-2", adopted ? "" : "R-SB-13"}), "");
    ASSERT_EQ(difference(adopted ? after_.model : before_.model, scratch_), "");
  }
  int checked() const { return checked_; }
  int new_ones() const { return new_; }

 private:
  const Generation &before_, &after_;
  std::filesystem::path scratch_;
  int checked_ = 0, new_ = 0;
};

// Calls look(image, whole) with what a stop may leave of these calls on `image`: each write torn,
// lost, or alone of those since the last sync, and parts of these at random, all of them where
// they are few. whole: everything up to here has reached the device.
template <class Look>
void for_each_stop(const std::vector<OutputCall>& calls, std::vector<std::byte> image,
                   std::mt19937_64& random, Look look) {
  constexpr std::size_t kFew = 5;
  std::vector<std::byte> durable = image;
  std::vector<const OutputCall*> pending;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE("call " + std::to_string(i) + " of " + std::to_string(calls.size()));
    const OutputCall& call = calls[i];
    ASSERT_NE(call.what, OutputCall::What::kPublish);
    if (call.what == OutputCall::What::kSync) {
      durable = image;
      pending.clear();
      ASSERT_NO_FATAL_FAILURE(look(image, true));
      continue;
    }
    if (call.what == OutputCall::What::kWrite) {
      // The mark is shorter than a sector: a system that copies bytes tears it too.
      const std::size_t step = call.bytes.size() < kSector ? 40
                               : call.bytes.size() <= 8 * kSector
                                   ? kSector
                                   : call.bytes.size() / 3 / kSector * kSector;
      for (std::size_t torn = step; torn < call.bytes.size(); torn += step) {
        auto copy = image;
        call.apply(&copy, torn);
        ASSERT_NO_FATAL_FAILURE(look(copy, false)) << "torn at " << torn;
      }
    }
    pending.push_back(&call);
    call.apply(&image);
    ASSERT_NO_FATAL_FAILURE(look(image, i % 16 == 0));
    const bool few = pending.size() <= kFew;
    const std::size_t parts = few ? std::size_t{1} << pending.size() : 4;
    for (std::size_t part = 0; part < parts; ++part) {
      auto copy = durable;
      for (std::size_t k = 0; k < pending.size(); ++k) {
        const bool newest = k + 1 == pending.size();
        // Of many: this call alone, all but this call, and two parts at random.
        const bool done = few         ? (part >> k) % 2 != 0
                          : part == 0 ? newest
                          : part == 1 ? !newest
                                      : random() % 2 != 0;
        if (done) pending[k]->apply(&copy);
      }
      ASSERT_NO_FATAL_FAILURE(look(copy, false)) << "a part of the calls since the sync";
    }
  }
}

bool has_growth(const Generation& generation) {
  Superblock superblock;
  FirstFinding ignored;
  const std::uint64_t at = generation.bytes.size() - kSlotUnit;
  Superblock::decode(std::span(generation.bytes).subspan(at), at, &superblock, ignored);
  return !superblock.growth.absent();
}

// Two generations of one file, and the calls that made the second of the first.
struct Commit {
  Generation before, after;
  std::vector<OutputCall> calls;
};

void make_commit(const std::filesystem::path& path, std::uint64_t seed, SessionKind kind,
                 Commit* commit) {
  Generation &before = commit->before, &after = commit->after;
  std::filesystem::remove(path);
  ASSERT_TRUE(write_session(path, true, seed, kind_before(kind), fault_options({}, view_of(seed)),
                            &before.model)
                  .ok());
  before.number = 1 + seed % 2;
  after.number = before.number + 1;
  if (before.number == 2) {
    ASSERT_TRUE(write_session(path, false, seed + 50, kind_before(kind),
                              fault_options({}, kind == SessionKind::kRecords ? Hdf5View::kOff
                                                                              : view_of(seed / 2)),
                              &before.model)
                    .ok());
  }
  before.bytes = read_file(path);
  after.model = before.model;
  const Status status =
      write_session(path, false, seed + 100, kind,
                    fault_options(recording(commit->calls), view_of(seed / 4)), &after.model);
  ASSERT_TRUE(status.ok()) << status.text();
  after.bytes = read_file(path);
  ASSERT_EQ(difference(after.model, path), "");
}

TEST(Crash, AnyStopLeavesOneGenerationOrTheOther) {
  const TemporaryFolder folder;
  int views = 0, grown = 0, folded = 0;
  for (std::uint64_t seed = 1; seed <= 16 / kShare; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Commit commit;
    ASSERT_NO_FATAL_FAILURE(make_commit(folder.path() / "f.nmb", seed,
                                        kSessionKinds[seed % kSessionKindCount], &commit));
    for (const Generation* one : {&commit.before, &commit.after})
      views += one->bytes[1] == std::byte{'H'};
    grown += has_growth(commit.after);
    folded += has_growth(commit.before) && !has_growth(commit.after);
    Crash crash(commit.before, commit.after, folder.path() / "crash.nmb");
    std::mt19937_64 random(seed);
    ASSERT_NO_FATAL_FAILURE(for_each_stop(
        commit.calls, commit.before.bytes, random,
        [&](const std::vector<std::byte>& image, bool whole) { crash.check(image, whole); }));
    EXPECT_GT(crash.new_ones(), 0);
    EXPECT_LT(crash.new_ones(), crash.checked());
  }
  EXPECT_GT(views, 3);
  EXPECT_GT(grown + folded, 0);
  if (kShare == 1) {
    EXPECT_GT(grown, 1);
    EXPECT_GT(folded, 1);
  }
}

// A writer that finds what a stop left, mends it and commits, and is stopped in its turn. Readers
// between any two calls see one of the generations, and never go back.
TEST(Crash, AStopWhileTheNextWriterMendsAndCommitsLosesNothing) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "again.nmb";
  int adopted = 0, abandoned = 0;
  for (std::uint64_t seed = 1; seed <= 4 / kShare; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Commit commit;
    ASSERT_NO_FATAL_FAILURE(make_commit(folder.path() / "f.nmb", seed,
                                        kSessionKinds[seed % kSessionKindCount], &commit));
    std::mt19937_64 random(seed), stops(seed);
    auto go_on = [&](const std::vector<std::byte>& left) {
      write_file(path, {reinterpret_cast<const char*>(left.data()), left.size()});
      std::uint64_t lowest = 0, base = 0;
      {
        auto reader = FileReader::open(path.string());
        ASSERT_TRUE(reader.ok()) << reader.status().text();
        lowest = (*reader)->generation();
      }
      std::vector<OutputCall> calls;
      {
        auto writer = FileWriter::open(path.string(), fault_options(recording(calls)));
        ASSERT_TRUE(writer.ok()) << writer.status().text();
        base = (*writer)->generation();
        ASSERT_TRUE((*writer)->define_block("zz/next", Metadata()).ok());
        ASSERT_TRUE((*writer)->end_define().ok());
        ASSERT_TRUE((*writer)->close().ok());
      }
      ASSERT_GE(base, lowest);
      (base == commit.after.number ? adopted : abandoned) += 1;
      std::map<std::uint64_t, std::vector<std::byte>> generations;
      generations[commit.before.number] = commit.before.bytes;
      if (base == commit.after.number) generations[base] = commit.after.bytes;
      generations[base + 1] = read_file(path);
      ASSERT_EQ(findings_of(path), "");
      for_each_stop(calls, left, stops, [&](const std::vector<std::byte>& image, bool) {
        auto reader = FileReader::open(std::make_shared<MemorySource>(image, "image"));
        ASSERT_TRUE(reader.ok()) << reader.status().text();
        const std::uint64_t found = (*reader)->generation();
        ASSERT_GE(found, lowest);
        ASSERT_TRUE(generations.contains(found)) << found;
        const std::vector<std::byte>& expected = generations[found];
        ASSERT_GE(image.size(), expected.size());
        ASSERT_TRUE(same_body(expected, image));
      });
    };
    ASSERT_NO_FATAL_FAILURE(for_each_stop(commit.calls, commit.before.bytes, random,
                                          [&](const std::vector<std::byte>& image, bool) {
                                            if (random() % 24 == 0) go_on(image);
                                          }));
    // Of the last calls, slot and mark among them, each stop.
    ASSERT_GT(commit.calls.size(), 8u);
    auto image = commit.before.bytes;
    for (std::size_t i = 0; i < commit.calls.size(); ++i) {
      commit.calls[i].apply(&image);
      if (i + 8 < commit.calls.size()) continue;
      ASSERT_NO_FATAL_FAILURE(go_on(image));
    }
  }
  EXPECT_GT(adopted, 0);
  EXPECT_GT(abandoned, 0);
}

TEST(Crash, AFileGetsItsNameWhenAllOfItIsOnTheDevice) {
  const TemporaryFolder folder;
  std::vector<OutputCall> calls;
  Model model;
  ASSERT_TRUE(write_session(folder.path() / "f.nmb", true, 7, SessionKind::kAll,
                            fault_options(recording(calls)), &model)
                  .ok());
  ASSERT_GE(calls.size(), 2u);
  EXPECT_EQ(calls.back().what, OutputCall::What::kPublish);
  EXPECT_EQ(calls[calls.size() - 2].what, OutputCall::What::kSync);
}

}  // namespace
}  // namespace nmb::test
