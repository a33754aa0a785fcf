// faults: what PnetCDF's calls return when writes fail, and what is in the file afterwards.
//
//   faults FILE write    for each N: the Nth write of a session fails, on one rank after the other, once or from then on
//   faults FILE full     values are put until the disk is full
//   faults FILE die      rank 1 is killed before it closes the file
//   faults FILE check N  the file must have N committed sessions (after `die`)
//
// In all of them, a collective call must return the same code on all ranks, and the file must have the values of its last
// commit. Run by nmb-run, with a FILE that ends in .nmb. Prints one line; returns 1 if something is wrong.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kLength = 5000 };  // values of a rank

static int rank, ranks, problems;

// --- writes that fail: this program's pwrite() comes ahead of the C library's ---

static int armed, writes, first_to_fail, fails_on, error_number;

static ssize_t write_or_fail(int file, const void* bytes, size_t size, off_t at) {
  if (armed) {
    const int number = writes++;
    if (number == first_to_fail || (number > first_to_fail && fails_on)) {
      errno = error_number;
      return -1;
    }
  }
  return syscall(SYS_pwrite64, file, bytes, size, at);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) { return write_or_fail(file, bytes, size, at); }
ssize_t pwrite64(int file, const void* bytes, size_t size, off_t at) { return write_or_fail(file, bytes, size, at); }

static void problem(const char* what, int a, int b) {
  if (problems++ < 10) fprintf(stderr, "rank %d: %s (%d, %d)\n", rank, what, a, b);
}

// Checks that all ranks have the same code, and returns it.
static int same(const char* call, int code) {
  int lowest, highest;
  MPI_Allreduce(&code, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (lowest != highest) problem(call, code, lowest == code ? highest : lowest);
  return lowest;
}

static int put(int file, int session) {
  const MPI_Offset start = (MPI_Offset)rank * kLength, count = kLength;
  int values[kLength];
  for (int i = 0; i < kLength; ++i) values[i] = session * 1000000 + rank * kLength + i;
  return same("put_vara_int_all", ncmpi_put_vara_int_all(file, 0, &start, &count, values));
}

static int create(const char* path) {
  int file, dim, variable;
  int code = same("create", ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  if (code) return code;
  ncmpi_def_dim(file, "x", (MPI_Offset)ranks * kLength, &dim);
  ncmpi_def_var(file, "v", NC_INT, 1, &dim, &variable);
  code = same("enddef", ncmpi_enddef(file));
  if (!code) code = put(file, 1);
  const int closed = same("close", ncmpi_close(file));
  return code ? code : closed;
}

// Two more sessions: the second is committed by sync(), the third by close(). *committed: how many sessions are. Returns the
// first failure.
static int change(const char* path, int* committed, int dies) {
  int file, variable;
  int code = same("open", ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &file));
  if (code) return code;
  int first = same("redef", ncmpi_redef(file));
  if (!first) {
    const int dim = 0;
    char name[32];
    snprintf(name, sizeof name, "w%d", *committed);
    ncmpi_def_var(file, name, NC_DOUBLE, 1, &dim, &variable);
    first = same("enddef", ncmpi_enddef(file));
  }
  if (!first) first = put(file, *committed + 1);
  if (!first) {
    first = same("sync", ncmpi_sync(file));
    if (!first) ++*committed;
  }
  if (!first) first = put(file, *committed + 1);
  if (dies && rank == ranks - 1) kill(getpid(), SIGKILL);
  const int closed = same("close", ncmpi_close(file));
  if (!first && !closed) ++*committed;
  return first ? first : closed;
}

// The file must have the values of session `least`, or of a later one up to `most`. Returns which.
static int check(const char* path, int least, int most) {
  int file, session = 0;
  const int code = same("open of what is committed", ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  if (code) {
    problem("the committed file does not open", code, least);
    return 0;
  }
  const MPI_Offset start = (MPI_Offset)rank * kLength, count = kLength;
  int values[kLength] = {0};
  const int got = same("get_vara_int_all", ncmpi_get_vara_int_all(file, 0, &start, &count, values));
  session = values[0] / 1000000;
  if (got) problem("values cannot be read", got, least);
  if (session < least || session > most) problem("values of another session", session, least);
  for (int i = 0; i < kLength; ++i)
    if (values[i] != session * 1000000 + rank * kLength + i) {
      problem("a wrong value", values[i], session);
      break;
    }
  same("session", session);
  same("close", ncmpi_close(file));
  return session;
}

static void each_write(const char* path) {
  int failures = 0, all = 0;
  for (int victim = 0; victim < ranks; ++victim)
    for (int kind = 0; kind < 2; ++kind) {  // EIO once; ENOSPC from then on
      for (int n = 0;; n += 1 + n / 4) {
        if (create(path)) problem("create", n, victim);
        writes = 0, first_to_fail = n, fails_on = kind > 0, error_number = kind ? ENOSPC : EIO;
        int committed = 1;
        armed = rank == victim;
        const int code = change(path, &committed, 0);
        armed = 0;
        int reached = rank == victim ? writes > n : 0;
        MPI_Bcast(&reached, 1, MPI_INT, victim, MPI_COMM_WORLD);
        if (reached) ++all, failures += code != 0;
        if (reached && kind == 1 && code == 0) problem("a full disk went unnoticed", n, victim);
        if (kind == 1 && code != 0 && code != NC_ENO_SPACE) problem("not the code of a full disk", code, n);
        // What a failed commit has written may be complete.
        check(path, committed, code ? committed + 1 : committed);
        if (!reached || n > 200) break;
      }
    }
  if (failures == 0) problem("no write failed", all, 0);
  if (rank == 0) printf("%d faults, %d failures\n", all, failures);
}

static void fill_disk(const char* path) {
  if (create(path)) problem("create", 0, 0);
  int committed = 1, code = 0, steps = 0;
  while (!code && steps++ < 1000) code = change(path, &committed, 0);
  if (code != NC_ENO_SPACE) problem("not the code of a full disk", code, steps);
  check(path, committed, committed + 1);
  if (rank == 0) printf("full after %d sessions: %s\n", committed, ncmpi_strerrno(code));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return 2;
  int committed = 1;
  if (strcmp(argv[2], "write") == 0) {
    each_write(argv[1]);
  } else if (strcmp(argv[2], "full") == 0) {
    fill_disk(argv[1]);
  } else if (strcmp(argv[2], "die") == 0) {
    if (create(argv[1])) problem("create", 0, 0);
    change(argv[1], &committed, 1);
  } else if (argc > 3) {
    check(argv[1], atoi(argv[3]), atoi(argv[3]));
    if (rank == 0) printf("checked\n");
  }
  int all = 0;
  MPI_Allreduce(&problems, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
