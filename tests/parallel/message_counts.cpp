// message_counts: what each collective call of a writer sends, on ranks that are threads, for
// several numbers of ranks P. Of a rank that sends m messages and has b blocks of its own,
// c = (m - min(b, P)) / ceil(log2 P). Prints, of the ranks that send and hold most: messages, c,
// bytes of messages held at a time, and what both come to at --at ranks by a fit over the numbers
// of ranks from 512 on: messages as a + b log2 P, bytes as a + b P. With --limit and --held it
// fails if a call exceeds them. --report writes benchmarks/message_counts.md.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "writer/file_writer.h"

namespace nmb::test {

namespace {

constexpr std::size_t kStack = 256 << 10;
constexpr std::size_t kCalls = 48;
constexpr std::uint64_t kOwnBlocks = 4;
// Of a rank's row or column: 16 KiB, so that 512 ranks fill a round of the exchange of pieces, and
// more ranks take more rounds.
constexpr std::uint64_t kLength = 4096;

// The cost of one call on each rank.
struct Call {
  std::string name;
  std::vector<std::uint64_t> messages;
  std::vector<std::uint64_t> held;  // most bytes of messages at a time
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
  const std::array<Call, kCalls>& all() const { return calls_; }

 private:
  std::size_t size_;
  std::array<Call, kCalls> calls_;
};

// Counts what a rank sends between two calls of tell().
class Counter {
 public:
  Counter(Calls& calls, Communicator& ranks) : calls_(calls), ranks_(ranks) { start(); }
  void start() {
    ranks_.restart_peak();
    before_ = ranks_.traffic();
  }
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

Result<BlockId> define(FileWriter& writer, const std::string& name, std::uint64_t rows,
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
Result<std::vector<BlockId>> define_own(FileWriter& writer, Communicator& ranks,
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

Status put_record(FileWriter& writer, const std::vector<BlockId>& blocks, std::uint64_t record) {
  const std::vector<int> values(8, static_cast<int>(record));
  for (const BlockId block : blocks)
    NMB_TRY(writer.put(block, 0, {{record, 0}, {1, 8}, {}}, std::span<const int>(values)));
  return {};
}

constexpr int kSeveral = 4;

// A block of all ranks with several variables.
Result<BlockId> define_several(FileWriter& writer, std::uint64_t columns) {
  NMB_ASSIGN(const BlockId block, writer.define_block("several"));
  NMB_ASSIGN(const DimId time, writer.def_dim(block, "time", kUnlimited));
  NMB_ASSIGN(const DimId column, writer.def_dim(block, "column", columns));
  const std::array dimensions{time, column};
  for (int i = 0; i < kSeveral; ++i)
    NMB_TRY(writer.def_var(block, "v" + std::to_string(i), Type::kInt, dimensions).status());
  return block;
}

// Collective: each rank an element of each variable, in one call.
Status put_of_several(FileWriter& writer, BlockId block, std::uint64_t record, std::uint64_t rank) {
  const int value = static_cast<int>(rank);
  std::vector<RequestId> requests;
  for (VarId i = 0; i < kSeveral; ++i) {
    NMB_ASSIGN(const RequestId request, writer.iput(block, i, {{record, rank}, {1, 1}, {}},
                                                    std::span<const int>(&value, 1)));
    requests.push_back(request);
  }
  return writer.wait_all(requests);
}

Status session(const std::string& path, Communicator& ranks, Calls& calls) {
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  FileWriterOptions options;
  options.overwrite = true;
  options.sync = false;
  Counter counter(calls, ranks);
  std::unique_ptr<FileWriter> writer;
  {
    NMB_ASSIGN(writer, FileWriter::create(path, options, ranks));
    counter.tell("create");
    NMB_ASSIGN(const std::vector<BlockId> own, define_own(*writer, ranks, "a"));
    NMB_TRY(writer->end_define());
    counter.tell("end_define: each rank defines its own blocks");
    for (std::uint64_t step = 0; step < 3; ++step) {
      NMB_TRY(put_record(*writer, own, step));
      NMB_TRY(writer->sync());
      counter.tell(step == 0 ? "sync: each rank has written its own blocks"
                             : "sync: the own blocks of each rank grew");
    }
    NMB_TRY(writer->redefine());
    counter.tell("redefine");
    NMB_ASSIGN(const BlockId matrix, define(*writer, "matrix", size, kLength));
    NMB_ASSIGN(const BlockId columns, define(*writer, "columns", kLength, size));
    NMB_ASSIGN(const BlockId series, define(*writer, "series", 0, size));
    NMB_ASSIGN(const BlockId several, define_several(*writer, size));
    NMB_TRY(writer->end_define());
    counter.tell("end_define: all ranks define shared blocks");
    const std::vector<int> row(kLength, 1);
    NMB_TRY(writer->put_all(matrix, 0, {{rank, 0}, {1, kLength}, {}}, std::span<const int>(row)));
    counter.tell("put_all: each rank writes a row");
    NMB_TRY(writer->put_all(columns, 0, {{0, rank}, {kLength, 1}, {}}, std::span<const int>(row)));
    counter.tell("put_all: each rank writes a column");
    const std::span<const int> one(row.data(), 1);
    NMB_TRY(writer->put_all(series, 0, {{0, rank}, {1, 1}, {}}, one));
    counter.tell("put_all: the ranks write a new record together");
    NMB_TRY(writer->extend(series, 2));
    counter.tell("extend");
    {
      NMB_ASSIGN(const RequestId first, writer->iput(series, 0, {{2, rank}, {1, 1}, {}}, one));
      NMB_ASSIGN(const RequestId second, writer->iput(series, 0, {{3, rank}, {1, 1}, {}}, one));
      NMB_TRY(writer->wait_all(std::array{first, second}));
    }
    counter.tell("wait_all: the ranks write two new records together");
    NMB_TRY(writer->sync());
    counter.tell("sync: the ranks have written shared blocks");
    NMB_TRY(writer->put_all(series, 0, {{4, rank}, {1, 1}, {}}, one));
    counter.tell("put_all after sync: the ranks write a new record together");
    NMB_TRY(writer->sync());
    counter.tell("sync: a shared block grew");
    NMB_TRY(put_of_several(*writer, several, 0, rank));
    counter.tell("wait_all: the ranks write 4 variables together");
    NMB_TRY(put_of_several(*writer, several, 1, rank));
    counter.tell("wait_all: the ranks write a new record of 4 variables together");
    NMB_TRY(writer->sync());
    counter.tell("sync: the ranks have written 4 shared variables");
    NMB_TRY(writer->redefine());
    counter.start();
    NMB_ASSIGN(const std::vector<BlockId> later, define_own(*writer, ranks, "b"));
    NMB_TRY(writer->end_define());
    counter.tell("end_define in a later step: each rank defines its own blocks");
    NMB_TRY(put_record(*writer, later, 0));
    NMB_TRY(writer->sync());
    counter.tell("sync in a later step: each rank has written its own blocks");
    NMB_TRY(writer->redefine());
    counter.start();
    const std::string renamed = "c/rank" + std::to_string(rank);
    NMB_TRY(writer->rename_block(later[0], renamed));
    NMB_TRY(writer->remove_block(later[1]));
    NMB_TRY(writer->put_att_text(later[2], kGlobal, "title", "redefined"));
    NMB_TRY(writer->end_define());
    counter.tell("end_define: each rank has renamed, removed and changed blocks");
    NMB_TRY(writer->sync());
    counter.tell("sync: each rank has renamed, removed and changed blocks");
    const std::string others = "c/rank" + std::to_string((rank + 1) % size);
    const std::string_view wanted = others;
    NMB_TRY(writer->open_blocks(std::span(&wanted, 1)).status());
    counter.tell("open_blocks: each rank opens a block of another rank");
    NMB_TRY(writer->close());
    counter.tell("close");
  }
  NMB_ASSIGN(writer, FileWriter::open(path, options, ranks));
  counter.tell("open");
  NMB_TRY(writer->end_define());
  counter.tell("end_define: no rank has new definitions");
  NMB_ASSIGN(const BlockId own, writer->find_block("a/rank" + std::to_string(ranks.rank()) + "/0"));
  counter.start();
  NMB_TRY(put_record(*writer, {own}, 3));
  NMB_TRY(writer->close());
  counter.tell("close: a block of each rank grew");
  return {};
}

int log_of(int size) { return std::max(1, static_cast<int>(std::bit_width(unsigned(size - 1)))); }

std::uint64_t most(const std::vector<std::uint64_t>& of_ranks) {
  return *std::max_element(of_ranks.begin(), of_ranks.end());
}

double c_of(const Call& call, int size) {
  const std::uint64_t own = std::min<std::uint64_t>(kOwnBlocks, static_cast<std::uint64_t>(size));
  return (static_cast<double>(most(call.messages)) - static_cast<double>(own)) / log_of(size);
}

// y at `at` of the line through the points with the least squares.
double extended(const std::vector<std::array<double, 2>>& points, double at) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(points.size());
  for (const auto& point : points) {
    x += point[0] / n;
    y += point[1] / n;
  }
  for (const auto& point : points) {
    xx += (point[0] - x) * (point[0] - x);
    xy += (point[0] - x) * (point[1] - y);
  }
  return y + (xx == 0 ? 0 : xy / xx * (at - x));
}

struct Limits {
  double c = 0, held = 0;  // 0: none
};

// Text of the table; *good: no call exceeds the limits.
std::string table_of(const std::vector<int>& sizes, const std::vector<Calls>& of_sizes, int at,
                     const Limits& limits, bool* good) {
  constexpr int kLeastFitted = 512;
  const auto number = [](double value, int digits) {
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return std::string(text.data());
  };
  std::string out = "| call |";
  for (const int size : sizes) out += " P = " + std::to_string(size) + " |";
  const std::string far = "P = " + std::to_string(at);
  out += " c | " + far + " | MB held, P = " + std::to_string(sizes.back()) + " | MB held, " + far +
         " |\n|---|";
  for (std::size_t i = 0; i < sizes.size() + 4; ++i) out += "---:|";
  out += "\n";
  for (std::size_t i = 0; i < kCalls && !of_sizes.back().all()[i].name.empty(); ++i) {
    out += "| " + of_sizes.back().all()[i].name + " |";
    double c = 0, held = 0;
    std::vector<std::array<double, 2>> messages, bytes;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const Call& call = of_sizes[k].all()[i];
      const auto sent = static_cast<double>(most(call.messages));
      out += " " + number(sent, 0) + " |";
      c = std::max(c, c_of(call, sizes[k]));
      held = static_cast<double>(most(call.held)) / 1e6;
      if (sizes[k] < kLeastFitted) continue;
      messages.push_back({std::log2(sizes[k]), sent});
      bytes.push_back({static_cast<double>(sizes[k]), held});
    }
    out += " " + number(c, 1) + " |";
    *good = *good && (limits.c == 0 || c <= limits.c) && (limits.held == 0 || held <= limits.held);
    if (messages.size() < 2) {
      out += " | " + number(held, 2) + " | |\n";
      continue;
    }
    const double far_held = std::max(held, extended(bytes, at));
    *good = *good && (limits.held == 0 || far_held <= limits.held);
    out += " " + number(extended(messages, std::log2(at)), 0) + " | " + number(held, 2) + " | " +
           number(far_held, 2) + " |\n";
  }
  return out;
}

constexpr const char* kAbout = R"(# Messages of the collective calls

This page is for users who run the writer on many ranks. The page says how many messages a rank sends in each collective call, and how many bytes of messages a rank holds. The program `tests/parallel/message_counts.cpp` uses threads as ranks. It counts the messages and writes this page:

    message_counts --ranks 512,1024,2048,4096 --report benchmarks/message_counts.md

Each rank has four blocks of its own. Further blocks are shared by all ranks. Each rank writes one element, row or column of a shared block. P is the number of ranks. In each call, a rank should send at most c log2 P + min(blocks of a rank, P) messages, where c does not grow with P. No rank should hold more than 16 MB of messages.

A column "P = ..." gives the number of messages that the busiest rank sends. The column "c" gives the largest value of c for any P in the table. "MB held" is the maximum size of the messages that one rank holds at one time. The figures for P = 100000 are extrapolated from the figures for P = 512 and more. The extrapolation assumes that the number of messages is linear in log2 P, and that the number of bytes is linear in P.

A commit has only one list of growth rows and one list of dead ranges. Rank 0 therefore makes both lists for all ranks. Rank 0 holds these lists in addition to the messages. A growth row takes 48 bytes, and a commit has at most 131,072 growth rows. A dead range takes 40 bytes. If 100,000 ranks replace four blocks each, there are about a million dead ranges, which take 40 MB.

)";

}  // namespace

}  // namespace nmb::test

int main(int argc, char** argv) try {
  using namespace nmb;
  using namespace nmb::test;
  CLI::App app("Counts the messages of a writer's collective calls.", "message_counts");
  std::vector<int> sizes{64, 512};
  Limits limits;
  int at = 100'000;
  std::string folder = std::filesystem::temp_directory_path(), report;
  app.add_option("--ranks", sizes, "numbers of ranks, ascending")->delimiter(',');
  app.add_option("--at", at, "the number of ranks that is extrapolated to");
  app.add_option("--limit", limits.c, "highest c of a call");
  app.add_option("--held", limits.held, "most MB of messages that a rank may hold");
  app.add_option("--work", folder, "folder for the files");
  app.add_option("--report", report, "write the table, with what it means, to this file too");
  CLI11_PARSE(app, argc, argv);

  std::vector<Calls> of_sizes;
  for (const int size : sizes) {
    of_sizes.emplace_back(size);
    const std::string path = folder + "/message_counts_" + std::to_string(getpid()) + ".nmb";
    const auto begin = std::chrono::steady_clock::now();
    const Status status = run_thread_ranks(
        size, [&](Communicator& ranks) { return session(path, ranks, of_sizes.back()); }, kStack);
    std::filesystem::remove(path);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::fprintf(stderr, "message_counts: %d ranks: %.0f s\n", size, took.count());
    if (!status.ok()) {
      std::fprintf(stderr, "message_counts: %s\n", status.text().c_str());
      return 2;
    }
  }
  bool good = true;
  const std::string table = table_of(sizes, of_sizes, at, limits, &good);
  std::printf("%s", table.c_str());
  if (!report.empty()) std::ofstream(report) << kAbout << table;
  if (!good) std::fprintf(stderr, "message_counts: found more than the limit\n");
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "message_counts: %s\n", error.what());
  return 2;
}
