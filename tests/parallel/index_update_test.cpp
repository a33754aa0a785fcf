// An index that changes is the same whatever rank has what slice of the changes, and has what a
// model has.
#include "index/index_update.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "index/entry_codec.h"
#include "index/index_build.h"
#include "parallel/communicator.h"
#include "wire/hash.h"

namespace nmb {
namespace {

using EntryModel = std::map<std::string, BlockEntry>;
using ChangeList = std::vector<std::pair<std::string, std::optional<BlockEntry>>>;

class ChangeSlice final : public IndexChanges {
 public:
  explicit ChangeSlice(std::span<const ChangeList::value_type> changes) : changes_(changes) {}
  std::size_t count() const override { return changes_.size(); }
  std::string_view name(std::size_t i) const override { return changes_[i].first; }
  std::optional<BlockEntry> entry(std::size_t i) const override { return changes_[i].second; }

 private:
  std::span<const ChangeList::value_type> changes_;
};

// Keeps the numbers of dead pages; ranks share it.
class DeadList final : public DeadPages {
 public:
  void replaced(const Page& page) override { add(page.position(), page.bytes().size()); }
  void dropped(const Place& place) override { add(place.position, place.length); }
  std::multiset<std::pair<std::uint64_t, std::uint64_t>> places;

 private:
  void add(std::uint64_t position, std::uint64_t length) {
    const std::lock_guard lock(mutex_);
    places.emplace(position, length);
  }
  std::mutex mutex_;
};

constexpr std::size_t kHead = 40960;

// A file that has an index alone.
struct IndexFile {
  std::vector<std::byte> bytes = std::vector<std::byte>(kHead);
  Superblock superblock;
  void take(const BuiltIndex& built) {
    superblock.root_position = built.root.position;
    superblock.root_length = built.root.length;
    superblock.height = built.root.height;
    superblock.root_digest = built.root.digest;
    superblock.totals = built.root.totals;
    superblock.needs = built.root.needs;
    superblock.file_length = built.end;
  }
};

std::size_t slice_begin(const std::vector<std::size_t>& cuts, std::size_t rank) {
  return rank == 0 ? 0 : cuts[rank - 1];
}

struct Updated {
  IndexFile file;
  std::multiset<std::pair<std::uint64_t, std::uint64_t>> dead;
  Status status;
};

// cuts: where each rank's slice ends.
Updated change_index(const IndexFile& before, const ChangeList& changes,
                     const std::vector<std::size_t>& cuts, std::uint64_t few_pages = kFewPages) {
  Updated out{before, {}, {}};
  out.file.superblock.generation += 1;
  DeadList dead;
  std::mutex mutex;
  BuiltIndex built;
  out.status = run_thread_ranks(static_cast<int>(cuts.size()), [&](Communicator& ranks) -> Status {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const std::size_t from = slice_begin(cuts, rank);
    const ChangeSlice slice{std::span(changes).subspan(from, cuts[rank] - from)};
    const MemorySource source(before.bytes, "index");
    const IndexTree old(source, before.superblock);
    const WritePages write = [&](std::uint64_t position, std::span<const std::byte> bytes) {
      if (!bytes.empty()) {
        const std::lock_guard lock(mutex);
        if (out.file.bytes.size() < position + bytes.size())
          out.file.bytes.resize(position + bytes.size());
        std::ranges::copy(bytes, out.file.bytes.begin() + static_cast<std::ptrdiff_t>(position));
      }
      return ranks.agree({});
    };
    const Origin origin = out.file.superblock.origin();
    Result<BuiltIndex> result =
        before.superblock.height == 0
            ? build_index(ranks, slice, {before.superblock.leaf_rows, before.superblock.node_rows},
                          before.bytes.size(), write, origin)
            : update_index(ranks, old, slice, before.bytes.size(), write, dead, origin, few_pages);
    NMB_TRY(result.status());
    const std::lock_guard lock(mutex);
    built = *result;
    return {};
  });
  if (!out.status.ok()) return out;
  EXPECT_EQ(built.end, out.file.bytes.size());
  out.file.take(built);
  out.dead = std::move(dead.places);
  return out;
}

void expect_model(const IndexFile& file, const EntryModel& model) {
  EXPECT_EQ(file.superblock.totals.blocks, model.size());
  const MemorySource source(file.bytes, "index");
  const IndexTree tree(source, file.superblock);
  auto expected = model.begin();
  Totals totals;
  const Status status = tree.for_each({}, [&](const BlockEntry& entry) -> Result<bool> {
    if (expected == model.end()) return Status(Code::kUsage, "more entries");
    EXPECT_EQ(entry.name, expected->first);
    EXPECT_EQ(entry.position, expected->second.position);
    totals += entry.totals();
    ++expected;
    return true;
  });
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_TRUE(expected == model.end());
  EXPECT_EQ(totals, file.superblock.totals);
  for (const auto& [name, entry] : model) {
    const auto found = tree.find(name);
    ASSERT_TRUE(found.ok() && *found) << name;
    EXPECT_EQ((*found)->samples, entry.samples);
  }
}

std::vector<std::size_t> random_cuts(std::mt19937& random, std::size_t count, std::size_t ranks) {
  std::vector<std::size_t> cuts(ranks, count);
  for (std::size_t r = 0; r + 1 < ranks; ++r) cuts[r] = random() % (count + 1);
  std::ranges::sort(cuts);
  return cuts;
}

// About so many changes: new names, in one place or all over, names that go and entries that
// change.
ChangeList random_changes(std::mt19937& random, const EntryModel& model, std::size_t count) {
  std::map<std::string, std::optional<BlockEntry>> changes;
  auto entry_of = [&](const std::string& name) {
    BlockEntry entry;
    entry.name = name;
    entry.position = random();
    entry.variables = random() % 5;
    entry.samples = random();
    entry.needs = random() % 4;
    return entry;
  };
  const std::size_t kind = random() % 5;
  const std::string place = std::to_string(random() % 1000);
  for (std::size_t i = 0; i < count; ++i) {
    const bool adds = kind == 0 || (kind != 1 && random() % 2 == 0) || model.empty();
    std::string name = kind == 0
                           ? place + "/" + std::to_string(i)
                           : std::to_string(random() % 1000) + "/" + std::to_string(random() % 7);
    if (!adds) {
      auto at = model.lower_bound(name);
      if (at == model.end()) at = model.begin();
      name = at->first;
    }
    if (!adds && (kind == 1 || random() % 3 == 0))
      changes[name] = std::nullopt;
    else
      changes[name] = entry_of(name);
  }
  if (kind == 4 && random() % 4 == 0)  // all but a few go
    for (const auto& [name, entry] : model)
      if (random() % 64 != 0) changes[name] = std::nullopt;
  return {changes.begin(), changes.end()};
}

void apply_changes(const ChangeList& changes, EntryModel* model) {
  for (const auto& [name, entry] : changes) {
    if (entry)
      (*model)[name] = *entry;
    else
      model->erase(name);
  }
}

struct UpdateCase {
  std::uint32_t leaf_rows, node_rows;
  std::size_t changes, generations;
};

class IndexUpdate : public testing::TestWithParam<UpdateCase> {};

TEST_P(IndexUpdate, WhateverTheSlices) {
  const UpdateCase& one = GetParam();
  std::mt19937 random(one.leaf_rows * 1000 + one.node_rows);
  IndexFile file;
  file.superblock.file_id = {1, 2};
  file.superblock.leaf_rows = one.leaf_rows;
  file.superblock.node_rows = one.node_rows;
  EntryModel model;
  for (std::size_t g = 0; g < one.generations; ++g) {
    const ChangeList changes =
        random_changes(random, model, g % 4 == 3 ? 5 : random() % (2 * one.changes));
    // A new index has no names that go.
    if (model.empty() && std::ranges::any_of(changes, [](auto& c) { return !c.second; })) continue;
    apply_changes(changes, &model);
    const Updated alone = change_index(file, changes, {changes.size()});
    ASSERT_TRUE(alone.status.ok()) << alone.status.text();
    expect_model(alone.file, model);
    for (const std::size_t ranks : std::initializer_list<std::size_t>{2, 3, 5, 8, 33}) {
      const Updated several =
          change_index(file, changes, random_cuts(random, changes.size(), ranks),
                       std::array<std::uint64_t, 3>{4, 60, kFewPages}[random() % 3]);
      ASSERT_TRUE(several.status.ok()) << several.status.text();
      ASSERT_TRUE(several.file.bytes == alone.file.bytes)
          << ranks << " ranks, generation " << g + 1;
      EXPECT_EQ(several.file.superblock.root_position, alone.file.superblock.root_position);
      EXPECT_EQ(several.file.superblock.root_digest, alone.file.superblock.root_digest);
      EXPECT_EQ(several.file.superblock.height, alone.file.superblock.height);
      EXPECT_EQ(several.file.superblock.totals, alone.file.superblock.totals);
      EXPECT_EQ(several.file.superblock.needs, alone.file.superblock.needs);
      EXPECT_EQ(several.dead, alone.dead);
    }
    file = alone.file;
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, IndexUpdate,
                         testing::Values(UpdateCase{1, 5, 60, 24}, UpdateCase{2, 6, 150, 24},
                                         UpdateCase{2, 4, 1200, 6}, UpdateCase{3, 4, 400, 16},
                                         UpdateCase{8, 3, 800, 8}, UpdateCase{64, 128, 3000, 8}));

// Names that all belong below one old leaf are work of all ranks.
TEST(IndexUpdate, OneLeafOfSeveralRanksKeepsWhatLaterVersionsAdd) {
  IndexFile file;
  file.superblock.file_id = {1, 2};
  file.superblock.generation = 1;
  PageBuilder leaf(PageUse::kIndex, 0);
  EntryModel model;
  constexpr std::uint16_t kLaterColumn = 300;
  for (int i = 100; i < 150; ++i) {
    BlockEntry& entry = model[std::to_string(i)];
    entry.name = std::to_string(i);
    entry.position = static_cast<std::uint64_t>(i);
    add_entry(leaf, entry);
    leaf.keep(std::vector<UnknownValue>{{kLaterColumn, false, {static_cast<std::uint64_t>(i), 0}}});
  }
  const auto page = leaf.encode(file.superblock.origin(), kHead);
  ASSERT_TRUE(page.ok());
  file.bytes.insert(file.bytes.end(), page->bytes.begin(), page->bytes.end());
  BuiltIndex built;
  built.root = {
      kHead, static_cast<std::uint32_t>(page->bytes.size()), 1, digest_of(page->bytes), {}, 0};
  built.end = file.bytes.size();
  file.take(built);
  ChangeList changes;
  for (int i = 105; i < 145; ++i) {
    if (i % 4 == 0) {
      changes.push_back({std::to_string(i), std::nullopt});
      continue;
    }
    for (int k = 0; k < 5; ++k) {
      BlockEntry entry;
      entry.name = std::to_string(i) + "/" + std::to_string(k);
      entry.position = 1;
      changes.push_back({entry.name, entry});
    }
  }
  apply_changes(changes, &model);
  const Updated alone = change_index(file, changes, {changes.size()});
  ASSERT_TRUE(alone.status.ok()) << alone.status.text();
  expect_model(alone.file, model);
  std::mt19937 random(3);
  for (unsigned i = 0; i < 40; ++i) {
    const Updated several =
        change_index(file, changes, random_cuts(random, changes.size(), 5), 1 + i % 2 * 500);
    ASSERT_TRUE(several.status.ok()) << several.status.text();
    ASSERT_TRUE(several.file.bytes == alone.file.bytes);
    EXPECT_EQ(several.dead, alone.dead);
  }
  const MemorySource source(alone.file.bytes, "index");
  const IndexTree tree(source, alone.file.superblock);
  const auto root = tree.root();
  ASSERT_TRUE(root.ok());
  std::size_t kept = 0;
  for (std::uint32_t child = 0; child < (*root)->rows(); ++child) {
    const auto below = tree.child(**root, child);
    ASSERT_TRUE(below.ok());
    for (std::uint32_t row = 0; row < (*below)->rows(); ++row) {
      for (const UnknownValue& value : (*below)->unknown_values(row)) {
        EXPECT_EQ(value.value.low, (*below)->value(row, kPosition));
        ++kept;
      }
    }
  }
  EXPECT_EQ(kept, 40u);  // of 50 entries, 10 went
}

TEST(IndexUpdate, ADamagedPageIsTheSameErrorOnAllRanks) {
  std::mt19937 random(5);
  IndexFile file;
  file.superblock.file_id = {1, 2};
  file.superblock.leaf_rows = file.superblock.node_rows = 4;
  ChangeList changes;
  for (int i = 1000; i < 1400; ++i) {
    BlockEntry entry;
    entry.name = std::to_string(i);
    changes.push_back({entry.name, entry});
  }
  file = change_index(file, changes, {changes.size()}).file;
  for (unsigned i = 0; i < 30; ++i) {
    IndexFile damaged = file;
    damaged.bytes[kHead + random() % (file.bytes.size() - kHead)] ^= std::byte{1};
    const Status alone = change_index(damaged, changes, {changes.size()}).status;
    EXPECT_EQ(alone.code(), Code::kDamaged);
    const Status several =
        change_index(damaged, changes, random_cuts(random, changes.size(), 5), 1 + i % 2 * 500)
            .status;
    EXPECT_EQ(several.code(), alone.code());
    EXPECT_EQ(several.rule(), alone.rule());
    EXPECT_EQ(several.offset(), alone.offset());
  }
}

}  // namespace
}  // namespace nmb
