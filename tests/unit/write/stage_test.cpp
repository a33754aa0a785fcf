// Values that wait for places, in memory and in a temporary file, against a model in memory.
#include "origins/stage.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "files/dry_output.h"
#include "origins/extent_state.h"
#include "support/corpus.h"

namespace nmb::test {
namespace {

std::vector<std::byte> random_bytes(std::mt19937_64& random, std::uint64_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = random();
    for (std::size_t k = i; k < std::min(i + 8, bytes.size()); ++k)
      bytes[k] = static_cast<std::byte>(word >> 8 * (k - i));
  }
  return bytes;
}

TEST(Stage, ReturnsWhatWasAppendedAndReplaced) {
  const TemporaryFolder folder;
  Stage stage(folder.path().string());
  std::mt19937_64 random(1);
  std::vector<std::byte> model;
  while (model.size() < 3 * Stage::kInMemory) {
    const std::uint64_t length = random() % 4 == 0   ? random() % (Stage::kInMemory / 3)
                                 : random() % 9 == 0 ? Stage::kInMemory + random() % 1000
                                                     : random() % 5000;
    const std::vector<std::byte> bytes = random_bytes(random, length);
    ASSERT_TRUE(stage.append(bytes).ok());
    model.insert(model.end(), bytes.begin(), bytes.end());
    ASSERT_EQ(stage.size(), model.size());
    const std::uint64_t at = random() % (model.size() + 1);
    const std::vector<std::byte> other =
        random_bytes(random, random() % (std::min<std::uint64_t>(model.size() - at, 100'000) + 1));
    ASSERT_TRUE(stage.replace(at, other).ok());
    std::ranges::copy(other, model.begin() + static_cast<std::ptrdiff_t>(at));
    const std::uint64_t from = random() % (model.size() + 1);
    std::vector<std::byte> found(random() % (model.size() - from + 1));
    ASSERT_TRUE(stage.read(from, found).ok());
    ASSERT_TRUE(
        std::equal(found.begin(), found.end(), model.begin() + static_cast<std::ptrdiff_t>(from)));
  }
  std::size_t names = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++names;
  EXPECT_EQ(names, 0U) << "the temporary file has no name";
  stage.clear();
  EXPECT_EQ(stage.size(), 0U);
}

// An extent without space in the file: all values wait. Each byte is in the stage once.
TEST(Stage, RunsOfAnExtentNeitherOverlapNorRepeat) {
  std::mt19937_64 random(2);
  DryOutput file("none");  // nothing is written to it
  WriteBuffer buffer(file);
  for (int round = 0; round < 200; ++round) {
    ExtentState extent(65536, [](auto, auto, const auto&) { return Status(); });
    extent.start_committed(0);
    extent.add_unwritten(1000);
    Stage stage;
    std::map<std::uint64_t, std::byte> model;
    for (int call = 0; call < 12; ++call) {
      const std::uint64_t from = random() % 900;
      const std::vector<std::byte> bytes = random_bytes(random, 1 + random() % 100);
      ASSERT_TRUE(extent.write(from, bytes, buffer, stage).ok());
      for (std::uint64_t i = 0; i < bytes.size(); ++i) model[from + i] = bytes[i];
    }
    EXPECT_EQ(stage.size(), model.size());
    std::uint64_t waiting = 0;
    for (const Interval& part : extent.staged()) waiting += part.end - part.begin;
    EXPECT_EQ(waiting, model.size());
    std::uint64_t end = 0;
    for (const ExtentState::Staged& run : extent.take_staged({})) {
      EXPECT_GE(run.offset, end);
      end = run.offset + run.length;
      std::vector<std::byte> found(run.length);
      ASSERT_TRUE(stage.read(run.place, found).ok());
      for (std::uint64_t i = 0; i < run.length; ++i) EXPECT_EQ(found[i], model.at(run.offset + i));
    }
  }
}

}  // namespace
}  // namespace nmb::test
