// Which ranks use the output, on several machines: one of each writes metadata, and only ranks that
// write something open the file; the head is read by rank 0 alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "reader/file_reader.h"
#include "support/model.h"
#include "support/rank_program.h"
#include "support/ranks_on_nodes.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr int kUsers = 32;

// The operations of each rank on the file.
class OutputUse {
 public:
  struct Run {
    std::uint64_t begin, end;
  };

  FileWriterOptions noting(FileWriterOptions options, int rank) {
    options.layer = [this, rank](std::unique_ptr<OutputFile> file) -> std::unique_ptr<OutputFile> {
      return std::make_unique<Layer>(std::move(file), *this, rank);
    };
    return options;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    written_.clear();
    read_.clear();
  }
  std::set<int> writers() const {
    std::set<int> out;
    for (const auto& [rank, runs] : written_) out.insert(rank);
    return out;
  }
  std::size_t writes() {
    const std::lock_guard lock(mutex_);
    std::size_t all = 0;
    for (const auto& [rank, runs] : written_) all += runs.size();
    return all;
  }
  std::set<int> users() const {
    std::set<int> out = writers();
    out.insert(read_.begin(), read_.end());
    return out;
  }
  const std::set<int>& readers() const { return read_; }
  // Ranks that wrote a byte in [from, to) outside `values`, which ascend.
  std::set<int> writers_but(const std::vector<Run>& values, std::uint64_t from,
                            std::uint64_t to) const {
    std::set<int> out;
    for (const auto& [rank, runs] : written_) {
      for (const Run& run : runs) {
        std::uint64_t at = std::max(run.begin, from);
        for (const Run& value : values)
          if (value.begin <= at) at = std::max(at, value.end);
        if (at < std::min(run.end, to)) out.insert(rank);
      }
    }
    return out;
  }

 private:
  class Layer final : public OutputFileLayer {
   public:
    Layer(std::unique_ptr<OutputFile> base, OutputUse& use, int rank)
        : OutputFileLayer(std::move(base)), use_(use), rank_(rank) {}
    Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
      {
        const std::lock_guard lock(use_.mutex_);
        use_.written_[rank_].push_back({offset, offset + bytes.size()});
      }
      return base_->write_at(offset, bytes);
    }
    Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
      note_read();
      return base_->read_at(offset, out);
    }
    Result<std::uint64_t> size() const override {
      note_read();
      return base_->size();
    }
    Status truncate(std::uint64_t length) override {
      note_read();
      return base_->truncate(length);
    }

   private:
    void note_read() const {
      const std::lock_guard lock(use_.mutex_);
      use_.read_.insert(rank_);
    }
    OutputUse& use_;
    const int rank_;
  };

  std::mutex mutex_;
  std::map<int, std::vector<Run>> written_;
  std::set<int> read_;  // or asked for the length, or changed it
};

std::size_t times_open(const std::string& path) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::equivalent(entry.path(), path, gone)) ++count;
  }
  return count;
}

// Of blocks whose values lie in one run.
Result<std::vector<OutputUse::Run>> runs_of_values(const std::string& path) {
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
  std::vector<OutputUse::Run> runs;
  NMB_TRY(reader->for_each_entry({}, [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.extent_position != 0)
      runs.push_back({entry.extent_position, entry.extent_position + entry.extent_length});
    return true;
  }));
  std::ranges::sort(runs, {}, &OutputUse::Run::begin);
  return runs;
}

bool puts_values(int rank) { return rank % 4 == 1; }

// Blocks of this rank, some with values, and a block that all ranks put to.
Status write_own(FileWriter& writer, Communicator& ranks, const std::string& step) {
  const std::string name = step + "/rank" + std::to_string(ranks.rank());
  Definer definer(writer);
  for (int i = 0; i < 40; ++i) {
    const BlockId block = definer.block(name + "/" + std::to_string(i));
    const DimId x = definer.dimension(block, "x", 500);
    if (i == 0) definer.variable(block, "v", Type::kInt, {{x}});
    definer.keep(writer.put_att_text(block, kGlobal, "title", std::string(200, 'x')));
  }
  const BlockId shared = definer.block("shared");
  const DimId x = definer.dimension(shared, "x", 8 * kUsers);
  definer.variable(shared, "v", Type::kInt, {{x}});
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer.end_define());
  const std::vector<int> values(8, ranks.rank());
  NMB_TRY(writer.put_all(shared, 0, {{8 * static_cast<std::uint64_t>(ranks.rank())}, {8}, {}},
                         std::span<const int>(values)));
  if (puts_values(ranks.rank())) definer.put(name + "/0", "v", ranks.rank());
  return ranks.agree(definer.status());
}

void expect_use(int nodes) {
  std::set<int> leaders;
  for (int node = 0; node < nodes; ++node) leaders.insert(node * kUsers / nodes);
  std::set<int> expected = leaders;
  for (int rank = 0; rank < kUsers; ++rank)
    if (puts_values(rank)) expected.insert(rank);

  OutputUse use;
  const Status status = run_ranks_on_nodes(kUsers, nodes, [&](Communicator& ranks) -> Status {
    NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
    const std::string path = folder.file("f.nmb");
    const bool leads = ranks.rank() == 0;
    FileWriterOptions options;
    options.alignment = 4096;
    options.inline_limit = 0;
    options.metadata_codec = MetadataCodec::kNone;
    std::uint64_t length = 0;
    // Collective: rank 0 looks at what a generation's writing was.
    const auto look = [&](std::uint64_t from, std::uint64_t to, const std::string& what) -> Status {
      NMB_ASSIGN(const std::vector<OutputUse::Run> values, runs_of_values(path));
      EXPECT_EQ(use.writers_but(values, from, to), leaders) << what << ", " << nodes << " nodes";
      EXPECT_EQ(use.writers(), expected) << what << ", " << nodes << " nodes";
      EXPECT_EQ(use.users(), expected) << what << ", " << nodes << " nodes";
      return {};
    };
    {
      NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
                 FileWriter::create(path, use.noting(options, ranks.rank()), ranks));
      NMB_TRY(write_own(*writer, ranks, "a"));
      NMB_TRY(writer->sync());
      if (leads) {
        EXPECT_EQ(times_open(path), expected.size()) << nodes << " nodes";
        length = std::filesystem::file_size(path);
        NMB_TRY(look(0, length, "create"));
      }
      NMB_TRY(writer->close());
    }
    NMB_TRY(ranks.barrier());
    if (leads) use.clear();
    NMB_TRY(ranks.barrier());
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
               FileWriter::open(path, use.noting(options, ranks.rank()), ranks));
    NMB_TRY(ranks.barrier());
    if (leads) {
      EXPECT_EQ(times_open(path), 1u) << "open, " << nodes << " nodes";
      EXPECT_EQ(use.readers(), std::set<int>{0}) << "open, " << nodes << " nodes";
    }
    NMB_TRY(ranks.barrier());
    // Ranks without new blocks have nothing to look up.
    if (puts_values(ranks.rank())) {
      Definer definer(*writer);
      const std::string name = "b/rank" + std::to_string(ranks.rank());
      for (int i = 0; i < 40; ++i) {
        const BlockId block = definer.block(name + "/" + std::to_string(i));
        const DimId x = definer.dimension(block, "x", 500);
        definer.variable(block, "v", Type::kInt, {{x}});
        definer.keep(writer->put_att_text(block, kGlobal, "title", std::string(200, 'x')));
      }
      NMB_TRY(definer.status());
    }
    NMB_TRY(writer->end_define());
    if (puts_values(ranks.rank())) {
      Definer definer(*writer);
      for (int i = 0; i < 40; ++i)
        definer.put("b/rank" + std::to_string(ranks.rank()) + "/" + std::to_string(i), "v", i);
      NMB_TRY(definer.status());
    }
    NMB_TRY(writer->sync());
    if (leads) {
      EXPECT_EQ(times_open(path), expected.size()) << nodes << " nodes";
      NMB_TRY(look(length, std::filesystem::file_size(path), "append"));
    }
    NMB_TRY(writer->close());
    if (leads) {
      EXPECT_EQ(findings_of(std::filesystem::path(path)), "");
    }
    return ranks.barrier();
  });
  EXPECT_TRUE(status.ok()) << status.text();
}

// Elements that lie close together are not written one by one.
TEST(OutputUse, InterleavedPutsTakeFewWrites) {
  constexpr std::uint64_t kRows = 4096, kMembers = 8;
  OutputUse use;
  const Status status = run_ranks_on_nodes(2, 1, [&](Communicator& ranks) -> Status {
    NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
    const std::string path = folder.file("f.nmb");
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
               FileWriter::create(path, use.noting({}, ranks.rank()), ranks));
    Definer definer(*writer);
    const BlockId block = definer.block("b");
    const DimId row = definer.dimension(block, "row", 2 * kRows);
    const DimId member = definer.dimension(block, "member", kMembers);
    definer.variable(block, "v", Type::kInt, {{row, member}});
    NMB_TRY(ranks.agree(definer.status()));
    NMB_TRY(writer->end_define());
    const auto own = static_cast<std::uint64_t>(ranks.rank());
    for (std::uint64_t m = 0; m < kMembers; ++m) {
      const std::vector<int> values(kRows, static_cast<int>(10 * own + m));
      // Every second row is another rank's.
      NMB_TRY(
          writer->put_all(block, 0, {{own, m}, {kRows, 1}, {2, 1}}, std::span<const int>(values)));
    }
    NMB_TRY(ranks.barrier());
    EXPECT_LT(use.writes(), 100U);
    NMB_TRY(writer->close());
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    const std::string_view name = "b";
    NMB_ASSIGN(const auto loaded, reader->open_blocks(std::span(&name, 1)));
    std::vector<int> found(2 * kRows * kMembers);
    NMB_TRY(loaded[0]->read(0, {{0, 0}, {2 * kRows, kMembers}, {}}, std::span<int>(found)));
    for (std::uint64_t i = 0; i < found.size(); ++i)
      if (found[i] != static_cast<int>(10 * (i / kMembers % 2) + i % kMembers))
        return Status(Code::kDamaged, "another value");
    return ranks.barrier();  // rank 0 removes the folder
  });
  EXPECT_TRUE(status.ok()) << status.text();
}

TEST(OutputUse, OfTwoNodes) { expect_use(2); }
TEST(OutputUse, OfSixteenNodes) { expect_use(16); }

}  // namespace
}  // namespace nmb::test
