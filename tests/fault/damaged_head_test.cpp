// Heads that lost one unit or two, and files with bytes behind their newest generation: what
// readers take, what nmverify tells, and what a writer makes of them (spec/format.md, sections 5.3
// and 5.4).
#include <gtest/gtest.h>

#include <cstring>

#include "fault/session_file.h"
#include "nmb/verify.h"
#include "superblock/head.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/programs.h"
#include "support/vectors.h"

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

  // What a reader takes; what it says of it goes to `warnings`.
  static std::uint64_t opened(const std::vector<std::byte>& file, const Model& expected,
                              FindingList* warnings = nullptr) {
    auto reader = Reader::open(std::make_shared<MemorySource>(file, "file"));
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
  const auto reader = Reader::open(std::make_shared<MemorySource>(file, "file"));
  EXPECT_EQ(reader.status().rule(), "R-SB-13");
  EXPECT_EQ(reader.status().offset(), image().size() - kSlotUnit);
  EXPECT_TRUE(findings_in(file).has(Severity::kFinding, "R-SB-13", image().size() - kSlotUnit));
  write_file(folder_.path() / "f.nmb", {reinterpret_cast<const char*>(file.data()), file.size()});
  EXPECT_EQ(Writer::open((folder_.path() / "f.nmb").string(), fault_options()).status().rule(),
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
  EXPECT_TRUE(findings_in(file).has(Severity::kFinding, "R-SB-13", trailer));
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

// Of several superblocks behind a lost slot the last one that leads back to the other slot counts.
TEST_F(DamagedHeadTest, ASlotAndTheMarkMayBeLost) {
  std::vector<std::byte> file = image();
  std::memset(&file[kMarkPosition], 0xFF, kMarkSize);
  std::memset(&file[kFirstSlot], 0xFF, kSlotUnit);
  EXPECT_EQ(opened(file, model()), kGenerations);
  ASSERT_NO_FATAL_FAILURE(append(file, kGenerations, model()));
  std::memset(&file[kFirstSlot], 0xFF, 2 * kSlotUnit);
  EXPECT_EQ(opened(file, model()), kGenerations);
  ASSERT_NO_FATAL_FAILURE(append(file, kGenerations, model()));
  // What is not sound then is no reason to go back to an older one.
  file[image(8).size() + 100] ^= std::byte{1};
  write_file(folder_.path() / "f.nmb", {reinterpret_cast<const char*>(file.data()), file.size()});
  EXPECT_EQ(Writer::open((folder_.path() / "f.nmb").string(), fault_options()).status().rule(),
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
    auto writer = Writer::create(path.string(), fault_options());
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
  const Status refused = Writer::open(path.string(), fault_options()).status();
  EXPECT_EQ(refused.rule(), "R-SB-2") << refused.text();
  EXPECT_TRUE(read_file(path) == file);
  // All but the trailer: it is restored.
  file = other;
  std::memcpy(&file[file.size() - kSlotUnit], &member(1)[file.size() - kSlotUnit], kSlotUnit);
  write_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
  EXPECT_TRUE(Writer::open(path.string(), fault_options()).ok());
  EXPECT_TRUE(read_file(path) == other);
}

TEST_F(DamagedHeadTest, AWriterThatIsGivenUpLeavesWhatItFound) {
  std::vector<std::byte> file = image();
  file.resize(file.size() + 5003, std::byte{0xA5});
  const auto path = folder_.path() / "f.nmb";
  write_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
  {
    auto writer = Writer::open(path.string(), fault_options());
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
