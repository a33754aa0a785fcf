// A writer that is killed at any time (kill -9). NMB_KILL_ROUNDS: how often.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "fault/session_file.h"
#include "support/corpus.h"
#include "support/programs.h"
#include "support/sanitized.h"

namespace nmb::test {
namespace {

int rounds() {
  const char* text = std::getenv("NMB_KILL_ROUNDS");
  return text ? std::atoi(text) : 20 / static_cast<int>(kShare);
}

SessionKind kind_of_generation(std::uint64_t generation) {
  return kSessionKinds[generation % kSessionKindCount];
}

// Adds generations for ever, the first by creation.
[[noreturn]] void write_for_ever(const std::string& path, std::uint64_t seed) {
  Model model;
  for (std::uint64_t g = 1;; ++g)
    if (!write_session(path, g == 1, seed + g, kind_of_generation(g),
                       fault_options({}, view_of(seed + g)), &model)
             .ok())
      _exit(1);
}

TEST(Kill, WhatWasCommittedIsThere) {
  const TemporaryFolder folder, scratch;
  const auto path = folder.path() / "f.nmb", again = scratch.path() / "f.nmb";
  std::mt19937_64 random(std::random_device{}());
  std::uint64_t generations = 0;
  for (int round = 0; round < rounds(); ++round) {
    const std::uint64_t seed = 1000 * static_cast<std::uint64_t>(round);
    write_file(path, "an old target");
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(path, seed);
    usleep(static_cast<useconds_t>(random() % (round % 4 == 0 ? 10'000 : 200'000)));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
    // Only a kill between link and rename leaves the hidden name.
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      const std::string name = entry.path().filename();
      ASSERT_TRUE(name == "f.nmb" || name.front() == '.') << name;
      if (name != "f.nmb") std::filesystem::remove(entry.path());
    }
    if (std::filesystem::file_size(path) == 13) continue;
    std::uint64_t generation;
    {
      auto reader = FileReader::open(path.string());
      ASSERT_TRUE(reader.ok()) << reader.status().text();
      generation = (*reader)->generation();
    }
    Model model;
    const auto write_to = [&](std::uint64_t from, std::uint64_t to) {
      Status written;
      for (std::uint64_t g = from; g <= to && written.ok(); ++g)
        written = write_session(again, g == 1, seed + g, kind_of_generation(g),
                                fault_options({}, view_of(seed + g)), &model);
      return written;
    };
    ASSERT_TRUE(write_to(1, generation).ok());
    ASSERT_EQ(difference(model, path), "") << "seed " << seed << ", generation " << generation;
    ASSERT_EQ(findings_of(path, {"R-FL-2", "R-ID-5", "R-SB-1", "R-SB-3", "R-SB-12", "R-SB-13"}),
              "");
    const auto writer = FileWriter::open(path.string(), fault_options());
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    ASSERT_EQ(findings_of(path, {"R-FL-2"}), "");
    // A whole generation that was not committed is adopted.
    ASSERT_LE((*writer)->generation(), generation + 1);
    ASSERT_TRUE(write_to(generation + 1, (*writer)->generation()).ok());
    ASSERT_EQ(difference(model, path), "") << "generation " << (*writer)->generation();
    generations += generation;
  }
  if (rounds() >= 20) {
    EXPECT_GT(generations, 0u);
  }
}

}  // namespace
}  // namespace nmb::test
