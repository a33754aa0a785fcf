// bench_create_pnetcdf: the work of bench_create with PnetCDF, by one process or, under mpiexec, by
// several. It has no blocks: the names of objects begin with their block's. Definitions are
// collective, so each rank learns the shares of all and defines everything ("Parallel Data Object
// Creation", section 2.2: the application-level baseline).
#include <mpi.h>
#include <pnetcdf.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <numeric>
#include <stdexcept>

#include "create_report.h"

namespace nmb::bench {

namespace {

void check(int status) {
  if (status != NC_NOERR) throw std::runtime_error(ncmpi_strerror(status));
}

// All ranks' items, in order of ranks. starts: where each rank's begin.
template <class Items>
Items gather(const Items& mine, int size, std::vector<int>* starts) {
  constexpr std::size_t kItem = sizeof mine[0];
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(size)), offsets(counts.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  Items all;
  all.resize(static_cast<std::size_t>(offsets.back() + counts.back()));
  MPI_Datatype type;
  MPI_Type_contiguous(kItem, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), offsets.data(), type,
                 MPI_COMM_WORLD);
  MPI_Type_free(&type);
  *starts = std::move(offsets);
  return all;
}

Description gather(const Description& mine, int size) {
  Description all;
  std::vector<int> texts, dimensions, variables;
  all.heap = gather(mine.heap, size, &texts);
  all.dimensions = gather(mine.dimensions, size, &dimensions);
  all.variables = gather(mine.variables, size, &variables);
  auto place_names = [&](auto& items, const std::vector<int>& starts) {
    for (std::size_t rank = 0; rank < starts.size(); ++rank) {
      const auto end =
          rank + 1 < starts.size() ? static_cast<std::size_t>(starts[rank + 1]) : items.size();
      for (auto i = static_cast<std::size_t>(starts[rank]); i < end; ++i)
        items[i].name.place += static_cast<std::uint32_t>(texts[rank]);
    }
  };
  place_names(all.dimensions, dimensions);
  place_names(all.variables, variables);
  return all;
}

void define_all(int file, const Description& description) {
  define_flat(
      description,
      [&](const char* name, std::uint64_t length) {
        int id = 0;
        check(ncmpi_def_dim(file, name, static_cast<MPI_Offset>(length), &id));
        return id;
      },
      [&](const Description::Variable& v, const char* name, const std::vector<int>& dims) {
        int id = 0;
        check(ncmpi_def_var(file, name, static_cast<nc_type>(v.type), v.rank, dims.data(), &id));
      });
}

void create(const Description& mine, int rank, int size, const std::string& path,
            const std::string& hash_size) {
  MPI_Info info = MPI_INFO_NULL;
  if (!hash_size.empty()) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_hash_size_dim", hash_size.c_str());
    MPI_Info_set(info, "nc_hash_size_var", hash_size.c_str());
  }
  const PeakMemory memory;
  MPI_Barrier(MPI_COMM_WORLD);
  CreateReport report;
  Description all;
  if (size > 1) {
    all = gather(mine, size);
    report.phase("gather");
  }
  int file = 0;
  check(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file));
  define_all(file, size > 1 ? all : mine);
  report.phase("define");
  check(ncmpi_enddef(file));
  report.phase("end_define");
  check(ncmpi_close(file));
  report.phase("close");
  report.finish(memory.megabytes());
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);

  const CreateNumbers numbers = report.numbers(mine.counts());
  std::vector<CreateNumbers> of_ranks(static_cast<std::size_t>(size));
  MPI_Gather(&numbers, sizeof numbers, MPI_BYTE, of_ranks.data(), sizeof numbers, MPI_BYTE, 0,
             MPI_COMM_WORLD);
  if (rank == 0)
    report.print(path, std::accumulate(of_ranks.begin() + 1, of_ranks.end(), of_ranks[0],
                                       CreateNumbers::of));
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
  using nmb::bench::Samples;
  using nmb::bench::Shape;
  CLI::App app("Creates very many objects with PnetCDF.", "bench_create_pnetcdf");
  std::string path, hash_size;
  Shape shape = Shape::kOne;
  std::uint64_t samples = 0, times = 1;
  app.add_option("FILE", path, "to be written, replaced if there")->required();
  app.add_option("--shape", shape, "one, samples, one-object")
      ->transform(CLI::CheckedTransformer(nmb::bench::kShapes));
  app.add_option("--samples", samples, "default: as many as make 568,480 variables");
  app.add_option("--times", times, "as many again")->check(CLI::Range(1, 100));
  app.add_option("--hash-size", hash_size,
                 "hints nc_hash_size_dim and nc_hash_size_var (1.13 and later)");
  app.set_version_flag("--version", ncmpi_inq_libvers());
  CLI11_PARSE(app, argc, argv);

  if (samples == 0) samples = nmb::bench::usual_samples(shape);
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    nmb::bench::create(describe(shape, Samples::share(samples * times, rank, size, false), true),
                       rank, size, path, hash_size);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_create_pnetcdf: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_create_pnetcdf: %s\n", error.what());
  return 2;
}
