// message_counts: what each collective call of a writer sends, on ranks that are threads, for
// several numbers of ranks P. Of a rank that sends m messages and has b blocks of its own,
// c = (m - min(b, P)) / ceil(log2 P). Prints c of the rank that sends most; with --limit it fails
// if a call exceeds it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "nmb/thread_ranks.h"
#include "nmb/writer.h"

namespace nmb::test {

namespace {

constexpr std::size_t kStack = 256 << 10;
constexpr std::uint64_t kOwnBlocks = 4;
constexpr std::uint64_t kLength = 256;  // of a rank's row or column

// What one call cost, of each rank.
struct Call {
  std::string name;
  std::vector<std::uint64_t> messages;
  std::vector<std::uint64_t> held;  // most bytes of messages until its end
};

// The calls of all ranks, which are threads of one process: each writes its own elements.
class Calls {
 public:
  explicit Calls(int size) : size_(static_cast<std::size_t>(size)) {
    for (Call& call : calls_) {
      call.messages.resize(size_);
      call.held.resize(size_);
    }
  }
  void add(std::size_t number, const std::string& name, int rank, const Traffic& sent) {
    Call& call = calls_.at(number);
    if (rank == 0) call.name = name;
    call.messages[static_cast<std::size_t>(rank)] = sent.messages;
    call.held[static_cast<std::size_t>(rank)] = sent.peak_bytes;
  }
  const std::array<Call, 48>& all() const { return calls_; }

 private:
  std::size_t size_;
  std::array<Call, 48> calls_;
};

// Counts what a rank sends between two calls of tell().
class Counter {
 public:
  Counter(Calls& calls, Communicator& ranks) : calls_(calls), ranks_(ranks) { start(); }
  void start() { before_ = ranks_.traffic(); }
  void tell(const std::string& name) {
    const Traffic& now = ranks_.traffic();
    calls_.add(number_++, name, ranks_.rank(),
               {now.messages - before_.messages, 0, now.peak_bytes});
    start();
  }

 private:
  Calls& calls_;
  Communicator& ranks_;
  Traffic before_;
  std::size_t number_ = 0;
};

Result<BlockId> define(Writer& writer, const std::string& name, std::uint64_t rows,
                       std::uint64_t columns) {
  NMB_ASSIGN(const BlockId block, writer.define_block(name));
  NMB_ASSIGN(const DimId row,
             rows ? writer.def_dim(block, "row", rows) : writer.def_dim(block, "time", kUnlimited));
  NMB_ASSIGN(const DimId column, writer.def_dim(block, "column", columns));
  const std::array dimensions{row, column};
  NMB_TRY(writer.def_var(block, "v", Type::kInt, dimensions).status());
  return block;
}

// New blocks of this rank.
Result<std::vector<BlockId>> define_own(Writer& writer, Communicator& ranks,
                                        const std::string& step) {
  std::vector<BlockId> blocks;
  for (std::uint64_t i = 0; i < kOwnBlocks; ++i) {
    NMB_ASSIGN(
        const BlockId block,
        define(writer, step + "/rank" + std::to_string(ranks.rank()) + "/" + std::to_string(i), 0,
               8));
    blocks.push_back(block);
  }
  return blocks;
}

Status put_record(Writer& writer, const std::vector<BlockId>& blocks, std::uint64_t record) {
  const std::vector<int> values(8, static_cast<int>(record));
  for (const BlockId block : blocks)
    NMB_TRY(writer.put(block, 0, {{record, 0}, {1, 8}, {}}, std::span<const int>(values)));
  return {};
}

Status session(const std::string& path, Communicator& ranks, Calls& calls) {
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  WriterOptions options;
  options.overwrite = true;
  options.sync = false;
  Counter counter(calls, ranks);
  std::unique_ptr<Writer> writer;
  {
    NMB_ASSIGN(writer, Writer::create(path, options, ranks));
    counter.tell("create");
    NMB_ASSIGN(const std::vector<BlockId> own, define_own(*writer, ranks, "a"));
    NMB_TRY(writer->end_define());
    counter.tell("end_define, own blocks");
    for (std::uint64_t step = 0; step < 3; ++step) {
      NMB_TRY(put_record(*writer, own, step));
      NMB_TRY(writer->sync());
      counter.tell(step == 0 ? "sync, own blocks" : "sync, grown blocks");
    }
    NMB_TRY(writer->redefine());
    counter.tell("redefine");
    NMB_ASSIGN(const BlockId matrix, define(*writer, "matrix", size, kLength));
    NMB_ASSIGN(const BlockId columns, define(*writer, "columns", kLength, size));
    NMB_ASSIGN(const BlockId series, define(*writer, "series", 0, size));
    NMB_TRY(writer->end_define());
    counter.tell("end_define, blocks of all");
    const std::vector<int> row(kLength, 1);
    NMB_TRY(writer->put_all(matrix, 0, {{rank, 0}, {1, kLength}, {}}, std::span<const int>(row)));
    counter.tell("put_all, rows");
    NMB_TRY(writer->put_all(columns, 0, {{0, rank}, {kLength, 1}, {}}, std::span<const int>(row)));
    counter.tell("put_all, columns");
    const std::span<const int> one(row.data(), 1);
    NMB_TRY(writer->put_all(series, 0, {{0, rank}, {1, 1}, {}}, one));
    counter.tell("put_all, a new record");
    NMB_TRY(writer->extend(series, 2));
    counter.tell("extend");
    {
      NMB_ASSIGN(const RequestId first, writer->iput(series, 0, {{2, rank}, {1, 1}, {}}, one));
      NMB_ASSIGN(const RequestId second, writer->iput(series, 0, {{3, rank}, {1, 1}, {}}, one));
      NMB_TRY(writer->wait_all(std::array{first, second}));
    }
    counter.tell("wait_all, new records");
    NMB_TRY(writer->sync());
    counter.tell("sync, blocks of all");
    NMB_TRY(writer->put_all(series, 0, {{4, rank}, {1, 1}, {}}, one));
    counter.tell("put_all, a record after sync");
    NMB_TRY(writer->sync());
    counter.tell("sync, a grown block of all");
    NMB_TRY(writer->redefine());
    counter.start();
    NMB_ASSIGN(const std::vector<BlockId> later, define_own(*writer, ranks, "b"));
    NMB_TRY(writer->end_define());
    counter.tell("end_define, own blocks, a later step");
    NMB_TRY(put_record(*writer, later, 0));
    NMB_TRY(writer->sync());
    counter.tell("sync, own blocks, a later step");
    NMB_TRY(writer->close());
    counter.tell("close");
  }
  NMB_ASSIGN(writer, Writer::open(path, options, ranks));
  counter.tell("open");
  NMB_TRY(writer->end_define());
  counter.tell("end_define, nothing new");
  NMB_ASSIGN(const BlockId own, writer->find_block("a/rank" + std::to_string(ranks.rank()) + "/0"));
  counter.start();
  NMB_TRY(put_record(*writer, {own}, 3));
  NMB_TRY(writer->close());
  counter.tell("close, a grown block");
  return {};
}

int log_of(int size) { return std::max(1, static_cast<int>(std::bit_width(unsigned(size - 1)))); }

double c_of(const Call& call, int size) {
  const std::uint64_t most = *std::max_element(call.messages.begin(), call.messages.end());
  const std::uint64_t own = std::min<std::uint64_t>(kOwnBlocks, static_cast<std::uint64_t>(size));
  return (static_cast<double>(most) - static_cast<double>(own)) / log_of(size);
}

}  // namespace

}  // namespace nmb::test

int main(int argc, char** argv) try {
  using namespace nmb;
  using namespace nmb::test;
  CLI::App app("Counts the messages of a writer's collective calls.", "message_counts");
  std::vector<int> sizes{64, 512};
  double limit = 0, most_held = 0;
  std::string folder = std::filesystem::temp_directory_path();
  app.add_option("--ranks", sizes, "numbers of ranks, ascending")->delimiter(',');
  app.add_option("--limit", limit, "highest c of a call");
  app.add_option("--held", most_held, "most MB of messages that a rank may hold");
  app.add_option("--work", folder, "folder for the files");
  CLI11_PARSE(app, argc, argv);

  std::vector<Calls> of_sizes;
  for (const int size : sizes) {
    of_sizes.emplace_back(size);
    const std::string path = folder + "/message_counts_" + std::to_string(getpid()) + ".nmb";
    const Status status = run_thread_ranks(
        size, [&](Communicator& ranks) { return session(path, ranks, of_sizes.back()); }, kStack);
    std::filesystem::remove(path);
    if (!status.ok()) {
      std::fprintf(stderr, "message_counts: %s\n", status.text().c_str());
      return 2;
    }
  }

  std::printf("| most messages of a rank |");
  for (const int size : sizes) std::printf(" P = %d |", size);
  std::printf(" c | MB held until then |\n|---|");
  for (std::size_t i = 0; i <= sizes.size() + 1; ++i) std::printf("---:|");
  std::printf("\n");
  bool good = true;
  for (std::size_t i = 0; i < of_sizes.back().all().size(); ++i) {
    const Call& last = of_sizes.back().all()[i];
    if (last.name.empty()) break;
    std::printf("| %s |", last.name.c_str());
    double c = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const Call& call = of_sizes[k].all()[i];
      std::printf(" %llu |", static_cast<unsigned long long>(
                                 *std::max_element(call.messages.begin(), call.messages.end())));
      c = std::max(c, c_of(call, sizes[k]));
    }
    const double held =
        static_cast<double>(*std::max_element(last.held.begin(), last.held.end())) / 1e6;
    std::printf(" %.1f | %.2f |\n", c, held);
    good = good && (limit == 0 || c <= limit) && (most_held == 0 || held <= most_held);
  }
  if (!good) std::fprintf(stderr, "message_counts: found more than the limit\n");
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "message_counts: %s\n", error.what());
  return 2;
}
