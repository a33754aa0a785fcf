// bench_create_ranks: the work of bench_create dealt to ranks, which create one file together; each
// defines its share. Under mpiexec ranks are processes, with --threads they are threads of one.
#include <CLI/CLI.hpp>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "create_report.h"
#include "define_all.h"
#include "parallel/communicator.h"
#include "writer/file_writer.h"

namespace nmb::bench {

namespace {

constexpr std::size_t kThreadStack = 256 << 10;

struct Run {
  std::string path;
  FileWriterOptions options;
  Shape shape = Shape::kSamples;
  std::uint64_t samples = 0;
  bool interleaved = false;

  Description share(int rank, int size) const {
    return describe(shape, Samples::share(samples, rank, size, interleaved), false,
                    "rank" + std::to_string(rank));
  }
};

// memory: of this process. CPU time in which a rank only waits is not counted.
Status create(const Run& run, const Description& description, const PeakMemory& memory,
              Communicator& ranks) {
  NMB_TRY(ranks.barrier());
  CreateReport report([&] {
    Time time = ranks.shares_memory() ? now_of_thread() : now();
    time.cpu -= ranks.waiting_seconds();
    return time;
  });
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(run.path, run.options, ranks));
  NMB_TRY(define_all(*writer, description).status());
  report.phase("define");
  NMB_TRY(writer->end_define());
  report.phase("end_define");
  NMB_TRY(writer->close());
  report.phase("close");
  report.finish(memory.megabytes() / (ranks.shares_memory() ? ranks.size() : 1));
  report.add(writer->report());
  report.add("waiting", ranks.waiting_seconds());
  NMB_ASSIGN(const CreateNumbers all,
             ranks.all_reduce(report.numbers(description.counts()), CreateNumbers::of));
  if (ranks.rank() == 0) report.print(run.path, all);
  return {};
}

Status create_by_threads(const Run& run, int threads) {
  std::vector<Description> shares;
  for (int rank = 0; rank < threads; ++rank) shares.push_back(run.share(rank, threads));
  const PeakMemory memory;
  return run_thread_ranks(
      threads,
      [&](Communicator& ranks) {
        return create(run, shares[static_cast<std::size_t>(ranks.rank())], memory, ranks);
      },
      kThreadStack);
}

Status create_by_processes(const Run& run) {
  const std::optional<MpiLibrary> library = launched_by();
  if (!library) return Status(Code::kUsage, "found neither a launcher of MPI nor --threads");
  NMB_ASSIGN(const std::unique_ptr<Communicator> ranks, open_mpi_ranks(*library));
  const Description description = run.share(ranks->rank(), ranks->size());
  NMB_TRY(ranks->barrier());  // MPI has what it takes with the first messages
  const PeakMemory memory;
  const Status status = create(run, description, memory, *ranks);
  if (!status.ok()) ranks->fail(status);
  return status;
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
  using nmb::bench::Shape;
  CLI::App app("Creates very many objects with libnmb, by several ranks.", "bench_create_ranks");
  nmb::bench::Run run;
  int threads = 0;
  std::uint64_t times = 1;
  app.add_option("FILE", run.path, "to be written, replaced if there")->required();
  app.add_option("--threads", threads, "ranks that are threads")->check(CLI::Range(1, 65536));
  const std::map<std::string, Shape> shapes = {{"rank", Shape::kOne}, {"blocks", Shape::kSamples}};
  app.add_option("--shape", run.shape, "rank: a block a rank; blocks: a block a sample")
      ->transform(CLI::CheckedTransformer(shapes));
  app.add_option("--samples", run.samples, "default: as many as make 568,480 variables");
  app.add_option("--times", times, "as many again")->check(CLI::Range(1, 100));
  app.add_flag("--interleaved", run.interleaved, "deals samples in turn, not in runs");
  CLI11_PARSE(app, argc, argv);

  if (run.samples == 0) run.samples = nmb::bench::usual_samples(run.shape);
  run.samples *= times;
  run.options.overwrite = true;
  run.options.sync = false;
  const nmb::Status status = threads > 0 ? nmb::bench::create_by_threads(run, threads)
                                         : nmb::bench::create_by_processes(run);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_create_ranks: %s\n", status.in_file(run.path).text().c_str());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_create_ranks: %s\n", error.what());
  return 2;
}
