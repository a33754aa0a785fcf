/* Writes a file through netCDF-C, which calls PnetCDF: netcdf_c FILE. Each rank puts its part of
 * three records and gets that of the next rank. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>

static void check(int code, const char* call) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "%s: %s\n", call, nc_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 2);
}
#define CHECK(call) check(call, #call)

enum { kRecords = 3, kOwn = 4 };

int main(int argc, char** argv) {
  int rank, ranks, file, dims[2], id, bad = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(nc_create_par(argv[1], NC_CLOBBER | NC_64BIT_DATA | NC_MPIIO, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &file));
  CHECK(nc_def_dim(file, "t", NC_UNLIMITED, &dims[0]));
  CHECK(nc_def_dim(file, "x", (size_t)(kOwn * ranks), &dims[1]));
  CHECK(nc_def_var(file, "v", NC_DOUBLE, 2, dims, &id));
  CHECK(nc_put_att_text(file, id, "units", 1, "K"));
  CHECK(nc_enddef(file));
  CHECK(nc_var_par_access(file, id, NC_COLLECTIVE));
  size_t start[2] = {0, (size_t)(kOwn * rank)}, count[2] = {1, kOwn};
  double values[kOwn];
  for (; start[0] < kRecords; ++start[0]) {
    for (int i = 0; i < kOwn; ++i) values[i] = (double)(start[0] * 100 + start[1]) + i;
    CHECK(nc_put_vara_double(file, id, start, count, values));
  }
  start[0] = 1, start[1] = (size_t)(kOwn * ((rank + 1) % ranks));
  CHECK(nc_get_vara_double(file, id, start, count, values));
  for (int i = 0; i < kOwn; ++i) bad |= values[i] != (double)(100 + start[1]) + i;
  CHECK(nc_close(file));
  MPI_Finalize();
  return bad;
}
