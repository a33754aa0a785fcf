// In a commit, only one rank writes to a stripe of the file, and no more ranks write than
// requested.
#include "ranks/stripe_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "parallel/communicator.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/rank_program.h"
#include "support/ranks_on_nodes.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

// The bytes that ranks write until before_commit(): all but the superblock and the trailer.
class WriteNotes {
 public:
  explicit WriteNotes(std::uint64_t stripe) : stripe_(stripe) {}

  // Options of a rank: notes what it writes.
  FileWriterOptions noting(const FileWriterOptions& given, int rank) {
    FileWriterOptions options{given};
    options.layer = [this, rank](std::unique_ptr<OutputFile> file) -> std::unique_ptr<OutputFile> {
      return std::make_unique<Layer>(std::move(file), *this, rank);
    };
    options.before_commit = [this] {
      std::lock_guard lock(mutex_);
      on_ = false;
      return Status();
    };
    return options;
  }
  void start_commit() {
    std::lock_guard lock(mutex_);
    writers_.clear();
    writes_ = 0;
    on_ = true;
  }
  // Ranks that wrote to each stripe.
  const std::map<std::uint64_t, std::set<int>>& writers() const { return writers_; }
  std::set<int> ranks() const {
    std::set<int> all;
    for (const auto& [stripe, ranks] : writers_) all.insert(ranks.begin(), ranks.end());
    return all;
  }
  std::uint64_t writes() const { return writes_; }

 private:
  class Layer final : public OutputFileLayer {
   public:
    Layer(std::unique_ptr<OutputFile> base, WriteNotes& notes, int rank)
        : OutputFileLayer(std::move(base)), notes_(notes), rank_(rank) {}
    Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
      notes_.take(rank_, offset, bytes.size());
      return base_->write_at(offset, bytes);
    }
    Status truncate(std::uint64_t length) override { return base_->truncate(length); }
    Status reserve(std::uint64_t offset, std::uint64_t length) override {
      return base_->reserve(offset, length);
    }
    Status sync() override { return {}; }
    Status publish() override { return base_->publish(); }

   private:
    WriteNotes& notes_;
    int rank_;
  };

  void take(int rank, std::uint64_t offset, std::uint64_t length) {
    std::lock_guard lock(mutex_);
    if (!on_) return;
    ++writes_;
    for (std::uint64_t stripe = offset / stripe_; stripe * stripe_ < offset + length; ++stripe)
      writers_[stripe].insert(rank);
  }

  const std::uint64_t stripe_;
  std::mutex mutex_;
  bool on_ = true;
  std::uint64_t writes_ = 0;
  std::map<std::uint64_t, std::set<int>> writers_;
};

struct Case {
  int ranks = 8;
  int aggregators = 0;
  std::uint64_t alignment = 1 << 20;
  int blocks = 300;  // of a rank
  std::size_t title = 200;
  int nodes = 0;  // 0: threads of one process
};

// Blocks of a rank; a third has values, which lie inline and are moved by the commit.
Status define(FileWriter& writer, const std::string& prefix, const Case& c) {
  ModelBlock packed;
  packed.dimensions = {{"x", 3}};
  packed.variables.resize(1);
  packed.variables[0].name = "v";
  packed.variables[0].dimensions = {0};
  packed.variables[0].values = {1, 2, 3};
  for (int i = 0; i < c.blocks; ++i) {
    const std::string name = prefix + std::to_string(i);
    if (i % 3 == 0) {
      NMB_TRY(writer.pack_block(packed_block(name, packed, Kind::kCdf2, 0)).status());
      continue;
    }
    NMB_ASSIGN(const BlockId id, writer.define_block(name));
    NMB_ASSIGN(const DimId x, writer.def_dim(id, "x", static_cast<std::uint64_t>(i % 50 + 1)));
    NMB_TRY(writer.def_var(id, "v", Type::kDouble, std::span(&x, 1)).status());
    NMB_TRY(writer.put_att_text(id, kGlobal, "title", name + std::string(c.title, 'x')));
  }
  return {};
}

// Removes, renames and adds, also a block of all ranks.
Status change(FileWriter& writer, const std::string& prefix, const Case& c) {
  for (int i = 0; i < c.blocks; i += 5) {
    NMB_ASSIGN(const BlockId id, writer.find_block(prefix + std::to_string(i)));
    NMB_TRY(i % 2 == 0 ? writer.remove_block(id)
                       : writer.rename_block(id, prefix + "renamed" + std::to_string(i)));
  }
  NMB_ASSIGN(const BlockId shared, writer.define_block("shared"));
  NMB_TRY(writer.def_var(shared, "v", Type::kInt, {}).status());
  return define(writer, prefix + "new", c);
}

// How often this process has the file open.
std::size_t openings_of(const std::filesystem::path& path) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::equivalent(entry.path(), path, gone)) ++count;
  }
  return count;
}

class StripeWriting : public testing::Test {
 protected:
  void expect_one_writer(const WriteNotes& notes, const Case& c) {
    for (const auto& [stripe, ranks] : notes.writers())
      EXPECT_EQ(ranks.size(), 1u) << "stripe " << stripe << " of " << c.alignment << " bytes, "
                                  << c.ranks << " ranks, " << c.aggregators << " aggregators";
    EXPECT_FALSE(notes.writers().empty());
    const auto most = static_cast<std::size_t>(c.aggregators == 0 ? c.ranks : c.aggregators);
    EXPECT_LE(notes.ranks().size(), most);
    if (c.aggregators == 1) {
      EXPECT_EQ(notes.ranks(), std::set<int>{0});
    }
  }

  // Two generations. Returns the bytes that all ranks sent for the first.
  std::uint64_t run(const Case& c) {
    WriteNotes notes(c.alignment);
    std::uint64_t sent = 0;
    const Status status = run_ranks_on_nodes(c.ranks, c.nodes, [&](Communicator& ranks) -> Status {
      NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
      const std::string path = folder.file("f.nmb");
      const std::string own = "rank" + std::to_string(ranks.rank()) + "/";
      FileWriterOptions options;
      options.aggregators = c.aggregators;
      options.alignment = c.alignment;
      options.metadata_codec = MetadataCodec::kNone;
      NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
                 FileWriter::create(path, notes.noting(options, ranks.rank()), ranks));
      NMB_TRY(ranks.agree(define(*writer, own, c)));
      NMB_TRY(writer->end_define());
      const std::uint64_t before = ranks.traffic().bytes;
      NMB_TRY(writer->sync());
      NMB_ASSIGN(const std::uint64_t bytes,
                 ranks.all_reduce(ranks.traffic().bytes - before, std::plus<>()));
      NMB_ASSIGN(const std::uint64_t peak,
                 ranks.all_reduce(ranks.traffic().peak_bytes,
                                  [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); }));
      if (ranks.rank() == 0) {
        sent = bytes;
        peak_ = peak;
        writes_ = notes.writes();
        stripes_ = notes.writers().size();
        wrote_ = notes.ranks();
        if (c.nodes > 0) opened_ = openings_of(path);
        expect_one_writer(notes, c);
      }
      NMB_TRY(writer->redefine());
      NMB_TRY(ranks.agree(change(*writer, own, c)));
      NMB_TRY(writer->end_define());
      if (ranks.rank() == 0) notes.start_commit();
      NMB_TRY(ranks.barrier());
      NMB_TRY(writer->close());
      if (ranks.rank() != 0) return ranks.barrier();
      expect_one_writer(notes, c);
      EXPECT_EQ(findings_of(std::filesystem::path(path)), "");
      return ranks.barrier();
    });
    EXPECT_TRUE(status.ok()) << status.text();
    return sent;
  }

  // Of the first generation.
  std::uint64_t writes_ = 0;
  std::size_t stripes_ = 0;
  std::uint64_t peak_ = 0;  // of messages that a rank held
  std::set<int> wrote_;
  std::size_t opened_ = 0;  // how often the file is open, on all nodes
};

TEST_F(StripeWriting, OneRankAStripe) {
  for (const int ranks : {2, 3, 5, 8})
    for (const int aggregators : {0, 1, 2, 3})
      for (const std::uint64_t alignment : {1u << 12, 1u << 16, 1u << 20})
        run({.ranks = ranks, .aggregators = aggregators, .alignment = alignment});
}

// The lowest rank of each node writes. Nobody else opens the file but rank 0, which makes it.
TEST_F(StripeWriting, ARankOfEachNodeWrites) {
  for (const int nodes : {2, 16}) {
    run({.ranks = 32, .alignment = 1 << 12, .blocks = 100, .nodes = nodes});
    std::set<int> leaders;
    for (int node = 0; node < nodes; ++node) leaders.insert(node * 32 / nodes);
    EXPECT_EQ(wrote_, leaders);
    EXPECT_EQ(opened_, leaders.size());
  }
  // Fewer writers than nodes.
  run({.ranks = 12, .aggregators = 2, .alignment = 1 << 12, .nodes = 5});
  EXPECT_EQ(wrote_, (std::set<int>{0, 5}));
  EXPECT_EQ(opened_, 2u);
}

// More than a rank passes on at a time, bodies too.
TEST_F(StripeWriting, OneRankAStripeInSeveralRounds) {
  for (const int aggregators : {0, 1, 3}) {
    run({.aggregators = aggregators, .alignment = 1 << 16, .blocks = 6000, .title = 1000});
    EXPECT_GT(stripes_ << 16, 32u << 20);
    EXPECT_LT(peak_, 12u << 20);
    run({.ranks = 3, .aggregators = aggregators, .blocks = 3, .title = 7000000});
    EXPECT_GT(stripes_ << 20, 32u << 20);
    EXPECT_LT(peak_, 12u << 20);
  }
}

// A call a stripe where one rank writes all; where all write they send what lies at their ends.
TEST_F(StripeWriting, FewCallsAndBytes) {
  const std::uint64_t to_one = run({.aggregators = 1, .blocks = 500, .title = 2000});
  EXPECT_LE(writes_, stripes_ + 1);
  const std::uint64_t to_all =
      run({.aggregators = 0, .alignment = 1 << 16, .blocks = 500, .title = 2000});
  EXPECT_LT(to_all, to_one / 3);
  EXPECT_LE(writes_, stripes_ + 8 * 3);
}

TEST(StripeWriter, OptionsOutOfRangeAreRefused) {
  const Status status = run_thread_ranks(2, [](Communicator& ranks) -> Status {
    NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
    auto code = [&](int aggregators, std::uint64_t alignment) {
      FileWriterOptions options;
      options.aggregators = aggregators;
      options.alignment = alignment;
      const Result<std::unique_ptr<FileWriter>> writer =
          FileWriter::create(folder.file("f.nmb"), options, ranks);
      if (writer.ok()) (*writer)->abandon();
      return writer.status().code();
    };
    EXPECT_EQ(code(-1, 0), Code::kUsage);
    for (const std::uint64_t alignment :
         {std::uint64_t{1}, std::uint64_t{2048}, std::uint64_t{5000}, std::uint64_t{1} << 31})
      EXPECT_EQ(code(0, alignment), Code::kUsage);
    EXPECT_EQ(code(100, 4096), Code::kOk);
    // Not the same on all ranks.
    EXPECT_EQ(code(ranks.rank(), 0), Code::kUsage);
    EXPECT_EQ(code(0, ranks.rank() == 0 ? 4096 : 8192), Code::kUsage);
    return ranks.barrier();
  });
  EXPECT_TRUE(status.ok()) << status.text();
}

}  // namespace
}  // namespace nmb::test
