// bench_create_pnetcdf: the work of bench_create with PnetCDF, one process. It has no blocks: the
// names of objects begin with their block's.
#include <mpi.h>
#include <pnetcdf.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <stdexcept>

#include "create_report.h"

namespace nmb::bench {

namespace {

void check(int status) {
  if (status != NC_NOERR) throw std::runtime_error(ncmpi_strerror(status));
}

void create(const Description& description, const std::string& path, const std::string& hash_size) {
  MPI_Info info = MPI_INFO_NULL;
  if (!hash_size.empty()) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_hash_size_dim", hash_size.c_str());
    MPI_Info_set(info, "nc_hash_size_var", hash_size.c_str());
  }
  CreateReport report(description);
  int file = 0;
  check(ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file));
  std::string name;  // PnetCDF wants a NUL
  std::size_t dimension = 0;
  std::vector<int> ids;
  for (const Description::Variable& v : description.variables) {
    ids.clear();
    for (std::uint8_t axis = 0; axis < v.rank; ++axis) {
      const Description::Dimension& d = description.dimensions[dimension++];
      name = description.text(d.name);
      int id = 0;
      check(ncmpi_def_dim(file, name.c_str(), static_cast<MPI_Offset>(d.length), &id));
      ids.push_back(id);
    }
    name = description.text(v.name);
    int id = 0;
    check(ncmpi_def_var(file, name.c_str(), static_cast<nc_type>(v.type), v.rank, ids.data(), &id));
  }
  report.phase("define");
  check(ncmpi_enddef(file));
  report.phase("end_define");
  check(ncmpi_close(file));
  report.phase("close");
  report.finish(path);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
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
  CLI11_PARSE(app, argc, argv);

  if (samples == 0) samples = nmb::bench::usual_samples(shape);
  MPI_Init(&argc, &argv);
  nmb::bench::create(describe(shape, samples * times, true), path, hash_size);
  MPI_Finalize();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_create_pnetcdf: %s\n", error.what());
  return 2;
}
