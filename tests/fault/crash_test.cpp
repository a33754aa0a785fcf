// A machine that stops at any time: of the calls that change a file, any prefix may have reached
// the device, and of those since the last sync any part.
#include <gtest/gtest.h>

#include "fault/session_file.h"
#include "superblock/superblock.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/programs.h"
#include "support/sanitized.h"

namespace nmb::test {
namespace {

constexpr std::size_t kSector = 512;

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
    auto reader = Reader::open(std::make_shared<MemorySource>(image, "image"));
    ASSERT_TRUE(reader.ok()) << reader.status().text();
    const bool is_new = (*reader)->generation() == after_.number;
    ASSERT_TRUE(is_new || (*reader)->generation() == before_.number) << (*reader)->generation();
    const Generation& expected = is_new ? after_ : before_;
    if (is_new) ++new_;
    // The same bytes as in the whole file say more than the same values, and sooner.
    ASSERT_GE(image.size(), expected.bytes.size());
    ASSERT_TRUE(std::equal(expected.bytes.begin() + kBodyStart, expected.bytes.end(),
                           image.begin() + kBodyStart))
        << (is_new ? "new: " : "old: ") << difference(expected.model, **reader);
    if (!repair && (*reader)->warnings().empty()) return;
    write_file(scratch_, {reinterpret_cast<const char*>(image.data()), image.size()});
    auto writer = Writer::open(scratch_.string(), fault_options());
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

TEST(Crash, AnyStopLeavesOneGenerationOrTheOther) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb";
  int views = 0;
  for (std::uint64_t seed = 1; seed <= 24 / kShare; ++seed) {
    Generation before, after;
    std::filesystem::remove(path);
    ASSERT_TRUE(write_session(path, true, seed, SessionKind::kAll, fault_options({}, view_of(seed)),
                              &before.model)
                    .ok());
    before.number = 1 + seed % 2;
    after.number = before.number + 1;
    if (before.number == 2) {
      ASSERT_TRUE(write_session(path, false, seed + 50, SessionKind::kAll,
                                fault_options({}, view_of(seed / 2)), &before.model)
                      .ok());
    }
    std::vector<std::byte> image = before.bytes = read_file(path);
    std::vector<OutputCall> calls;
    after.model = before.model;
    const Status status =
        write_session(path, false, seed + 100, kSessionKinds[seed % 3],
                      fault_options(recording(calls), view_of(seed / 4)), &after.model);
    ASSERT_TRUE(status.ok()) << status.text();
    after.bytes = read_file(path);
    for (const Generation* one : {&before, &after})
      views += one->bytes[1] == std::byte{'H'};
    ASSERT_EQ(difference(after.model, path), "");
    Crash crash(before, after, folder.path() / "crash.nmb");
    std::mt19937_64 random(seed);
    std::vector<std::byte> durable = image;
    std::vector<const OutputCall*> pending;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", call " + std::to_string(i) + " of " +
                   std::to_string(calls.size()));
      const OutputCall& call = calls[i];
      ASSERT_NE(call.what, OutputCall::What::kPublish);
      if (call.what == OutputCall::What::kSync) {
        durable = image;
        pending.clear();
        ASSERT_NO_FATAL_FAILURE(crash.check(image, true));
        continue;
      }
      if (call.what == OutputCall::What::kWrite) {
        const std::size_t step =
            call.bytes.size() <= 8 * kSector ? kSector : call.bytes.size() / 3 / kSector * kSector;
        for (std::size_t torn = step; torn < call.bytes.size(); torn += step) {
          auto copy = image;
          call.apply(&copy, torn);
          ASSERT_NO_FATAL_FAILURE(crash.check(copy, false)) << "torn at " << torn;
        }
      }
      pending.push_back(&call);
      call.apply(&image);
      ASSERT_NO_FATAL_FAILURE(crash.check(image, i % 16 == 0));
      for (int sample = 0; sample < 2; ++sample) {
        auto copy = durable;
        for (const OutputCall* one : pending)
          if (random() % 2) one->apply(&copy);
        ASSERT_NO_FATAL_FAILURE(crash.check(copy, false)) << "a part of the calls since the sync";
      }
    }
    ASSERT_TRUE(image == after.bytes);
    EXPECT_GT(crash.new_ones(), 0);
    EXPECT_LT(crash.new_ones(), crash.checked());
  }
  EXPECT_GT(views, 3);
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
