// Kernels by ranks that are threads (see nmb_backend.h). Phases are those of the whole process, and
// begin and end with a barrier; what the busiest rank computes and sends is reported beside them.
#include <malloc.h>
#include <time.h>

#include <algorithm>

#include "handles/handle_parts.h"
#include "nmb/ranks.h"
#include "nmb/reader.h"
#include "nmb_backend.h"
#include "objects.h"
#include "parallel/communicator.h"

namespace nmb::bench {

namespace {

double thread_cpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct OfRank {
  double cpu = 0;  // seconds in phases
  Traffic traffic{};
};

// One rank's side of the phases of a kernel.
class Phases {
 public:
  Phases(Run& run, Ranks& ranks) : run_(run), ranks_(ranks) {
    ranks.barrier();
    if (ranks.rank() == 0) run.meter.start();
    ranks.barrier();
    before_ = communicator(ranks).traffic();
    begin_ = thread_cpu();
  }
  void end(const std::string& name) {
    of_rank_.cpu += thread_cpu() - begin_;
    const Traffic now = communicator(ranks_).traffic();
    of_rank_.traffic.messages += now.messages - before_.messages;
    of_rank_.traffic.bytes += now.bytes - before_.bytes;
    ranks_.barrier();
    if (ranks_.rank() == 0) run_.meter.phase(name);
    ranks_.barrier();
    before_ = communicator(ranks_).traffic();
    begin_ = thread_cpu();
  }
  const OfRank& of_rank() const { return of_rank_; }

 private:
  Run& run_;
  Ranks& ranks_;
  OfRank of_rank_;
  Traffic before_{};
  double begin_ = 0;
};

void report(Run& run, const std::vector<OfRank>& ranks) {
  OfRank most;
  double cpu = 0;
  for (const OfRank& rank : ranks) {
    cpu += rank.cpu;
    most.cpu = std::max(most.cpu, rank.cpu);
    most.traffic.messages = std::max(most.traffic.messages, rank.traffic.messages);
    most.traffic.bytes = std::max(most.traffic.bytes, rank.traffic.bytes);
  }
  run.row["of_ranks"] = {{"threads", ranks.size()},
                         {"cpu_mean", cpu / static_cast<double>(ranks.size())},
                         {"cpu_most", most.cpu},
                         {"messages_most", most.traffic.messages},
                         {"sent_bytes_most", most.traffic.bytes}};
}

void create(Run& run, int threads) {
  const std::uint64_t samples = run.job.number("samples", usual_samples(Shape::kSamples));
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  std::vector<Description> objects;
  for (int rank = 0; rank < threads; ++rank)
    objects.push_back(
        describe(Shape::kSamples, Samples::share(samples, rank, threads, false), false));
  std::vector<OfRank> of_ranks(objects.size());
  run_threads(threads, [&](Ranks& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    Phases phases(run, ranks);
    FileWriterOptions options;
    options.sync = false;
    options.overwrite = true;
    const auto writer = check(FileWriter::create(run.path, options, communicator(ranks)));
    define_objects(*writer, objects[rank]);
    phases.end("create");
    check(writer->end_define());
    phases.end("end_define");
    check(writer->close());
    phases.end("close");
    of_ranks[rank] = phases.of_rank();
  });
  report(run, of_ranks);
  if (!verify) return;
  MetadataSum expected;
  for (const Description& one : objects) expected.add(sum_of(one, false));
  run.backend.open(run.path, run.options, false);
  check_same(run.backend.read_metadata() == expected, "names, types or lengths");
  run.backend.close();
  run.row["verified"] = true;
}

void read_small_arrays(Run& run, int threads) {
  const std::uint64_t bases = run.job.number("bases", 128), zones = run.job.number("zones", 32);
  run.job.check_all_read();
  const std::vector<ArrayShape> shapes = small_arrays(bases, zones);
  std::vector<std::string_view> names;
  std::vector<std::size_t> blocks;  // of each array
  for (const ArrayShape& shape : shapes) {
    if (names.empty() || names.back() != shape.group) names.push_back(shape.group);
    blocks.push_back(names.size() - 1);
  }
  std::vector<OfRank> of_ranks(static_cast<std::size_t>(threads));
  run_threads(threads, [&](Ranks& ranks) {
    std::vector<std::vector<std::byte>> values;  // of each array
    for (const ArrayShape& shape : shapes)
      values.emplace_back(shape.lengths[0] * element_size(shape.element));
    Phases phases(run, ranks);
    const Reader reader(run.path, ranks);
    const std::vector<BlockView> views = reader.open_blocks(names);
    phases.end("open");
    for (std::size_t i = 0; i < shapes.size(); ++i)
      views[blocks[i]]
          .var(shapes[i].name)
          .read_same({{0}, shapes[i].lengths, {}},
                     MutableArray(memory_type_of(shapes[i].element), values[i]));
    phases.end("read");
    for (std::size_t i = 0; i < shapes.size(); ++i)
      check_same(values[i] == values_of_small_array(shapes[i], i), shapes[i].name);
    of_ranks[static_cast<std::size_t>(ranks.rank())] = phases.of_rank();
  });
  report(run, of_ranks);
  run.row["verified"] = true;
}

}  // namespace

void run_thread_kernel(Run& run) {
  if (run.size > 1) throw Refused("ranks are threads of one process");
  const auto threads = static_cast<int>(run.job.number("threads", 2));
  mallopt(M_ARENA_MAX, 1);  // mallinfo2() counts one arena
  run.job.text("kernel") == "thread_create" ? create(run, threads)
                                            : read_small_arrays(run, threads);
}

}  // namespace nmb::bench
