/* What changes a fill value after values were written, and file types of distributed arrays. The
 * output is the same on PnetCDF and on NMB. late_changes FILE */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>

#define SIZE 11

static int rank, ranks, file;

/* Prints the code of a call, which is the same on all ranks. */
static void show(const char* what, int code) {
  if (rank == 0) printf("%s: %s\n", what, ncmpi_strerrno(code));
}

static void show_values(const char* what, int variable, int count) {
  int values[SIZE * SIZE];
  memset(values, 0, sizeof values);
  show(what, ncmpi_get_var_int_all(file, variable, values));
  for (int i = 0; rank == 0 && i < count; ++i) printf(" %d", values[i]);
  if (rank == 0) printf("\n");
}

static void fills(const char* path) {
  int dims[2], line, records, values[] = {1, 2, 3};
  show("create",
       ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  ncmpi_set_fill(file, NC_FILL, NULL);
  ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]);
  ncmpi_def_dim(file, "x", SIZE, &dims[1]);
  ncmpi_def_var(file, "line", NC_INT, 1, &dims[1], &line);
  ncmpi_def_var(file, "records", NC_INT, 2, dims, &records);
  int value = 7;
  show("put _FillValue", ncmpi_put_att_int(file, line, "_FillValue", NC_INT, 1, &value));
  show("enddef", ncmpi_enddef(file));
  const MPI_Offset start[] = {2}, count[] = {rank == 0 ? 3 : 0};
  ncmpi_put_vara_int_all(file, line, start, count, values);
  const MPI_Offset all_start[] = {1, 0}, all_count[] = {1, SIZE};
  int all[SIZE];
  for (int i = 0; i < SIZE; ++i) all[i] = 50 + i;
  ncmpi_put_vara_int_all(file, records, all_start, all_count, all);
  show("fill a record", ncmpi_fill_var_rec(file, records, 1));
  show("fill a record", ncmpi_fill_var_rec(file, records, 0));
  show_values("values", line, SIZE);
  value = 8;
  show("another _FillValue in data mode",
       ncmpi_put_att_int(file, line, "_FillValue", NC_INT, 1, &value));
  show("a new _FillValue in data mode",
       ncmpi_put_att_int(file, records, "_FillValue", NC_INT, 1, &value));
  show_values("values", line, SIZE);
  show("sync", ncmpi_sync(file));
  show_values("values after sync", line, SIZE);
  ncmpi_redef(file);
  show("_FillValue after redef", ncmpi_put_att_int(file, line, "_FillValue", NC_INT, 1, &value));
  show("def_var_fill after redef", ncmpi_def_var_fill(file, records, 0, &value));
  show("delete _FillValue", ncmpi_del_att(file, line, "_FillValue"));
  show("rename to _FillValue", ncmpi_put_att_int(file, records, "other", NC_INT, 1, &value));
  show("rename to _FillValue", ncmpi_rename_att(file, records, "other", "_FillValue"));
  show("enddef", ncmpi_enddef(file));
  show_values("values after delete", line, SIZE);
  show_values("records", records, 2 * SIZE);
  show("close", ncmpi_close(file));
  show("open", ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  show_values("values", line, SIZE);
  show_values("records", records, 2 * SIZE);
  int off = -1;
  value = 0;
  show("fill value", ncmpi_inq_var_fill(file, records, &off, &value));
  if (rank == 0) printf("fill value %d\n", value);
  ncmpi_close(file);
}

/* Puts through a distributed array, and gets all through another one. */
static void distributed(const char* path, int kind, int argument, int order) {
  const int sizes[] = {SIZE, SIZE - 2}, kinds[] = {kind, MPI_DISTRIBUTE_BLOCK};
  int arguments[] = {argument, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {0, 0}, dims[2], plane, bytes,
      values[SIZE * SIZE];
  MPI_Dims_create(ranks, 2, grid);
  if (kind == MPI_DISTRIBUTE_BLOCK && argument > 0 && argument * grid[0] < SIZE)
    arguments[0] = SIZE;
  MPI_Datatype type;
  MPI_Type_create_darray(ranks, rank, 2, sizes, kinds, arguments, grid, order, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Type_size(type, &bytes);
  for (int i = 0; i < SIZE * SIZE; ++i) values[i] = 1000 * rank + i;
  ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL, &file);
  ncmpi_def_dim(file, "y", SIZE, &dims[0]);
  ncmpi_def_dim(file, "x", SIZE - 2, &dims[1]);
  ncmpi_def_var(file, "plane", NC_INT, 2, dims, &plane);
  ncmpi_enddef(file);
  show("put", ncmpi_put_vard_all(file, plane, type, values, bytes / 4, MPI_INT));
  show_values("plane", plane, SIZE * (SIZE - 2));
  memset(values, 0, sizeof values);
  show("get", ncmpi_get_vard_all(file, plane, type, values, bytes / 4, MPI_INT));
  for (int i = 0; i < bytes / 4; ++i)
    if (values[i] != 1000 * rank + i) printf("rank %d: element %d is %d\n", rank, i, values[i]);
  MPI_Type_free(&type);
  ncmpi_close(file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const path = argc > 1 ? argv[1] : "late_changes.nc";
  fills(path);
  const int orders[] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};
  for (int i = 0; i < 2; ++i) {
    distributed(path, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, orders[i]);
    distributed(path, MPI_DISTRIBUTE_BLOCK, 8, orders[i]);
    distributed(path, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, orders[i]);
    distributed(path, MPI_DISTRIBUTE_CYCLIC, 2, orders[i]);
  }
  MPI_Finalize();
  return 0;
}
