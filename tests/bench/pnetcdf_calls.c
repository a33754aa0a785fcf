/* What one rank puts and gets by itself, with the calls of PnetCDF; run it also by nmb-run:
 *
 *   pnetcdf_calls small FILE CALLS    each rank puts CALLS times 8 doubles at random places of its
 * part, and gets as many pnetcdf_calls append FILE MB      each rank appends records of 64 KiB, MB
 * megabytes in all pnetcdf_calls again FILE SYNCS    all ranks overwrite 40 MB before each of SYNCS
 * syncs
 *
 * Prints seconds, megabytes of the largest rank (since the file was created; VmHWM) and the size of
 * the file. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int rank, ranks;

static void check(int code, const char* call) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, call, ncmpi_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 2);
}
#define CHECK(call) check(call, #call)

/* The most memory that this process has had since the last call with `again`, in megabytes. */
static double peak(int again) {
  char line[256];
  long kilobytes = 0;
  if (again) {
    FILE* const reset = fopen("/proc/self/clear_refs", "w");
    if (reset) fputs("5", reset), fclose(reset);
  }
  FILE* const status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1) break;
  fclose(status);
  return (double)kilobytes / 1000;
}

static double last;
/* Returns the seconds of all ranks since the last call. */
static double lap(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double now = MPI_Wtime(), seconds = now - last;
  last = now;
  return seconds;
}

static void finish(const char* path, double before) {
  double more = peak(0) - before;
  MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  struct stat info = {0};
  stat(path, &info);
  if (rank == 0)
    printf("  %.1f MB of the largest rank, file of %.1f MB\n", more, (double)info.st_size / 1e6);
}

enum { kElements = 8, kRecord = 64 << 10 };

static void small(const char* path, long calls) {
  int file, dim, id;
  const MPI_Offset own = 1 << 20; /* elements of each rank */
  CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  CHECK(ncmpi_def_dim(file, "x", own * ranks, &dim));
  CHECK(ncmpi_def_var(file, "v", NC_DOUBLE, 1, &dim, &id));
  CHECK(ncmpi_enddef(file));
  CHECK(ncmpi_begin_indep_data(file));
  double values[kElements];
  const MPI_Offset count = kElements;
  for (int get = 0; get < 2; ++get) {
    unsigned long long random = 88172645463325252ULL + (unsigned)rank;
    lap();
    for (long i = 0; i < calls; ++i) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      const MPI_Offset start = rank * own + (MPI_Offset)(random % (own / kElements)) * kElements;
      if (get) {
        CHECK(ncmpi_get_vara_double(file, id, &start, &count, values));
      } else {
        for (int k = 0; k < kElements; ++k) values[k] = (double)(start + k);
        CHECK(ncmpi_put_vara_double(file, id, &start, &count, values));
      }
      if (get && values[kElements - 1] != (double)(start + kElements - 1))
        check(NC_EINVAL, "a wrong value");
    }
    const double seconds = lap();
    if (rank == 0)
      printf("%ss: %.3f s, %.0f a second of each rank\n", get ? "get" : "put", seconds,
             (double)calls / seconds);
  }
  CHECK(ncmpi_close(file));
  const double closed = lap();
  if (rank == 0) printf("close: %.3f s\n", closed);
}

static void append(const char* path, long megabytes) {
  int file, dims[2], id;
  CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  CHECK(ncmpi_def_dim(file, "t", NC_UNLIMITED, &dims[0]));
  CHECK(ncmpi_def_dim(file, "x", kRecord, &dims[1]));
  CHECK(ncmpi_def_var(file, "v", NC_UBYTE, 2, dims, &id));
  CHECK(ncmpi_enddef(file));
  CHECK(ncmpi_begin_indep_data(file));
  unsigned char* const bytes = malloc(kRecord);
  lap();
  for (long i = 0; i < megabytes * 1000000L / kRecord; ++i) {
    const MPI_Offset start[2] = {i * ranks + rank, 0}, count[2] = {1, kRecord};
    memset(bytes, (int)(start[0] % 251), kRecord);
    CHECK(ncmpi_put_vara_uchar(file, id, start, count, bytes));
  }
  const double put = lap();
  CHECK(ncmpi_end_indep_data(file));
  CHECK(ncmpi_close(file));
  const double closed = lap();
  if (rank == 0) printf("puts: %.3f s, close: %.3f s\n", put, closed);
  free(bytes);
}

static void again(const char* path, long syncs) {
  int file, dim, id;
  const MPI_Offset all = 5000000, start = all * rank / ranks,
                   count = all * (rank + 1) / ranks - start;
  CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  CHECK(ncmpi_def_dim(file, "x", all, &dim));
  CHECK(ncmpi_def_var(file, "v", NC_DOUBLE, 1, &dim, &id));
  CHECK(ncmpi_enddef(file));
  double* const values = malloc((size_t)count * sizeof(double));
  lap();
  for (long i = 0; i < syncs; ++i) {
    for (MPI_Offset k = 0; k < count; ++k) values[k] = (double)(start + k + i);
    /* Every other time by each rank alone. */
    if (i % 2 == 0) {
      CHECK(ncmpi_put_vara_double_all(file, id, &start, &count, values));
    } else {
      CHECK(ncmpi_begin_indep_data(file));
      CHECK(ncmpi_put_vara_double(file, id, &start, &count, values));
      CHECK(ncmpi_end_indep_data(file));
    }
    CHECK(ncmpi_sync(file));
  }
  CHECK(ncmpi_close(file));
  const double seconds = lap();
  if (rank == 0) printf("puts and syncs: %.3f s\n", seconds);
  free(values);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4) {
    fprintf(stderr, "usage: pnetcdf_calls small|append|again FILE NUMBER\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const double before = peak(1);
  const long number = atol(argv[3]);
  if (!strcmp(argv[1], "small"))
    small(argv[2], number);
  else if (!strcmp(argv[1], "append"))
    append(argv[2], number);
  else
    again(argv[2], number);
  finish(argv[2], before);
  MPI_Finalize();
  return 0;
}
