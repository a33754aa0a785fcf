/* The hint nmb_create=independent: each process defines variables of its own, in blocks that paths
 * in their names name, and some that all share. own_definitions FILE */
#include <mpi.h>
#include <nmb_pnetcdf.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES 3
#define LENGTH 4

static void check(int code, int line) {
  if (code == NC_NOERR) return;
  printf("line %d: %s (%s)\n", line, ncmpi_strerrno(code), nmb_pnetcdf_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check((call), __LINE__)

static void expect(int code, int wanted, int line) {
  if (code != wanted)
    printf("line %d: found %s, expected %s\n", line, ncmpi_strerrno(code), ncmpi_strerrno(wanted));
}
#define EXPECT(call, wanted) expect((call), (wanted), __LINE__)

static int rank, ranks;

static int create(const char* path) {
  int file;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nmb_create", "independent");
  CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &file));
  MPI_Info_free(&info);
  return file;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const path = argc > 1 ? argv[1] : "own.nmb";
  int file = create(path), shared_dim, x, time, shared, vars[VARIABLES + 2], ids[2];
  char name[64];
  const MPI_Offset start[] = {0, 0}, count[] = {1, LENGTH};
  float values[LENGTH];

  /* Something that all have, in the root block and in a block; the order differs between ranks. */
  CHECK(ncmpi_def_dim(file, "n", LENGTH, &shared_dim));
  if (rank % 2 == 0) CHECK(ncmpi_def_var(file, "shared", NC_INT, 1, &shared_dim, &shared));
  snprintf(name, sizeof name, "of_rank_%d", rank);
  CHECK(ncmpi_def_var(file, name, NC_INT, 1, &shared_dim, &vars[0]));
  if (rank % 2 == 1) CHECK(ncmpi_def_var(file, "shared", NC_INT, 1, &shared_dim, &shared));
  snprintf(name, sizeof name, "of_rank_%d", rank);
  CHECK(ncmpi_put_att_int(file, NC_GLOBAL, name, NC_INT, 1, &rank));
  CHECK(ncmpi_put_att_text(file, NC_GLOBAL, "title", 4, "runs"));
  /* A block of its own, with records. */
  CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &time));
  snprintf(name, sizeof name, "evt%d/x", rank);
  CHECK(ncmpi_def_dim(file, name, LENGTH, &x));
  for (int v = 0; v < VARIABLES; ++v) {
    snprintf(name, sizeof name, "evt%d/v%d", rank, v);
    ids[0] = time;
    ids[1] = x;
    CHECK(ncmpi_def_var(file, name, NC_FLOAT, 2, ids, &vars[v + 1]));
    CHECK(ncmpi_put_att_text(file, vars[v + 1], "units", 1, "K"));
  }
  /* What is not allowed, on one rank alone. */
  if (rank == ranks - 1) {
    EXPECT(ncmpi_def_var(file, "other/y", NC_INT, 1, &x, &ids[0]), NC_EBADDIM);
    EXPECT(ncmpi_def_dim(file, "other/time", NC_UNLIMITED, &ids[0]), NC_ENOTSUPPORT);
    EXPECT(ncmpi_def_var(file, "a//b", NC_INT, 0, NULL, &ids[0]), NC_EBADNAME);
    EXPECT(ncmpi_def_var(file, "shared", NC_INT, 0, NULL, &ids[0]), NC_ENAMEINUSE);
    EXPECT(ncmpi_rename_var(file, 0, "z"), NC_ENOTSUPPORT);
  }
  CHECK(ncmpi_enddef(file));
  EXPECT(ncmpi_redef(file), NC_ENOTSUPPORT);
  EXPECT(ncmpi_put_att_text(file, NC_GLOBAL, "title", 4, "none"), NC_ENOTSUPPORT);
  /* Each rank puts into its own variables by its own IDs, in one collective call. */
  for (int i = 0; i < LENGTH; ++i) values[i] = (float)(100 * rank + i);
  CHECK(ncmpi_put_vara_float_all(file, vars[1], start, count, values));
  CHECK(ncmpi_begin_indep_data(file));
  CHECK(ncmpi_put_vara_float(file, vars[2], start, count, values));
  CHECK(ncmpi_end_indep_data(file));

  /* Global IDs. */
  int global_vars[VARIABLES + 2], global_dims[4];
  memset(global_vars, -1, sizeof global_vars);
  CHECK(nmb_pnetcdf_inq_global_ids(file, global_dims, global_vars));
  EXPECT(nmb_pnetcdf_inq_global_ids(file, NULL, NULL), NC_ENOTSUPPORT);
  int number, varid;
  /* Attributes have the same order on all ranks. */
  CHECK(ncmpi_inq_natts(file, &number));
  if (number != ranks + 1) printf("rank %d: %d attributes\n", rank, number);
  for (int i = 0; i < number; ++i) {
    char first[NC_MAX_NAME + 1], own[NC_MAX_NAME + 1];
    CHECK(ncmpi_inq_attname(file, NC_GLOBAL, i, own));
    strcpy(first, own);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(first, own)) printf("rank %d: attribute %s, not %s\n", rank, own, first);
  }
  CHECK(ncmpi_inq_nvars(file, &number));
  if (number != ranks * (VARIABLES + 1) + 1) printf("rank %d: %d variables\n", rank, number);
  for (int v = 0; v < VARIABLES + 2; ++v) {
    char found[NC_MAX_NAME + 1];
    CHECK(ncmpi_inq_varname(file, global_vars[v], found));
    CHECK(ncmpi_inq_varid(file, found, &varid));
    if (varid != global_vars[v])
      printf("rank %d: %s is %d and %d\n", rank, found, varid, global_vars[v]);
    int first = varid, is_shared = !strcmp(found, "shared");
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_shared && global_vars[shared] != varid)
      printf("rank %d: shared is not %d\n", rank, varid);
  }
  CHECK(ncmpi_inq_varid(file, "shared", &varid));
  int lowest = varid;
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (lowest != varid) printf("rank %d: another ID of shared\n", rank);
  /* All ranks put into the variable that all have, and the next rank into the block of this one. */
  const MPI_Offset part[] = {rank < LENGTH ? rank : 0}, one[] = {rank < LENGTH ? 1 : 0};
  const int element = 10 + rank;
  CHECK(ncmpi_put_vara_int_all(file, varid, part, one, &element));
  snprintf(name, sizeof name, "evt%d/v2", (rank + 1) % ranks);
  CHECK(ncmpi_inq_varid(file, name, &varid));
  CHECK(ncmpi_put_vara_float_all(file, varid, start, count, values));
  for (int v = 0; v < 3; ++v) {
    float back[LENGTH];
    snprintf(name, sizeof name, "evt%d/v%d", (rank + 1) % ranks, v);
    CHECK(ncmpi_inq_varid(file, name, &varid));
    CHECK(ncmpi_get_vara_float_all(file, varid, start, count, back));
    const int by = v == 2 ? rank : (rank + 1) % ranks;
    for (int i = 0; i < LENGTH; ++i)
      if (back[i] != (float)(100 * by + i))
        printf("rank %d: %s[%d] is %g\n", rank, name, i, (double)back[i]);
  }
  CHECK(ncmpi_close(file));

  /* The file again: the same names. */
  CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  CHECK(ncmpi_inq_nvars(file, &number));
  int all[LENGTH];
  CHECK(ncmpi_inq_varid(file, "shared", &varid));
  CHECK(ncmpi_get_var_int_all(file, varid, all));
  for (int i = 0; i < LENGTH && i < ranks; ++i)
    if (all[i] != 10 + i) printf("rank %d: shared[%d] is %d\n", rank, i, all[i]);
  MPI_Offset records;
  CHECK(ncmpi_inq_dimid(file, "time", &time));
  CHECK(ncmpi_inq_dimlen(file, time, &records));
  char title[5] = "";
  CHECK(ncmpi_get_att_text(file, NC_GLOBAL, "title", title));
  if (rank == 0)
    printf("%d variables, %d records, title %s\n", number - ranks * (VARIABLES + 1), (int)records,
           title);
  CHECK(ncmpi_close(file));

  /* Equal names that differ. */
  if (ranks > 1) {
    file = create(path);
    CHECK(ncmpi_def_dim(file, "evt/x", rank == 0 ? 3 : 4, &x));
    const int code = ncmpi_enddef(file);
    if (rank == 0) printf("equal names that differ: %s\n", ncmpi_strerrno(code));
    ncmpi_abort(file);
  }
  MPI_Finalize();
  return 0;
}
