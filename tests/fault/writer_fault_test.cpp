// Every call that changes a file is made to fail, once and for ever: what was committed stays.
#include <gtest/gtest.h>

#include "fault/session_file.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/programs.h"
#include "support/sanitized.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr std::pair<Fault::How, Code> kFaults[] = {{Fault::How::kOnce, Code::kIo},
                                                   {Fault::How::kForEver, Code::kNoSpace},
                                                   {Fault::How::kShort, Code::kIo}};

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST(WriterFault, EveryFailureOfACreationLeavesTheTargetAlone) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb";
  for (const bool target : {false, true}) {
    for (std::uint64_t seed = 1; seed <= (kShare == 1 ? 6 : 2); ++seed) {
      Fault count;
      Model model;
      const Status sound = write_session(path, true, seed, SessionKind::kAll,
                                         fault_options(count.layer(), view_of(seed)), &model);
      ASSERT_TRUE(sound.ok()) << sound.text();
      ASSERT_EQ(difference(model, path), "");
      for (std::uint64_t call = 0; call < count.calls; ++call) {
        for (const auto& [how, code] : kFaults) {
          SCOPED_TRACE("seed " + std::to_string(seed) + ", call " + std::to_string(call));
          std::filesystem::remove(path);
          if (target) write_file(path, "an old target");
          Fault fault{call, how, code};
          Model ignored;
          const Status status =
              write_session(path, true, seed, SessionKind::kAll,
                            fault_options(fault.layer(), view_of(seed)), &ignored);
          ASSERT_FALSE(status.ok());
          ASSERT_EQ(status.code(), code);
          ASSERT_EQ(names_in(folder.path()),
                    target ? std::vector<std::string>{"f.nmb"} : std::vector<std::string>{});
          if (target) {
            ASSERT_EQ(read_file(path).size(), 13u);
          }
        }
      }
      std::filesystem::remove(path);
    }
  }
}

TEST(WriterFault, EveryFailureOfAChangeLeavesTheCommittedGenerationOrTheNewOne) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb", base = folder.path() / "base.nmb";
  int new_ones = 0, old_ones = 0, in_doubt = 0, undoubted = 0;
  for (std::uint64_t seed = 1; seed <= 12 / kShare; ++seed) {
    const SessionKind kind = kSessionKinds[seed % kSessionKindCount];
    Model before;
    ASSERT_TRUE(write_session(base, true, seed, kind_before(kind), fault_options(), &before).ok());
    ASSERT_TRUE(write_session(base, false, seed + 50, kind_before(kind),
                              fault_options({}, view_of(seed / 2)), &before)
                    .ok());
    const auto copy = [&] {
      std::filesystem::copy_file(base, path, std::filesystem::copy_options::overwrite_existing);
    };
    copy();
    Fault count;
    Model after = before;
    const Status sound = write_session(path, false, seed + 100, kind,
                                       fault_options(count.layer(), view_of(seed)), &after);
    ASSERT_TRUE(sound.ok()) << sound.text();
    ASSERT_EQ(difference(after, path), "");
    for (std::uint64_t call = 0; call < count.calls; ++call) {
      for (const auto& [how, code] : kFaults) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", call " + std::to_string(call) + " of " +
                     std::to_string(count.calls) + ", how " +
                     std::to_string(static_cast<int>(how)));
        copy();
        Fault fault{call, how, code};
        Model ignored = before;
        const Status status = write_session(path, false, seed + 100, kind,
                                            fault_options(fault.layer(), view_of(seed)), &ignored);
        ASSERT_EQ(status.code(), code) << status.text();
        auto reader = FileReader::open(path.string());
        ASSERT_TRUE(reader.ok()) << reader.status().text();
        const bool is_new = (*reader)->generation() == 3;
        ++(is_new ? new_ones : old_ones);
        ASSERT_TRUE(is_new || (*reader)->generation() == 2);
        const bool says_so = status.message().find("generation 3 may be in") != std::string::npos;
        ++(says_so ? in_doubt : undoubted);
        ASSERT_TRUE(says_so || !is_new) << status.text();
        ASSERT_EQ(difference(is_new ? after : before, **reader), "") << (is_new ? "new" : "old");
        // Bytes behind the end stay where cutting them off fails or the slot's state is not known;
        // a slot, mark or cover written in part, and a whole generation, until the next writer.
        ASSERT_EQ(findings_of(path, {"R-FL-2", "R-ID-5", "R-SB-1", "R-SB-3", "R-SB-12", "R-SB-13"}),
                  "");
        const auto writer = FileWriter::open(path.string(), fault_options());
        ASSERT_TRUE(writer.ok()) << writer.status().text();
        const bool adopted = (*writer)->generation() == 3;
        ASSERT_TRUE(adopted || !is_new);
        ASSERT_EQ(findings_of(path, {"R-FL-2"}), "");
        ASSERT_EQ(difference(adopted ? after : before, path), "") << "opened again";
      }
    }
  }
  EXPECT_GT(new_ones, 0);
  EXPECT_GT(old_ones, 0);
  EXPECT_GE(in_doubt, new_ones);
  EXPECT_GT(undoubted, in_doubt);
}

TEST(WriterFault, AFailedWriterRefusesEverythingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "f.nmb";
  for (const Code code : {Code::kIo, Code::kConflict}) {
    FileWriterOptions options;
    options.before_commit = [&] { return Status(code, "not now"); };
    auto writer = FileWriter::create(path, options);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->define_block("a").ok());
    ASSERT_TRUE((*writer)->end_define().ok());
    EXPECT_EQ((*writer)->sync().code(), code);
    EXPECT_EQ((*writer)->sync().code(), code);
    EXPECT_EQ((*writer)->redefine().code(), code);
    EXPECT_EQ((*writer)->define_block("b").status().code(), code);
    EXPECT_EQ((*writer)->close().code(), code);
    writer->reset();
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

}  // namespace
}  // namespace nmb::test
