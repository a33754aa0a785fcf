// bench_arrays: steps of arrays that processes share under mpiexec, with libnmb. One line of JSON:
// seconds of the slowest rank, CPU seconds of all.
#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array_steps.h"
#include "create_report.h"
#include "parallel/communicator.h"
#include "writer/file_writer.h"

namespace nmb::bench {

namespace {

Status put_step(FileWriter& writer, BlockId block, const ArraySteps& work, std::uint64_t step,
                const ArraySteps::Part& part, const std::vector<std::vector<float>>& values) {
  Hyperslab slab{{step}, {1}, {}};
  slab.start.insert(slab.start.end(), part.start.begin(), part.start.end());
  slab.count.insert(slab.count.end(), part.count.begin(), part.count.end());
  std::vector<RequestId> requests;
  if (work.way == Way::kPut) NMB_TRY(writer.extend(block, step + 1));
  for (VarId v = 0; v < work.variables; ++v) {
    const std::span<const float> own = values[v];
    if (work.way == Way::kPut) {
      NMB_TRY(writer.put(block, v, slab, own));
    } else if (work.way == Way::kPutAll) {
      NMB_TRY(writer.put_all(block, v, slab, own));
    } else {
      NMB_ASSIGN(const RequestId request, writer.iput(block, v, slab, own));
      requests.push_back(request);
    }
  }
  return work.way == Way::kWaitAll ? writer.wait_all(requests) : Status();
}

Status run(const ArraySteps& work, Communicator& ranks) {
  const ArraySteps::Part part = work.part(ranks.rank(), ranks.size());
  std::vector<std::vector<float>> values(work.variables);
  for (std::uint64_t v = 0; v < work.variables; ++v) work.fill(0, v, part, &values[v]);
  FileWriterOptions options;
  options.overwrite = true;
  options.sync = false;
  NMB_TRY(ranks.barrier());
  const PeakMemory memory;
  CreateReport report;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(work.path, options, ranks));
  NMB_ASSIGN(const BlockId block, writer->define_block("state"));
  std::vector<DimId> dimensions;
  const std::pair<const char*, std::uint64_t> lengths[] = {
      {"time", kUnlimited}, {"z", work.z}, {"y", work.y}, {"x", work.x}};
  for (const auto& [name, length] : lengths) {
    NMB_ASSIGN(const DimId dimension, writer->def_dim(block, name, length));
    dimensions.push_back(dimension);
  }
  for (std::uint64_t v = 0; v < work.variables; ++v)
    NMB_TRY(writer->def_var(block, "f" + std::to_string(v), Type::kFloat, dimensions).status());
  NMB_TRY(writer->end_define());
  report.phase("define");
  for (std::uint64_t step = 0; step < work.steps; ++step)
    NMB_TRY(put_step(*writer, block, work, step, part, values));
  report.phase("put");
  NMB_TRY(writer->close());
  report.phase("close");
  report.finish(memory.megabytes());
  report.add(writer->report());
  NMB_ASSIGN(const CreateNumbers all, ranks.all_reduce(report.numbers({}), CreateNumbers::of));
  if (ranks.rank() == 0) report.print(work.path, all);
  return {};
}

Status run(const ArraySteps& work) {
  const std::optional<MpiLibrary> library = launched_by();
  if (!library) return Status(Code::kUsage, "found no launcher of MPI, expected mpiexec");
  NMB_ASSIGN(const std::unique_ptr<Communicator> ranks, open_mpi_ranks(*library));
  const Status status = run(work, *ranks);
  if (!status.ok()) ranks->fail(status);
  return status;
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
  CLI::App app("Writes arrays that ranks share, with libnmb.", "bench_arrays");
  nmb::bench::ArraySteps work;
  work.add_to(app);
  CLI11_PARSE(app, argc, argv);
  const nmb::Status status = nmb::bench::run(work);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_arrays: %s\n", status.in_file(work.path).text().c_str());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_arrays: %s\n", error.what());
  return 2;
}
