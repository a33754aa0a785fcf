// time_steps FILE: the processes of an MPI job write a field step by step. Uses PnetCDF.
#include <limits.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSteps = 5, kColumns = 100 };
static const char* path;
static int file = -1, rank, ranks;

// If any rank has a reason to stop, prints the reason of the lowest such rank and ends the program.
static void check_reason(const char* reason) {
  const int mine = reason ? rank : INT_MAX;
  int first;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == INT_MAX) return;
  char text[256];
  if (rank == first) snprintf(text, sizeof text, "%s", reason);
  MPI_Bcast(text, sizeof text, MPI_CHAR, first, MPI_COMM_WORLD);
  fprintf(stderr, "%s: %s\n", path, text);
  if (file != -1) ncmpi_close(file);
  MPI_Finalize();
  exit(1);
}

static void check(int status) { check_reason(status == NC_NOERR ? NULL : ncmpi_strerror(status)); }

// Computes the tile of this rank. Returns the reason if it cannot.
static const char* solve(int step, double* tile) {
  if (step == 3 && rank == 1) return "my solver diverged";
  for (int i = 0; i < kColumns; ++i) tile[i] = step * 1000 + rank * kColumns + i;
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2) {
    fprintf(stderr, "usage: mpiexec -n RANKS time_steps FILE\n");
    MPI_Finalize();
    return 2;
  }
  path = argv[1];
  int dims[2], pressure;
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  check(ncmpi_def_dim(file, "column", (MPI_Offset)ranks * kColumns, &dims[1]));
  check(ncmpi_def_var(file, "pressure", NC_DOUBLE, 2, dims, &pressure));
  check(ncmpi_enddef(file));
  for (int step = 0; step < kSteps; ++step) {
    double tile[kColumns];
    check_reason(solve(step, tile));
    const MPI_Offset start[] = {step, (MPI_Offset)rank * kColumns}, count[] = {1, kColumns};
    check(ncmpi_put_vara_double_all(file, pressure, start, count, tile));
    check(ncmpi_sync(file));
  }
  check(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
