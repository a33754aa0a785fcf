/* A session of three commits, in which calls that change the file fail:
 *
 *   faults each FOLDER ROWS     each call of each rank fails once, and from then on for ever
 *   faults full FILE ROWS       nothing is made to fail, but there is not room for so many rows of
 * each rank faults die FILE RANK CALL   this rank ends at this call faults check FILE which commit
 * the file has
 *
 * All ranks must get the same code from a collective call. The file must then have what the last
 * commit wrote that succeeded, or what the one that failed wrote, and nothing else. Prints what is
 * not so; exit code 1 then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS 16
#define MOST_CALLS 64

static int rank, ranks;

/* --- calls that fail: the libraries find these functions ahead of those of libc --- */

static const char* folder;       /* calls on files in it are counted; NULL: none */
static long calls, failing = -1; /* the call that fails; -1: none */
static int error, for_ever, dies;

/* Returns whether this call fails, with errno set. */
static int fails(const char* path) {
  if (!folder || strncmp(path, folder, strlen(folder)) != 0) return 0;
  const long number = calls++;
  if (failing < 0 || number < failing || (number > failing && !for_ever)) return 0;
  if (dies) raise(SIGKILL);
  errno = error;
  return 1;
}
static int fails_at(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  return fails(path);
}
#define REAL(result, name, ...)       \
  static result (*real)(__VA_ARGS__); \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, name)
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  REAL(ssize_t, "pwrite", int, const void*, size_t, off_t);
  return fails_at(file) ? -1 : real(file, bytes, size, at);
}
int ftruncate(int file, off_t length) {
  REAL(int, "ftruncate", int, off_t);
  return fails_at(file) ? -1 : real(file, length);
}
int fdatasync(int file) {
  REAL(int, "fdatasync", int);
  return fails_at(file) ? -1 : real(file);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  REAL(int, "linkat", int, const char*, int, const char*, int);
  return fails(to) ? -1 : real(from_folder, from, to_folder, to, flags);
}
/* What the disk does not reserve is no failure, but for a full one. */
int fallocate(int file, int mode, off_t at, off_t length) {
  REAL(int, "fallocate", int, int, off_t, off_t);
  return error != EIO && fails_at(file) ? -1 : real(file, mode, at, length);
}

/* --- the session --- */

static const char* names[MOST_CALLS]; /* of the calls of a session */
static int codes[MOST_CALLS], is_local[MOST_CALLS], number_of_calls, commits;
static int status_differs; /* whether a request has another status than the code of its wait */

static int note(const char* name, int code, int local) {
  names[number_of_calls] = name;
  is_local[number_of_calls] = local;
  codes[number_of_calls++] = code;
  return code;
}
#define ALL(call) note(#call, call, 0)
#define ALONE(call) note(#call, call, 1)

static int value(int state, int variable, MPI_Offset at) {
  return state * 100000000 + variable * 10000000 + (int)at;
}
static int* values(int state, int variable, MPI_Offset at, MPI_Offset count) {
  int* const all = malloc((size_t)count * sizeof(int));
  for (MPI_Offset i = 0; i < count; ++i) all[i] = value(state, variable, at + i);
  return all;
}
static void committed(int code) {
  if (code != NC_NOERR) return;
  ++commits;
  if (rank == 0 && dies) {
    printf("commit %d\n", commits);
    fflush(stdout);
  }
}

/* Each rank has `rows` rows of `fixed`, and rows / 8 records of `growing` in each of the first two
 * commits. */
static void session(const char* path, MPI_Offset rows) {
  int file = -1, dims[3], fixed, growing, extra, state = 1, request, status, here[MOST_CALLS];
  number_of_calls = commits = status_differs = 0;
  if (ALL(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file)) !=
      NC_NOERR)
    return;
  ALL(ncmpi_def_dim(file, "t", NC_UNLIMITED, &dims[0]));
  ALL(ncmpi_def_dim(file, "y", ranks * rows, &dims[1]));
  ALL(ncmpi_def_dim(file, "x", COLUMNS, &dims[2]));
  ALL(ncmpi_def_var(file, "fixed", NC_INT, 2, dims + 1, &fixed));
  here[0] = dims[0], here[1] = dims[2];
  ALL(ncmpi_def_var(file, "growing", NC_INT, 2, here, &growing));
  ALL(ncmpi_put_att_int(file, NC_GLOBAL, "state", NC_INT, 1, &state));
  ALL(ncmpi_enddef(file));
  const MPI_Offset records = rows / 8;
  MPI_Offset start[2] = {rank * rows, 0}, count[2] = {rows - 1, COLUMNS};
  int* bytes = values(1, 0, start[0] * COLUMNS, rows * COLUMNS);
  ALL(ncmpi_put_vara_int_all(file, fixed, start, count, bytes));
  ALL(ncmpi_begin_indep_data(file));
  start[0] += rows - 1, count[0] = 1;
  ALONE(ncmpi_put_vara_int(file, fixed, start, count, bytes + (rows - 1) * COLUMNS));
  ALL(ncmpi_end_indep_data(file));
  free(bytes);
  start[0] = rank * records, count[0] = records;
  bytes = values(1, 1, start[0] * COLUMNS, records * COLUMNS);
  const int posted = ALONE(ncmpi_iput_vara_int(file, growing, start, count, bytes, &request));
  const int waited = ALL(ncmpi_wait_all(file, 1, &request, &status));
  /* A wait that could not begin, as in define mode, leaves the request. */
  status_differs = posted == NC_NOERR && request == NC_REQ_NULL && status != waited;
  free(bytes);
  committed(ALL(ncmpi_sync(file)));
  /* New records, and committed values that change, by each rank alone. */
  ALL(ncmpi_begin_indep_data(file));
  start[0] = (ranks + rank) * records;
  bytes = values(2, 1, start[0] * COLUMNS, records * COLUMNS);
  ALONE(ncmpi_put_vara_int(file, growing, start, count, bytes));
  free(bytes);
  start[0] = rank * rows, count[0] = 1;
  bytes = values(2, 0, start[0] * COLUMNS, COLUMNS);
  ALONE(ncmpi_put_vara_int(file, fixed, start, count, bytes));
  free(bytes);
  ALL(ncmpi_end_indep_data(file));
  state = 2;
  ALL(ncmpi_put_att_int(file, NC_GLOBAL, "state", NC_INT, 1, &state));
  committed(ALL(ncmpi_sync(file)));
  /* A new variable. */
  ALL(ncmpi_redef(file));
  ALL(ncmpi_def_var(file, "extra", NC_INT, 2, dims + 1, &extra));
  state = 3;
  ALL(ncmpi_put_att_int(file, NC_GLOBAL, "state", NC_INT, 1, &state));
  ALL(ncmpi_enddef(file));
  start[0] = rank * rows, count[0] = rows;
  bytes = values(3, 2, start[0] * COLUMNS, rows * COLUMNS);
  ALL(ncmpi_put_vara_int_all(file, extra, start, count, bytes));
  free(bytes);
  committed(ALL(ncmpi_close(file)));
}

/* --- what the file has then --- */

static int wrong(int file, int variable, MPI_Offset rows, int state, int number) {
  int bad = 0;
  int* const found = malloc((size_t)(rows * COLUMNS) * sizeof(int));
  bad = ncmpi_get_var_int_all(file, variable, found) != NC_NOERR;
  for (MPI_Offset i = 0; !bad && i < rows * COLUMNS; ++i) {
    const MPI_Offset row = i / COLUMNS;
    int of = number == 2 ? 3 : 1;
    if (number == 0 && state >= 2 && row % (rows / ranks) == 0) of = 2;
    if (number == 1 && state >= 2 && row >= rows / 2) of = 2;
    if (found[i] != value(of, number, i)) bad = 1;
  }
  free(found);
  return bad;
}
/* Returns the commit that the file has; 0: there is no file; -1: not what any commit wrote.
 * Collective. */
static int state_of(const char* path) {
  int file, state = -1, variables, id;
  MPI_Offset rows, records;
  const int opened = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file);
  if (opened == NC_ENOENT) return 0;
  if (opened != NC_NOERR) return -1;
  int bad = ncmpi_get_att_int(file, NC_GLOBAL, "state", &state) != NC_NOERR;
  bad |= ncmpi_inq_dimlen(file, 0, &records) != NC_NOERR ||
         ncmpi_inq_dimlen(file, 1, &rows) != NC_NOERR;
  bad |= ncmpi_inq_nvars(file, &variables) != NC_NOERR || variables != (state == 3 ? 3 : 2);
  if (!bad && records != (state >= 2 ? 2 : 1) * ranks * (rows / ranks / 8)) bad = 1;
  if (!bad)
    bad |= ncmpi_inq_varid(file, "fixed", &id) != NC_NOERR || wrong(file, id, rows, state, 0);
  if (!bad)
    bad |= ncmpi_inq_varid(file, "growing", &id) != NC_NOERR || wrong(file, id, records, state, 1);
  if (!bad && state == 3)
    bad |= ncmpi_inq_varid(file, "extra", &id) != NC_NOERR || wrong(file, id, rows, state, 2);
  ncmpi_close(file);
  return bad ? -1 : state;
}

/* Compares the codes of all ranks and the file with `expected`, the first code that a collective
 * call gives all ranks (1: some error; 0: none). Returns whether something is wrong. Collective. */
static int judge(const char* path, int expected, const char* what) {
  int all[3] = {number_of_calls, -number_of_calls, 0}, bad = status_differs, first = NC_NOERR;
  if (status_differs) printf("%s: another status than the code of the wait\n", what);
  MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (all[0] != -all[1]) {
    if (rank == 0) printf("%s: ranks made %d and %d calls\n", what, -all[1], all[0]);
    return 1;
  }
  for (int i = 0; i < number_of_calls; ++i) {
    int ends[2] = {codes[i], -codes[i]};
    if (is_local[i]) continue;
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (ends[0] != -ends[1]) {
      if (rank == 0) printf("%s: codes %d to %d of %s\n", what, -ends[1], ends[0], names[i]);
      bad = 1;
    }
    if (first == NC_NOERR) first = codes[i];
  }
  if (expected == 1 ? first == NC_NOERR : first != expected) {
    if (rank == 0) printf("%s: code %d, not %d\n", what, first, expected);
    bad = 1;
  }
  int known = commits;
  MPI_Bcast(&known, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const int state = state_of(path);
  if (state != known && !(first != NC_NOERR && state == known + 1)) {
    if (rank == 0) printf("%s: the file has state %d after %d commits, codes", what, state, known);
    for (int i = 0; rank == 0 && i < number_of_calls; ++i)
      if (codes[i] != NC_NOERR) printf(" %d of %.30s", codes[i], names[i]);
    if (rank == 0) printf("\n");
    bad = 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return bad;
}

/* One session in which call `number` of rank `who` fails. */
static int one(const char* in, MPI_Offset rows, int who, long number, int with, int ever) {
  char path[4096], what[256];
  snprintf(path, sizeof path, "%s/%d_%ld_%d.nmb", in, who, number, with);
  snprintf(what, sizeof what, "call %ld of rank %d, errno %d%s", number, who, with,
           ever ? " for ever" : "");
  folder = in;
  calls = 0, error = with, for_ever = ever;
  failing = rank == who ? number : -1;
  session(path, rows);
  failing = -1;
  int failed = rank == who && calls > number;
  folder = NULL;
  MPI_Bcast(&failed, 1, MPI_INT, who, MPI_COMM_WORLD);
  return judge(path, !failed ? NC_NOERR : with == EIO ? NC_EWRITE : NC_ENO_SPACE, what);
}

static int each(const char* in, MPI_Offset rows) {
  int bad = 0, sessions = 0;
  for (int way = 0; way < 2; ++way) {
    const int with = way == 0 ? EIO : ENOSPC;
    bad |= one(in, rows, 0, 1L << 30, with, 0); /* none fails */
    long counts[64] = {0};
    MPI_Allgather(&calls, 1, MPI_LONG, counts, 1, MPI_LONG, MPI_COMM_WORLD);
    if (rank == 0)
      printf("calls of the first and the last rank: %ld %ld\n", counts[0], counts[ranks - 1]);
    for (int who = 0; who < ranks; ++who)
      for (long number = 0; number < counts[who]; ++number, ++sessions)
        bad |= one(in, rows, who, number, with, way);
  }
  if (rank == 0) printf("%d sessions\n", sessions);
  return bad;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int bad = 2;
  if (argc == 4 && !strcmp(argv[1], "each")) {
    bad = each(argv[2], atol(argv[3]));
  } else if (argc == 4 && !strcmp(argv[1], "full")) {
    session(argv[2], atol(argv[3]));
    bad = judge(argv[2], NC_ENO_SPACE, "full disk");
  } else if (argc == 5 && !strcmp(argv[1], "die")) {
    char in[4096];
    snprintf(in, sizeof in, "%s", argv[2]);
    *strrchr(in, '/') = 0;
    folder = in;
    dies = 1, error = ENOSPC;
    if (rank == atoi(argv[3])) failing = atol(argv[4]);
    session(argv[2], 8);
    bad = 0;
  } else if (argc == 3 && !strcmp(argv[1], "check")) {
    const int state = state_of(argv[2]);
    if (rank == 0) printf("state %d\n", state);
    bad = state < 0;
  }
  MPI_Finalize();
  return bad;
}
