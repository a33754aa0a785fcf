// make_sessions OUT SEED GENERATIONS: writes a file of random sessions, the same for the same seed:
// blocks that are defined, changed, renamed and removed, values that change and grow, tags and
// statistics. After each generation, copies the file to OUT.GENERATION.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "fault/session_file.h"

using namespace nmb;
using namespace nmb::test;

// The number of values that are neither missing nor NaN.
class Count final : public ValueAccumulator {
 public:
  std::unique_ptr<ValueAccumulator> fresh() const override { return std::make_unique<Count>(); }
  void add(const ValueBatch& batch) override { count_ += batch.count() * batch.times; }
  void merge(const ValueAccumulator& other) override {
    count_ += static_cast<const Count&>(other).count_;
  }
  TagValue result() const override { return count_; }

 private:
  std::uint64_t count_ = 0;
};

static Status write_file(const std::string& path, std::uint64_t seed, int generations) {
  FileWriterOptions options = fault_options();
  // Small pages make deep trees.
  if (seed % 3 == 0) options.leaf_rows = 4, options.node_rows = options.map_rows = 3;
  if (seed % 4 == 1) {
    options.statistics = StatisticsLevel::kParts;
    options.functions = {
        {"count", [](std::string_view, Type) { return std::make_unique<Count>(); }}};
  }
  if (seed % 5 == 2) options.metadata_codec = MetadataCodec::kNone;
  Model model;
  for (int generation = 1; generation <= generations; ++generation) {
    const SessionKind kind =
        seed % 2 == 0 && generation > 1
            ? kSessionKinds[static_cast<std::size_t>(generation) % kSessionKindCount]
            : SessionKind::kAll;
    const auto part = seed * 100 + static_cast<std::uint64_t>(generation);
    NMB_TRY(write_session(path, generation == 1, part, kind, options, &model));
    std::filesystem::copy_file(path, path + "." + std::to_string(generation),
                               std::filesystem::copy_options::overwrite_existing);
  }
  return {};
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: make_sessions OUT SEED GENERATIONS\n");
    return 2;
  }
  const Status status =
      write_file(argv[1], std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
  if (status.ok()) return 0;
  std::fprintf(stderr, "make_sessions: %s\n", status.text().c_str());
  return 1;
}
