// bench_independent_pnetcdf: independent puts and gets with PnetCDF, by itself or by nmb-run.
//
//   bench_independent_pnetcdf small FILE [COUNT]      COUNT puts, then gets, of 4 values (1,000,000), by all ranks together
//   bench_independent_pnetcdf append FILE [MB]        each rank appends MB of records (2,000), 4 MB at a time
//   bench_independent_pnetcdf overwrite FILE [TIMES]  each rank overwrites 40 MB after each of TIMES syncs (50)
//
// Prints seconds, the largest memory of a rank above that at the start, and the length of the file.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static int rank, ranks;

static void check(int code, const char* call) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, call, ncmpi_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 2);
}

// The seconds since the last call, of the slowest rank.
static double lap(void) {
  static double last;
  MPI_Barrier(MPI_COMM_WORLD);
  const double now = MPI_Wtime(), seconds = now - last;
  last = now;
  return seconds;
}

static double peak_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double own = (double)usage.ru_maxrss / 1e3, highest;
  MPI_Allreduce(&own, &highest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return highest;
}

// Makes a file with one variable of `rows` x `columns` values; no rows: a record variable. Begins independent mode.
static int create(const char* path, MPI_Offset rows, MPI_Offset columns) {
  int file, dims[2], variable;
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "create");
  check(ncmpi_def_dim(file, "row", rows ? rows : NC_UNLIMITED, &dims[0]), "def_dim");
  check(ncmpi_def_dim(file, "column", columns, &dims[1]), "def_dim");
  check(ncmpi_def_var(file, "v", NC_INT, 2, dims, &variable), "def_var");
  check(ncmpi_enddef(file), "enddef");
  check(ncmpi_begin_indep_data(file), "begin_indep_data");
  return file;
}

static void small(const char* path, MPI_Offset puts) {
  const MPI_Offset own = puts / ranks, count[2] = {1, 4};
  const int file = create(path, own * ranks, 4);
  lap();
  for (MPI_Offset i = 0; i < own; ++i) {
    const MPI_Offset start[2] = {rank * own + i, 0};
    const int values[4] = {(int)i, rank, 2, 3};
    check(ncmpi_put_vara_int(file, 0, start, count, values), "put_vara_int");
  }
  const double put = lap();
  for (MPI_Offset i = 0; i < own; ++i) {
    const MPI_Offset start[2] = {rank * own + i, 0};
    int values[4];
    check(ncmpi_get_vara_int(file, 0, start, count, values), "get_vara_int");
    if (values[0] != (int)i || values[1] != rank) check(NC_ERANGE, "a wrong value");
  }
  const double get = lap();
  check(ncmpi_end_indep_data(file), "end_indep_data");
  check(ncmpi_close(file), "close");
  if (rank == 0)
    printf("puts %.3f s (%.0f a second), gets %.3f s (%.0f a second), close %.3f s\n", put, puts / put, get, puts / get, lap());
  else
    lap();
}

static void append(const char* path, int megabytes) {
  enum { kColumns = 1000 * 1000 };  // 4 MB
  const MPI_Offset records = megabytes / 4;
  int* const values = malloc(kColumns * sizeof *values);
  const int file = create(path, 0, (MPI_Offset)kColumns * ranks);
  lap();
  for (MPI_Offset r = 0; r < records; ++r) {
    const MPI_Offset start[2] = {r, (MPI_Offset)kColumns * rank}, count[2] = {1, kColumns};
    for (int i = 0; i < kColumns; ++i) values[i] = (int)r + i;
    check(ncmpi_put_vara_int(file, 0, start, count, values), "put_vara_int");
  }
  const double put = lap();
  check(ncmpi_end_indep_data(file), "end_indep_data");
  check(ncmpi_close(file), "close");
  const double closed = lap();
  if (rank == 0) printf("append %.3f s, close %.3f s\n", put, closed);
  free(values);
}

static void overwrite(const char* path, int times) {
  enum { kColumns = 10 * 1000 * 1000 };  // 40 MB
  int* const values = malloc(kColumns * sizeof *values);
  const int file = create(path, ranks, kColumns);
  lap();
  for (int t = 0; t <= times; ++t) {
    const MPI_Offset start[2] = {rank, 0}, count[2] = {1, kColumns};
    for (int i = 0; i < kColumns; ++i) values[i] = t + i;
    check(ncmpi_put_vara_int(file, 0, start, count, values), "put_vara_int");
    check(ncmpi_sync(file), "sync");
  }
  check(ncmpi_end_indep_data(file), "end_indep_data");
  check(ncmpi_close(file), "close");
  const double all = lap();
  if (rank == 0) printf("overwrite %.3f s\n", all);
  free(values);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) {
    fputs("usage: bench_independent_pnetcdf small|append|overwrite FILE [NUMBER]\n", stderr);
    MPI_Finalize();
    return 2;
  }
  const char* const path = argv[2];
  const double start = peak_megabytes();
  if (strcmp(argv[1], "small") == 0)
    small(path, argc > 3 ? atoll(argv[3]) : 1000000);
  else if (strcmp(argv[1], "append") == 0)
    append(path, argc > 3 ? atoi(argv[3]) : 2000);
  else
    overwrite(path, argc > 3 ? atoi(argv[3]) : 50);
  const double peak = peak_megabytes() - start;
  struct stat status;
  if (rank == 0 && stat(path, &status) == 0)
    printf("memory %.1f MB a rank, file %.1f MB\n", peak, (double)status.st_size / 1e6);
  MPI_Finalize();
  return 0;
}
