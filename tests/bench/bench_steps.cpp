// bench_steps: blocks that grow by a record between commits, or new blocks in each step, under
// mpiexec, with libnmb. One line of JSON: seconds of the slowest rank, of early and late steps.
#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "create_report.h"
#include "parallel/communicator.h"
#include "time_steps.h"
#include "writer/file_writer.h"

namespace nmb::bench {

namespace {

Result<BlockId> define(FileWriter& writer, const TimeSteps& work, const std::string& name,
                       bool records) {
  NMB_ASSIGN(const BlockId block, writer.define_block(name));
  std::vector<DimId> dimensions;
  if (records) {
    NMB_ASSIGN(const DimId time, writer.def_dim(block, "time", kUnlimited));
    dimensions.push_back(time);
  }
  NMB_ASSIGN(const DimId x, writer.def_dim(block, "x", work.length));
  dimensions.push_back(x);
  for (std::uint64_t v = 0; v < work.variables; ++v)
    NMB_TRY(writer.def_var(block, "v" + std::to_string(v), Type::kDouble, dimensions).status());
  return block;
}

Status put(FileWriter& writer, const TimeSteps& work, BlockId block, std::span<const double> values,
           const std::optional<std::uint64_t>& record) {
  for (std::uint64_t v = 0; v < work.variables; ++v) {
    const std::span<const double> own = values.subspan(v * work.length, work.length);
    const Hyperslab slab =
        record ? Hyperslab{{*record, 0}, {1, work.length}, {}} : Hyperslab{{0}, {work.length}, {}};
    NMB_TRY(writer.put(block, static_cast<VarId>(v), slab, own));
  }
  return {};
}

// Blocks that grow.
Status grow(const TimeSteps& work, FileWriter& writer, Communicator& ranks, CreateReport* report,
            StepSeconds* commits) {
  const std::uint64_t first = work.first(ranks.rank(), ranks.size());
  const std::uint64_t behind = work.first(ranks.rank() + 1, ranks.size());
  std::vector<BlockId> blocks;
  for (std::uint64_t i = first; i < behind; ++i) {
    NMB_ASSIGN(const BlockId block, define(writer, work, "block" + std::to_string(i), true));
    blocks.push_back(block);
  }
  NMB_TRY(writer.end_define());
  NMB_TRY(writer.sync());
  report->phase("define");
  std::vector<double> values(blocks.size() * work.record_values());
  for (std::uint64_t step = 0; step < work.steps; ++step) {
    TimeSteps::fill(step, &values);
    NMB_TRY(ranks.barrier());
    const double start = now().wall;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      NMB_TRY(put(writer, work, blocks[i],
                  std::span(values).subspan(i * work.record_values(), work.record_values()), step));
    NMB_TRY(writer.sync());
    commits->add(now().wall - start);
  }
  report->phase("steps");
  return {};
}

// New blocks in each step. `defines`: what end_define() takes.
Status create(const TimeSteps& work, FileWriter& writer, Communicator& ranks, CreateReport* report,
              StepSeconds* commits, StepSeconds* defines) {
  std::vector<double> values(work.record_values());
  report->phase("define");
  for (std::uint64_t step = 0; step < work.steps; ++step) {
    TimeSteps::fill(step, &values);
    NMB_TRY(ranks.barrier());
    const double start = now().wall;
    if (step > 0) NMB_TRY(writer.redefine());
    std::vector<BlockId> blocks;
    for (std::uint64_t i = 0; i < work.blocks; ++i) {
      NMB_ASSIGN(const BlockId block,
                 define(writer, work,
                        "step" + std::to_string(step) + "/rank" + std::to_string(ranks.rank()) +
                            "/" + std::to_string(i),
                        false));
      blocks.push_back(block);
    }
    const double defined = now().wall;
    NMB_TRY(writer.end_define());
    defines->add(now().wall - defined);
    for (const BlockId block : blocks) NMB_TRY(put(writer, work, block, values, {}));
    NMB_TRY(writer.sync());
    commits->add(now().wall - start);
  }
  report->phase("steps");
  return {};
}

Status run(const TimeSteps& work, bool fresh, bool durable, Communicator& ranks) {
  FileWriterOptions options;
  options.overwrite = true;
  options.sync = durable;
  NMB_TRY(ranks.barrier());
  const PeakMemory memory;
  CreateReport report;
  StepSeconds commits, defines;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(work.path, options, ranks));
  NMB_TRY(fresh ? create(work, *writer, ranks, &report, &commits, &defines)
                : grow(work, *writer, ranks, &report, &commits));
  NMB_TRY(writer->close());
  report.phase("close");
  report.finish(memory.megabytes());
  commits.add_to(report, "step");
  if (fresh) defines.add_to(report, "end_define");
  report.add(writer->report());
  NMB_ASSIGN(const CreateNumbers all, ranks.all_reduce(report.numbers({}), CreateNumbers::of));
  if (ranks.rank() == 0) report.print(work.path, all);
  return {};
}

Status run(const TimeSteps& work, bool fresh, bool durable) {
  const std::optional<MpiLibrary> library = launched_by();
  if (!library) return Status(Code::kUsage, "found no launcher of MPI, expected mpiexec");
  NMB_ASSIGN(const std::unique_ptr<Communicator> ranks, open_mpi_ranks(*library));
  const Status status = run(work, fresh, durable, *ranks);
  if (!status.ok()) ranks->fail(status);
  return status;
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
  CLI::App app("Commits blocks step by step, with libnmb.", "bench_steps");
  nmb::bench::TimeSteps work;
  work.add_to(app);
  bool fresh = false, durable = false;
  app.add_flag("--new", fresh, "new blocks in each step; else the same blocks grow by a record");
  app.add_flag("--sync", durable, "wait for the device at each commit");
  CLI11_PARSE(app, argc, argv);
  const nmb::Status status = nmb::bench::run(work, fresh, durable);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_steps: %s\n", status.in_file(work.path).text().c_str());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_steps: %s\n", error.what());
  return 2;
}
