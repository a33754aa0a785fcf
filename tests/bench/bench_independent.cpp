// bench_independent: values that each rank puts alone, under mpiexec: records appended, committed
// values put again after each of several commits, and many small puts and gets. Prints one line of
// JSON for each: seconds of the slowest rank, peak memory of the largest rank above that before,
// and the growth of the file. Fails if a value is read back wrong.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "process_cost.h"
#include "writer/file_writer.h"

namespace nmb::bench {

namespace {

struct Work {
  std::string path;
  std::uint64_t append = 2048;               // MB of records that each rank appends
  std::uint64_t replace = 40, commits = 50;  // MB put again after each commit
  std::uint64_t small = 1'000'000;           // small puts, and as many gets
};

constexpr std::uint64_t kRecord = 1 << 20;  // bytes of a rank's record

class Independent {
 public:
  Independent(const Work& work, Communicator& ranks) : work_(work), ranks_(ranks) {}

  Status run() {
    NMB_TRY(append());
    NMB_TRY(replace());
    return small();
  }

 private:
  std::uint64_t rank() const { return static_cast<std::uint64_t>(ranks_.rank()); }
  std::uint64_t size() const { return static_cast<std::uint64_t>(ranks_.size()); }

  // A block of records with a value of each rank, with `length` ints of each rank in a record.
  Result<std::unique_ptr<FileWriter>> create(std::uint64_t length, BlockId* block) {
    FileWriterOptions options;
    options.overwrite = true;
    options.sync = false;
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(work_.path, options, ranks_));
    NMB_ASSIGN(*block, writer->define_block("b"));
    NMB_ASSIGN(const DimId time, writer->def_dim(*block, "time", kUnlimited));
    NMB_ASSIGN(const DimId x, writer->def_dim(*block, "x", length * size()));
    NMB_TRY(writer->def_var(*block, "v", Type::kInt, {{time, x}}).status());
    NMB_TRY(writer->end_define());
    return writer;
  }

  template <class Step>
  Status measure(const char* name, std::uint64_t values, Step step) {
    NMB_TRY(ranks_.barrier());
    const PeakMemory memory;
    const double start = now().wall;
    NMB_TRY(ranks_.agree(step()));
    struct Cost {
      double seconds, megabytes;
    } cost{now().wall - start, memory.megabytes()};
    NMB_ASSIGN(cost, ranks_.all_reduce(cost, [](const Cost& a, const Cost& b) {
      return Cost{std::max(a.seconds, b.seconds), std::max(a.megabytes, b.megabytes)};
    }));
    if (ranks_.rank() != 0) return {};
    std::printf(
        "{\"work\": \"%s\", \"ranks\": %d, \"seconds\": %.3f, \"peak_mb\": %.1f, "
        "\"values_mb\": %.1f, \"file_mb\": %.1f}\n",
        name, ranks_.size(), cost.seconds, cost.megabytes, static_cast<double>(values) / 1e6,
        static_cast<double>(std::filesystem::file_size(work_.path)) / 1e6);
    std::fflush(stdout);
    return {};
  }

  Status append() {
    const std::uint64_t length = kRecord / 4, records = work_.append;
    return measure("append", records * kRecord * size(), [&]() -> Status {
      BlockId block;
      NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, create(length, &block));
      std::vector<int> values(length), found(length);
      const auto slab = [&](std::uint64_t record) {
        return Hyperslab{{record, rank() * length}, {1, length}, {}};
      };
      for (std::uint64_t record = 0; record < records; ++record) {
        std::ranges::fill(values, static_cast<int>(record * size() + rank()));
        NMB_TRY(writer->put(block, 0, slab(record), std::span<const int>(values)));
      }
      const std::uint64_t some = records / 3;
      NMB_TRY(writer->get(block, 0, slab(some), std::span(found)));
      if (found.front() != static_cast<int>(some * size() + rank()) ||
          found.back() != found.front())
        return Status(Code::kDamaged, "a wrong value of a record");
      return writer->close();
    });
  }

  Status replace() {
    const std::uint64_t length = work_.replace * (kRecord / 4);
    return measure("replace", work_.commits * length * 4 * size(), [&]() -> Status {
      BlockId block;
      NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, create(length, &block));
      std::vector<int> values(length), found(1);
      const Hyperslab slab{{0, rank() * length}, {1, length}, {}};
      for (std::uint64_t i = 0; i <= work_.commits; ++i) {
        std::ranges::fill(values, static_cast<int>(i + rank()));
        NMB_TRY(writer->put(block, 0, slab, std::span<const int>(values)));
        NMB_TRY(writer->get(block, 0, {{0, rank() * length + i}, {1, 1}, {}}, std::span(found)));
        if (found[0] != values[0]) return Status(Code::kDamaged, "a wrong value that was replaced");
        NMB_TRY(writer->sync());
      }
      return writer->close();
    });
  }

  // Puts of 4 bytes to records, each followed by a get of the same value.
  Status small() {
    const std::uint64_t length = 1000, records = work_.small / length;
    for (const bool flushed : {false, true})
      NMB_TRY(
          measure(flushed ? "small in the file" : "small that wait", records * length * 4 * size(),
                  [&]() -> Status {
                    BlockId block;
                    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, create(length, &block));
                    if (flushed) NMB_TRY(writer->extend(block, records));
                    int found = 0;
                    for (std::uint64_t i = 0; i < records * length; ++i) {
                      const int value = static_cast<int>(i);
                      const Hyperslab slab{{i / length, rank() * length + i % length}, {1, 1}, {}};
                      NMB_TRY(writer->put(block, 0, slab, std::span(&value, 1)));
                      NMB_TRY(writer->get(block, 0, slab, std::span(&found, 1)));
                      if (found != value)
                        return Status(Code::kDamaged, "a wrong value of a small put");
                    }
                    return writer->close();
                  }));
    return {};
  }

  const Work& work_;
  Communicator& ranks_;
};

Status run(const Work& work) {
  const std::optional<MpiLibrary> library = launched_by();
  if (!library) {
    Communicator alone;
    return Independent(work, alone).run();
  }
  NMB_ASSIGN(const std::unique_ptr<Communicator> ranks, open_mpi_ranks(*library));
  const Status status = Independent(work, *ranks).run();
  if (!status.ok()) ranks->fail(status);
  return status;
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
  nmb::bench::Work work;
  CLI::App app("Puts of each rank alone: records appended, values replaced, small puts and gets");
  app.add_option("path", work.path, "the file to make")->required();
  app.add_option("--append", work.append, "MiB of records of each rank");
  app.add_option("--replace", work.replace, "MiB of each rank put again after each commit");
  app.add_option("--commits", work.commits, "number of these commits");
  app.add_option("--small", work.small, "number of small puts and gets of each rank");
  CLI11_PARSE(app, argc, argv);
  const nmb::Status status = nmb::bench::run(work);
  if (!status.ok()) std::fprintf(stderr, "bench_independent: %s\n", status.text().c_str());
  return status.ok() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_independent: %s\n", error.what());
  return 1;
}
