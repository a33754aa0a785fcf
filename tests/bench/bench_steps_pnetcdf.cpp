// bench_steps_pnetcdf: the growing blocks of bench_steps with PnetCDF, as variables of one dataset.
// Its ncmpi_sync_numrecs() writes the number of records; no commit is atomic.
#include <mpi.h>
#include <pnetcdf.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "create_report.h"
#include "time_steps.h"

namespace nmb::bench {

namespace {

void check(int status) {
  if (status != NC_NOERR) throw std::runtime_error(ncmpi_strerror(status));
}

void run(const TimeSteps& work, int rank, int size) {
  const std::uint64_t first = work.first(rank, size), behind = work.first(rank + 1, size);
  MPI_Barrier(MPI_COMM_WORLD);
  const PeakMemory memory;
  CreateReport report;
  int file = 0, dimensions[2];
  check(ncmpi_create(MPI_COMM_WORLD, work.path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                     &file));
  check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]));
  check(ncmpi_def_dim(file, "x", static_cast<MPI_Offset>(work.length), &dimensions[1]));
  for (std::uint64_t i = 0; i < work.blocks; ++i)
    for (std::uint64_t v = 0; v < work.variables; ++v) {
      int id = 0;
      check(ncmpi_def_var(file, ("block" + std::to_string(i) + "_v" + std::to_string(v)).c_str(),
                          NC_DOUBLE, 2, dimensions, &id));
    }
  check(ncmpi_enddef(file));
  report.phase("define");
  StepSeconds commits;
  std::vector<double> values((behind - first) * work.record_values());
  for (std::uint64_t step = 0; step < work.steps; ++step) {
    TimeSteps::fill(step, &values);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now().wall;
    const MPI_Offset begin[] = {static_cast<MPI_Offset>(step), 0};
    const MPI_Offset count[] = {1, static_cast<MPI_Offset>(work.length)};
    std::vector<int> requests;
    for (std::size_t i = 0; i < values.size() / work.length; ++i) {
      requests.push_back(0);
      check(ncmpi_iput_vara_double(file, static_cast<int>(first * work.variables + i), begin, count,
                                   values.data() + i * work.length, &requests.back()));
    }
    check(ncmpi_wait_all(file, static_cast<int>(requests.size()), requests.data(), nullptr));
    check(ncmpi_sync_numrecs(file));
    commits.add(now().wall - start);
  }
  report.phase("steps");
  check(ncmpi_close(file));
  MPI_Barrier(MPI_COMM_WORLD);
  report.phase("close");
  report.finish(memory.megabytes());
  commits.add_to(report, "step");
  const CreateNumbers numbers = report.numbers({});
  std::vector<CreateNumbers> of_ranks(static_cast<std::size_t>(size));
  MPI_Gather(&numbers, sizeof numbers, MPI_BYTE, of_ranks.data(), sizeof numbers, MPI_BYTE, 0,
             MPI_COMM_WORLD);
  for (std::size_t i = 1; i < of_ranks.size(); ++i)
    of_ranks[0] = CreateNumbers::of(of_ranks[0], of_ranks[i]);
  if (rank == 0) report.print(work.path, of_ranks[0]);
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
  CLI::App app("Grows variables step by step, with PnetCDF.", "bench_steps_pnetcdf");
  nmb::bench::TimeSteps work;
  work.add_to(app);
  app.set_version_flag("--version", ncmpi_inq_libvers());
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    nmb::bench::run(work, rank, size);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_steps_pnetcdf: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_steps_pnetcdf: %s\n", error.what());
  return 2;
}
