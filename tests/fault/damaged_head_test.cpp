// Heads that lost one unit or two, and files with bytes after their newest generation: the
// generation that readers choose, the findings of nmverify, and the repairs of a writer
// (spec/writer.md, sections 5.3 and 5.4).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "fault/session_file.h"
#include "files/writer_lock.h"
#include "merge/reporting/merge.h"
#include "superblock/head.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "verify/verify.h"

namespace nmb::test {
namespace {

constexpr std::uint64_t kGenerations = 9;

class DamagedHeadTest : public testing::Test {
 protected:
  // One file of nine generations for all tests: `images_` has it as of each.
  static void SetUpTestSuite() {
    const TemporaryFolder folder;
    const auto path = folder.path() / "f.nmb";
    images_ = new std::vector<std::vector<std::byte>>(1);
    models_ = new std::vector<Model>(1);
    Model model;
    for (std::uint64_t g = 1; g <= kGenerations; ++g) {
      ASSERT_TRUE(write_session(path, g == 1, g, SessionKind::kAll, fault_options(), &model).ok());
      images_->push_back(read_file(path));
      models_->push_back(model);
    }
  }
  static void TearDownTestSuite() {
    delete images_;
    delete models_;
  }

  static const std::vector<std::byte>& image(std::uint64_t generation = kGenerations) {
    return (*images_)[generation];
  }
  static const Model& model(std::uint64_t generation = kGenerations) {
    return (*models_)[generation];
  }
  static void copy_unit(std::vector<std::byte>& to, const std::vector<std::byte>& from,
                        std::uint64_t at) {
    std::memcpy(&to[at], &from[at], kSlotUnit);
  }

  static FindingList findings_in(const std::vector<std::byte>& file) {
    FindingList findings;
    EXPECT_TRUE(verify(MemorySource(file, "file"), {}, findings).ok());
    return findings;
  }

  // Returns the generation that a reader chooses. Its warnings go to `warnings`.
  static std::uint64_t opened(const std::vector<std::byte>& file, const Model& expected,
                              FindingList* warnings = nullptr) {
    auto reader = FileReader::open(std::make_shared<MemorySource>(file, "file"));
    EXPECT_TRUE(reader.ok()) << reader.status().text();
    if (!reader.ok()) return 0;
    EXPECT_EQ(difference(expected, **reader), "");
    if (warnings) warnings->list = (*reader)->warnings();
    return (*reader)->generation();
  }

  // A writer adds a generation: all of `expected` stays, and what is committed stays where it is.
  void append(const std::vector<std::byte>& file, std::uint64_t generation, Model expected) {
    const auto path = folder_.path() / "appended.nmb";
    write_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
    const Status status =
        write_session(path, false, 77, SessionKind::kAll, fault_options(), &expected);
    ASSERT_TRUE(status.ok()) << status.text();
    const std::vector<std::byte> after = read_file(path);
    EXPECT_EQ(opened(after, expected), generation + 1);
    EXPECT_EQ(findings_in(after).text(), "");
    ASSERT_GE(after.size(), file.size());
    const auto& sound = image(generation);
    EXPECT_TRUE(std::equal(sound.begin() + kBodyStart, sound.end(), after.begin() + kBodyStart));
    EXPECT_TRUE(std::equal(file.begin() + static_cast<std::ptrdiff_t>(sound.size()), file.end(),
                           after.begin() + static_cast<std::ptrdiff_t>(sound.size())));
  }

  const TemporaryFolder folder_;

 private:
  static std::vector<std::vector<std::byte>>* images_;
  static std::vector<Model>* models_;
};

std::vector<std::vector<std::byte>>* DamagedHeadTest::images_ = nullptr;
std::vector<Model>* DamagedHeadTest::models_ = nullptr;

struct Damage {
  const char* name;
  void (*apply)(std::span<std::byte> unit, std::span<const std::byte> older);
};

const Damage kDamages[] = {
    {"zeroed", [](std::span<std::byte> unit,
                  std::span<const std::byte>) { std::ranges::fill(unit, std::byte{0}); }},
    {"set", [](std::span<std::byte> unit,
               std::span<const std::byte>) { std::ranges::fill(unit, std::byte{0xFF}); }},
    {"flipped",
     [](std::span<std::byte> unit, std::span<const std::byte>) { unit[600] ^= std::byte{1}; }},
    {"older", [](std::span<std::byte> unit,
                 std::span<const std::byte> older) { std::ranges::copy(older, unit.begin()); }},
};

TEST_F(DamagedHeadTest, OneLostUnitCostsNothingAndIsFound) {
  const std::uint64_t trailer = image().size() - kSlotUnit;
  for (const std::uint64_t at : {std::uint64_t{0}, kFirstSlot, kFirstSlot + kSlotUnit, trailer})
    for (const Damage& damage : kDamages)
      for (const std::size_t behind : {0u, 5000u}) {
        SCOPED_TRACE(std::string(damage.name) + " at " + std::to_string(at) + ", " +
                     std::to_string(behind) + " bytes behind");
        std::vector<std::byte> file = image();
        const auto& older = image(7);
        const std::vector<std::byte> nothing(kSlotUnit);
        damage.apply(std::span(file).subspan(at, kSlotUnit),
                     at == trailer ? std::span<const std::byte>(nothing)
                                   : std::span(older).subspan(at, kSlotUnit));
        file.resize(file.size() + behind, std::byte{0xA5});
        ASSERT_EQ(opened(file, model()), kGenerations);
        EXPECT_TRUE(findings_in(file).has(Severity::kFinding));
        ASSERT_NO_FATAL_FAILURE(append(file, kGenerations, model()));
      }
}

TEST_F(DamagedHeadTest, FindingsNameThePlace) {
  struct Case {
    std::uint64_t at;
    const char* rule;
    std::uint64_t offset;
  };
  for (const Case& c :
       {Case{560, "R-ID-2", 512}, Case{512, "R-ID-1", 512}, Case{40, "R-ID-5", 40},
        Case{300, "R-SB-12", 256}, Case{400, "R-FL-6", 400}, Case{1030, "R-FL-6", 1030},
        Case{4096 + 100, "R-SB-1", 4096}, Case{8192, "R-SB-1", 8192}}) {
    std::vector<std::byte> file = image();
    file[c.at] ^= std::byte{0x10};
    const FindingList findings = findings_in(file);
    ASSERT_EQ(findings.list.size(), 1u) << c.at << "\n" << findings.text();
    EXPECT_TRUE(findings.has(Severity::kFinding, c.rule, c.offset)) << findings.text();
    EXPECT_EQ(opened(file, model()), kGenerations) << c.at;
  }
  std::vector<std::byte> file = image();
  std::memset(&file[kFirstSlot], 0, kSlotUnit);
  EXPECT_TRUE(findings_in(file).has(Severity::kFinding, "R-SB-3", kFirstSlot + 16));
}

TEST_F(DamagedHeadTest, WithoutIdentitiesAndMarkTheSlotsTellTheFile) {
  std::vector<std::byte> file = image();
  std::memset(file.data(), 0, kFirstSlot);
  FindingList warnings;
  EXPECT_EQ(opened(file, model(), &warnings), kGenerations);
  EXPECT_TRUE(warnings.has(Severity::kWarning, "R-ID-1", 512)) << warnings.text();
  EXPECT_TRUE(warnings.has(Severity::kWarning, "R-SB-12", 256)) << warnings.text();
  ASSERT_NO_FATAL_FAILURE(append(file, kGenerations, model()));
}

TEST_F(DamagedHeadTest, AMarkedGenerationThatIsNowhereIsLostNotReplacedByAnOlderOne) {
  std::vector<std::byte> file = image();
  copy_unit(file, image(7), kFirstSlot);
  file.resize(image(8).size());
  const auto reader = FileReader::open(std::make_shared<MemorySource>(file, "file"));
  EXPECT_EQ(reader.status().rule(), "R-SB-13");
  EXPECT_EQ(reader.status().offset(), image().size() - kSlotUnit);
  EXPECT_TRUE(findings_in(file).has(Severity::kFinding, "R-SB-13", image().size() - kSlotUnit));
  write_file(folder_.path() / "f.nmb", {reinterpret_cast<const char*>(file.data()), file.size()});
  EXPECT_EQ(FileWriter::open((folder_.path() / "f.nmb").string(), fault_options()).status().rule(),
            "R-SB-13");
  EXPECT_TRUE(read_file(folder_.path() / "f.nmb") == file);
}

// As a crash leaves it between the trailer and the slot.
TEST_F(DamagedHeadTest, APendingGenerationIsAdoptedByAWriterIfItIsSound) {
  std::vector<std::byte> file = image();
  std::copy_n(image(8).begin(), kBodyStart, file.begin());
  const std::uint64_t trailer = file.size() - kSlotUnit;
  FindingList warnings;
  EXPECT_EQ(opened(file, model(8), &warnings), 8u);
  EXPECT_TRUE(warnings.has(Severity::kWarning, "R-SB-13", trailer)) << warnings.text();
  EXPECT_TRUE(warnings.has(Severity::kWarning, "R-FL-2", image(8).size())) << warnings.text();
  EXPECT_TRUE(findings_in(file).has(Severity::kWarning, "R-SB-13", trailer));
  ASSERT_NO_FATAL_FAILURE(append(file, 9, model(9)));
  // Bytes that nobody committed hide it from readers, not from a writer.
  file.resize(file.size() + 5000, std::byte{0xA5});
  EXPECT_EQ(opened(file, model(8)), 8u);
  ASSERT_NO_FATAL_FAILURE(append(file, 9, model(9)));
}

TEST_F(DamagedHeadTest, APendingGenerationThatIsNotSoundStaysAsAnAbandonedRange) {
  std::vector<std::byte> file = image();
  std::copy_n(image(8).begin(), kBodyStart, file.begin());
  file[image(8).size() + 100] ^= std::byte{1};
  EXPECT_EQ(opened(file, model(8)), 8u);
  ASSERT_NO_FATAL_FAILURE(append(file, 8, model(8)));
}

// A changed file that is kept.
class KeptFileTest : public DamagedHeadTest {
 protected:
  Status pack(const std::vector<std::byte>& file, const std::function<void()>& between = {}) {
    write_file(input(), {reinterpret_cast<const char*>(file.data()), file.size()});
    PackOptions options;
    options.inputs = {input()};
    options.output = (folder_.path() / "kept.nmb").string();
    options.block_name = "{group}";
    options.writer.sync = false;
    options.writer.overwrite = true;
    if (between)
      options.provenance = [&between](const std::vector<PackSource>&) {
        between();
        return std::vector<std::string>();
      };
    PackReport report;
    const Status status = nmb::pack(options, &report);
    return report.unreadable.empty() ? status : report.unreadable.front();
  }
  std::string input() const { return (folder_.path() / "in.nmb").string(); }
  void expect_kept(const Model& expected) {
    auto reader = FileReader::open((folder_.path() / "kept.nmb").string());
    ASSERT_TRUE(reader.ok()) << reader.status().text();
    EXPECT_EQ(difference(expected, **reader), "");
  }
};

TEST_F(KeptFileTest, AGenerationThatMayHaveBeenCommittedIsNotLeftOut) {
  std::vector<std::byte> file = image();
  std::copy_n(image(8).begin(), kBodyStart, file.begin());
  const std::uint64_t trailer = file.size() - kSlotUnit;
  for (const std::size_t behind : {0u, 5000u}) {
    file.resize(file.size() + behind, std::byte{0xA5});
    const Status refused = pack(file);
    EXPECT_EQ(refused.code(), Code::kDamaged) << refused.text();
    EXPECT_EQ(refused.rule(), "R-SB-13") << refused.text();
    EXPECT_EQ(refused.offset(), trailer);
    EXPECT_NE(refused.message().find("nmcat --append"), std::string::npos) << refused.text();
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept.nmb"));
  }
  // One that is not sound was never acknowledged, or is lost all the same.
  file[image(8).size() + 100] ^= std::byte{1};
  ASSERT_TRUE(pack(file).ok());
  expect_kept(model(8));
}

TEST_F(KeptFileTest, AWriterAtWorkHindersNobody) {
  // As it is while a writer has written its trailer and not its slot.
  std::vector<std::byte> file = image();
  std::copy_n(image(8).begin(), kBodyStart, file.begin());
  write_file(input(), {reinterpret_cast<const char*>(file.data()), file.size()});
  const int writer = ::open(input().c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock = writer_lock();
  ASSERT_EQ(::fcntl(writer, F_OFD_SETLK, &lock), 0);
  auto reader = FileReader::open(input());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->generation(), 8u);
  EXPECT_TRUE(check_nothing_pending(**reader).ok());
  ::close(writer);
  EXPECT_EQ(check_nothing_pending(**reader).rule(), "R-SB-13");
}

TEST_F(KeptFileTest, AGenerationThatIsAddedMeanwhileHindersNobody) {
  Model after = model();
  const Status kept = pack(image(), [&] {
    ASSERT_TRUE(write_session(input(), false, 5, SessionKind::kAll, fault_options(), &after).ok());
    ASSERT_TRUE(write_session(input(), false, 6, SessionKind::kAll, fault_options(), &after).ok());
  });
  ASSERT_TRUE(kept.ok()) << kept.text();
  expect_kept(model());
  // Another file, with as many bytes and of the same time, is a change.
  const Status replaced = pack(image(), [&] {
    const auto time = std::filesystem::last_write_time(input());
    std::vector<std::byte> other = image();
    std::memset(&other[kFirstSlot], 0, 2 * kSlotUnit);
    std::memset(&other[other.size() - kSlotUnit], 0, kSlotUnit);
    write_file(input(), {reinterpret_cast<const char*>(other.data()), other.size()});
    std::filesystem::last_write_time(input(), time);
  });
  EXPECT_EQ(replaced.code(), Code::kDamaged) << replaced.text();
  EXPECT_NE(replaced.message().find("the file changed while it was read"), std::string::npos);
}

// A writer reports its repairs, by sentences in this order.
class RepairsTest : public DamagedHeadTest {
 protected:
  std::vector<std::string> repairs(const std::vector<std::byte>& file) {
    const auto path = folder_.path() / "f.nmb";
    write_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
    std::vector<std::string> told;
    FileWriterOptions options = fault_options();
    options.on_repair = [&told](const std::string& what) { told.push_back(what); };
    const auto writer = FileWriter::open(path.string(), options);
    EXPECT_TRUE(writer.ok()) << writer.status().text();
    return told;
  }
};

TEST_F(RepairsTest, OfASoundFileThereAreNone) {
  EXPECT_EQ(repairs(image()), std::vector<std::string>());
}

TEST_F(RepairsTest, AGenerationIsTakenOver) {
  std::vector<std::byte> file = image();
  std::copy_n(image(8).begin(), kBodyStart, file.begin());
  const std::string at = std::to_string(file.size() - kSlotUnit);
  EXPECT_EQ(repairs(file),
            (std::vector<std::string>{
                "generation 9 (superblock at " + at +
                    ") was complete but not committed; it is sound and was accepted",
                "the head did not match generation 9: restored the slot at 4096, the mark"}));
  file[image(8).size() + 100] ^= std::byte{1};
  const std::string behind = std::to_string(file.size() - image(8).size());
  EXPECT_EQ(repairs(file),
            (std::vector<std::string>{
                "generation 9 (superblock at " + at +
                    ") was complete but not committed; it is not sound and was not "
                    "accepted",
                behind + " bytes after generation 8 belong to no generation and stay as an "
                         "abandoned range; nmconvert --repack removes them"}));
}

TEST_F(RepairsTest, PlacesOfTheHeadAreNamed) {
  std::vector<std::byte> file = image();
  const std::uint64_t trailer = file.size() - kSlotUnit;
  // Identity, mark and newest slot are lost: the previous slot identifies the file.
  std::memset(file.data(), 0xFF, kFirstSlot + kSlotUnit);
  const std::vector<std::string> told = repairs(file);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0], "slots and mark are damaged; continues from generation 9 (superblock at " +
                         std::to_string(trailer) + "), which is sound");
  EXPECT_EQ(told[1],
            "the head did not match generation 9: restored the slot at 4096, the cover, the mark, "
            "the identity, the guard and the zeros of the head");
  file = image();
  std::memset(&file[trailer], 0, kSlotUnit);
  EXPECT_EQ(repairs(file), std::vector<std::string>{
                               "the head did not match generation 9: restored the trailer at " +
                               std::to_string(trailer)});
}

// Mark, slot and trailer of the newest generation: more than what is promised.
TEST_F(RepairsTest, AGenerationThatMayBeLostIsTold) {
  std::vector<std::byte> file = image();
  std::memset(&file[kMarkPosition], 0, kMarkSize);
  std::memset(&file[kFirstSlot], 0xFF, kSlotUnit);
  std::memset(&file[file.size() - kSlotUnit], 0, kSlotUnit);
  const std::vector<std::string> told = repairs(file);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0], std::to_string(file.size() - image(8).size()) +
                         " bytes after generation 8; a slot or the mark is damaged, so a "
                         "later generation may be lost, but none was found; the bytes stay as an "
                         "abandoned range");
  const auto reader = FileReader::open(std::make_shared<MemorySource>(file, "image"));
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(std::ranges::any_of((*reader)->warnings(), [](const Finding& warning) {
    return warning.rule == "R-SB-13" && warning.found.find("may be lost") != std::string::npos;
  }));
}

// A slot and an older mark, with bytes behind that do not end in the trailer.
TEST_F(DamagedHeadTest, AReaderSearchesAllThatLiesBehindADamagedSlot) {
  for (const int lost : {0, 0xFF}) {
    std::vector<std::byte> file = image();
    const std::uint64_t trailer = file.size() - kSlotUnit;
    std::copy_n(image(8).begin(), kFirstSlot, file.begin());
    std::memset(&file[kFirstSlot], lost, kSlotUnit);
    file.insert(file.end(), file.end() - kSlotUnit, file.end());
    const auto reader = FileReader::open(std::make_shared<MemorySource>(file, "image"));
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ((*reader)->generation(), 8u);
    EXPECT_TRUE(std::ranges::any_of((*reader)->warnings(), [&](const Finding& warning) {
      return warning.rule == "R-SB-13" && warning.offset == trailer;
    }));
  }
}

// If several superblocks follow a lost slot, the last one that leads back to the other slot counts.
TEST_F(DamagedHeadTest, ASlotAndTheMarkMayBeLost) {
  std::vector<std::byte> file = image();
  std::memset(&file[kMarkPosition], 0xFF, kMarkSize);
  std::memset(&file[kFirstSlot], 0xFF, kSlotUnit);
  EXPECT_EQ(opened(file, model()), kGenerations);
  ASSERT_NO_FATAL_FAILURE(append(file, kGenerations, model()));
  std::memset(&file[kFirstSlot], 0xFF, 2 * kSlotUnit);
  EXPECT_EQ(opened(file, model()), kGenerations);
  ASSERT_NO_FATAL_FAILURE(append(file, kGenerations, model()));
  // Damage of this generation is no reason to choose an older one.
  file[image(8).size() + 100] ^= std::byte{1};
  write_file(folder_.path() / "f.nmb", {reinterpret_cast<const char*>(file.data()), file.size()});
  EXPECT_EQ(FileWriter::open((folder_.path() / "f.nmb").string(), fault_options()).status().rule(),
            "R-SB-13");
  EXPECT_TRUE(read_file(folder_.path() / "f.nmb") == file);
}

TEST_F(DamagedHeadTest, AReaderSaysThatTheGuardIsDamaged) {
  std::vector<std::byte> file = image();
  std::memset(&file[kGuardPosition], 0, 512);
  FindingList warnings;
  EXPECT_EQ(opened(file, model(), &warnings), kGenerations);
  EXPECT_TRUE(warnings.has(Severity::kWarning, "R-FL-6", kGuardPosition)) << warnings.text();
}

// Two files with the same definitions have the same file id: of a copy of one over the other that
// ended in the head, nothing is written over.
TEST_F(DamagedHeadTest, AnotherTrailerStaysWhereTheGenerationIsNotSound) {
  const auto path = folder_.path() / "f.nmb";
  auto member = [&](double value) {
    auto writer = FileWriter::create(path.string(), fault_options());
    const BlockId block = (*writer)->define_block("b").value();
    const DimId x = (*writer)->def_dim(block, "x", 9000).value();
    const VarId v = (*writer)->def_var(block, "v", Type::kDouble, {{x}}).value();
    EXPECT_TRUE((*writer)->end_define().ok());
    const std::vector<double> values(9000, value);
    EXPECT_TRUE((*writer)->put(block, v, std::span<const double>(values)).ok());
    EXPECT_TRUE((*writer)->close().ok());
    std::vector<std::byte> bytes = read_file(path);
    std::filesystem::remove(path);
    return bytes;
  };
  std::vector<std::byte> file = member(1);
  const std::vector<std::byte> other = member(2);
  ASSERT_EQ(file.size(), other.size());
  std::memcpy(file.data(), other.data(), 2 * kSlotUnit);
  write_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
  const Status refused = FileWriter::open(path.string(), fault_options()).status();
  EXPECT_EQ(refused.rule(), "R-SB-2") << refused.text();
  EXPECT_TRUE(read_file(path) == file);
  // All but the trailer: it is restored.
  file = other;
  std::memcpy(&file[file.size() - kSlotUnit], &member(1)[file.size() - kSlotUnit], kSlotUnit);
  write_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
  EXPECT_TRUE(FileWriter::open(path.string(), fault_options()).ok());
  EXPECT_TRUE(read_file(path) == other);
}

TEST_F(DamagedHeadTest, AWriterThatIsGivenUpLeavesWhatItFound) {
  std::vector<std::byte> file = image();
  file.resize(file.size() + 5003, std::byte{0xA5});
  const auto path = folder_.path() / "f.nmb";
  write_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
  {
    auto writer = FileWriter::open(path.string(), fault_options());
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    const auto block = (*writer)->define_block("another");
    ASSERT_TRUE(block.ok());
    ASSERT_TRUE((*writer)->end_define().ok());
  }
  EXPECT_TRUE(read_file(path) == file);
}

TEST_F(DamagedHeadTest, ACommitWaitsForDataThenSlotThenMark) {
  const auto path = folder_.path() / "f.nmb";
  write_file(path, {reinterpret_cast<const char*>(image().data()), image().size()});
  std::vector<OutputCall> calls;
  Model after = model();
  ASSERT_TRUE(
      write_session(path, false, 5, SessionKind::kGrowth, fault_options(recording(calls)), &after)
          .ok());
  std::vector<std::uint64_t> order;  // ~0: a wait
  for (const OutputCall& call : calls)
    if (call.what == OutputCall::What::kSync)
      order.push_back(~std::uint64_t{0});
    else if (call.what == OutputCall::What::kWrite)
      order.push_back(call.offset);
  const std::uint64_t trailer = read_file(path).size() - kSlotUnit;
  ASSERT_GE(order.size(), 6u);
  const std::vector<std::uint64_t> last(order.end() - 6, order.end());
  EXPECT_EQ(last, (std::vector<std::uint64_t>{trailer, ~std::uint64_t{0}, kFirstSlot + kSlotUnit,
                                              ~std::uint64_t{0}, 0, ~std::uint64_t{0}}));
  EXPECT_EQ(calls[calls.size() - 2].bytes.size(), 320u);
}

}  // namespace
}  // namespace nmb::test
