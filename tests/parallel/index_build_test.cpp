// The index of a new file is the same whatever rank has what slice of it.
#include "index/index_build.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <random>

#include "parallel/communicator.h"

namespace nmb {
namespace {

class Slice final : public IndexChanges {
 public:
  explicit Slice(std::span<const BlockEntry> entries) : entries_(entries) {}
  std::size_t count() const override { return entries_.size(); }
  std::string_view name(std::size_t i) const override { return entries_[i].name; }
  std::optional<BlockEntry> entry(std::size_t i) const override { return entries_[i]; }

 private:
  std::span<const BlockEntry> entries_;
};

std::vector<BlockEntry> some_entries(std::size_t count) {
  std::vector<BlockEntry> entries(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string digits = std::to_string(i);
    entries[i].name = "run/" + std::string(8 - digits.size(), '0') + digits;
    entries[i].position = 16384 + i * 1000;
    entries[i].variables = i % 7;
    entries[i].samples = i;
    entries[i].sum = i * 0x9e3779b97f4a7c15;
  }
  return entries;
}

struct Built {
  std::map<std::uint64_t, std::vector<std::byte>> parts;  // by position
  BuiltIndex index;
};

// cuts: where each rank's slice ends.
Built build(const std::vector<BlockEntry>& entries, const std::vector<std::size_t>& cuts,
            std::uint64_t few_pages = kFewPages) {
  Built built;
  std::mutex mutex;
  const Status status =
      run_thread_ranks(static_cast<int>(cuts.size()), [&](Communicator& ranks) -> Status {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const std::size_t from = rank == 0 ? 0 : cuts[rank - 1];
        const Slice slice{std::span(entries).subspan(from, cuts[rank] - from)};
        auto write = [&](std::uint64_t position, std::span<const std::byte> bytes) -> Status {
          if (bytes.empty()) return {};
          std::lock_guard lock(mutex);
          built.parts[position].assign(bytes.begin(), bytes.end());
          return {};
        };
        NMB_ASSIGN(const BuiltIndex index,
                   build_index(ranks, slice, {}, 40960, write, {{1, 2}, 3, 0}, few_pages));
        std::lock_guard lock(mutex);
        built.index = index;
        return {};
      });
  EXPECT_TRUE(status.ok()) << status.text();
  return built;
}

// The pages of all parts, which must follow one another.
std::vector<std::byte> pages(const Built& built) {
  std::vector<std::byte> all;
  for (const auto& [position, bytes] : built.parts) {
    EXPECT_EQ(position, 40960 + all.size());
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(built.index.end, 40960 + all.size());
  return all;
}

void expect_equal(const Built& a, const Built& b) {
  EXPECT_EQ(pages(a) == pages(b), true);
  EXPECT_EQ(a.index.root.position, b.index.root.position);
  EXPECT_EQ(a.index.root.height, b.index.root.height);
  EXPECT_EQ(a.index.root.digest, b.index.root.digest);
  EXPECT_EQ(a.index.root.totals, b.index.root.totals);
}

TEST(IndexBuild, WhateverTheSlices) {
  std::mt19937 random(7);
  for (std::size_t count :
       std::initializer_list<std::size_t>{0, 1, 63, 64, 65, 200, 8192, 8193, 20000, 70000}) {
    const std::vector<BlockEntry> entries = some_entries(count);
    const Built alone = build(entries, {count});
    EXPECT_EQ(alone.index.root.totals.blocks, count);
    for (std::size_t ranks : std::initializer_list<std::size_t>{2, 3, 5, 8}) {
      // Some slices are empty, some of one entry.
      std::vector<std::size_t> cuts;
      for (std::size_t r = 0; r + 1 < ranks; ++r) {
        const std::size_t last = cuts.empty() ? 0 : cuts.back();
        cuts.push_back(random() % 3 == 0 ? last : std::min(count, last + random() % (count + 1)));
      }
      cuts.push_back(count);
      expect_equal(build(entries, cuts), alone);
      expect_equal(build(entries, cuts, 1), alone);
      expect_equal(build(entries, std::vector<std::size_t>(ranks, count)), alone);
    }
  }
}

TEST(IndexBuild, AFailedWriteFailsAllRanks) {
  const std::vector<BlockEntry> entries = some_entries(1000);
  int failures = 0;
  std::mutex mutex;
  const Status status = run_thread_ranks(3, [&](Communicator& ranks) -> Status {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const Slice slice{std::span(entries).subspan(rank * 333, 333)};
    auto write = [&](std::uint64_t, std::span<const std::byte>) {
      return ranks.agree(rank == 1 ? Status(Code::kNoSpace, "no space") : Status());
    };
    const Status built = build_index(ranks, slice, {}, 40960, write, {{1, 2}, 3, 0}).status();
    std::lock_guard lock(mutex);
    failures += built.code() == Code::kNoSpace && built.message() == "no space (on rank 1)";
    return {};
  });
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(failures, 3);
}

}  // namespace
}  // namespace nmb
