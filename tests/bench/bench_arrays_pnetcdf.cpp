// bench_arrays_pnetcdf: the work of bench_arrays with PnetCDF.
#include <mpi.h>
#include <pnetcdf.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "array_steps.h"
#include "create_report.h"

namespace nmb::bench {

namespace {

void check(int status) {
  if (status != NC_NOERR) throw std::runtime_error(ncmpi_strerror(status));
}

void put_step(int file, const ArraySteps& work, std::uint64_t step, const ArraySteps::Part& part,
              const std::vector<std::vector<float>>& values) {
  std::vector<MPI_Offset> start{static_cast<MPI_Offset>(step)}, count{1};
  start.insert(start.end(), part.start.begin(), part.start.end());
  count.insert(count.end(), part.count.begin(), part.count.end());
  std::vector<int> requests;
  for (std::size_t v = 0; v < work.variables; ++v) {
    const int id = static_cast<int>(v);
    if (work.way == Way::kPut) {
      check(ncmpi_put_vara_float(file, id, start.data(), count.data(), values[v].data()));
    } else if (work.way == Way::kPutAll) {
      check(ncmpi_put_vara_float_all(file, id, start.data(), count.data(), values[v].data()));
    } else {
      requests.push_back(0);
      check(ncmpi_iput_vara_float(file, id, start.data(), count.data(), values[v].data(),
                                  &requests.back()));
    }
  }
  if (work.way == Way::kWaitAll)
    check(ncmpi_wait_all(file, static_cast<int>(requests.size()), requests.data(), nullptr));
}

void run(const ArraySteps& work, int rank, int size) {
  const ArraySteps::Part part = work.part(rank, size);
  std::vector<std::vector<float>> values(work.variables);
  for (std::uint64_t v = 0; v < work.variables; ++v) work.fill(0, v, part, &values[v]);
  MPI_Barrier(MPI_COMM_WORLD);
  const PeakMemory memory;
  CreateReport report;
  int file = 0;
  check(ncmpi_create(MPI_COMM_WORLD, work.path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                     &file));
  std::vector<int> dimensions;
  for (const auto& [name, length] :
       {std::pair("time", std::uint64_t{NC_UNLIMITED}), std::pair("z", work.z),
        std::pair("y", work.y), std::pair("x", work.x)}) {
    dimensions.push_back(0);
    check(ncmpi_def_dim(file, name, static_cast<MPI_Offset>(length), &dimensions.back()));
  }
  for (std::uint64_t v = 0; v < work.variables; ++v) {
    int id = 0;
    check(ncmpi_def_var(file, ("f" + std::to_string(v)).c_str(), NC_FLOAT, 4, dimensions.data(),
                        &id));
  }
  check(ncmpi_enddef(file));
  report.phase("define");
  if (work.way == Way::kPut) check(ncmpi_begin_indep_data(file));
  for (std::uint64_t step = 0; step < work.steps; ++step) put_step(file, work, step, part, values);
  report.phase("put");
  check(ncmpi_close(file));
  MPI_Barrier(MPI_COMM_WORLD);
  report.phase("close");
  report.finish(memory.megabytes());
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
  CLI::App app("Writes arrays that ranks share, with PnetCDF.", "bench_arrays_pnetcdf");
  nmb::bench::ArraySteps work;
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
    std::fprintf(stderr, "bench_arrays_pnetcdf: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_arrays_pnetcdf: %s\n", error.what());
  return 2;
}
