/* Defines two blocks of a file, each by an ID of its own, and reads them again. */
#include <mpi.h>
#include <nmb_pnetcdf.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int code, int line) {
  if (code == NC_NOERR) return;
  printf("line %d: %s (%s)\n", line, ncmpi_strerror(code), nmb_pnetcdf_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check((call), __LINE__)

int main(int argc, char** argv) {
  int rank, ranks, file, blocks[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const names[] = {"station/north", "station/south"};
  const char* const path = argc > 1 ? argv[1] : "blocks.nmb";
  CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &file));
  for (int b = 0; b < 2; ++b) {
    int dims[2], variable;
    CHECK(nmb_pnetcdf_def_block(file, names[b], &blocks[b]));
    CHECK(ncmpi_def_dim(blocks[b], "time", NC_UNLIMITED, &dims[0]));
    CHECK(ncmpi_def_dim(blocks[b], "x", 3 * ranks, &dims[1]));
    CHECK(ncmpi_def_var(blocks[b], "t", NC_FLOAT, 2, dims, &variable));
    CHECK(ncmpi_put_att_text(blocks[b], variable, "units", 1, "K"));
    CHECK(ncmpi_enddef(blocks[b]));
  }
  int other;
  if (nmb_pnetcdf_def_block(file, names[0], &other) != NC_ENAMEINUSE)
    printf("rank %d: two IDs of a new block\n", rank);
  /* A block that is given up is not in the file. */
  CHECK(nmb_pnetcdf_def_block(file, "station/none", &other));
  CHECK(ncmpi_abort(other));
  for (int b = 0; b < 2; ++b) {
    const MPI_Offset start[] = {b, 3 * rank}, count[] = {1, 3};
    const float values[] = {(float)(100 * b + rank), 1, 2};
    CHECK(ncmpi_put_vara_float_all(blocks[b], 0, start, count, values));
  }
  CHECK(ncmpi_close(blocks[0]));
  CHECK(ncmpi_close(file));
  CHECK(ncmpi_close(blocks[1]));

  MPI_Offset number;
  char name[64];
  CHECK(ncmpi_open(MPI_COMM_WORLD, argc > 2 ? argv[2] : "blocks.nmb#station/south", NC_NOWRITE,
                   MPI_INFO_NULL, &file));
  CHECK(nmb_pnetcdf_inq_nblocks(file, &number));
  CHECK(nmb_pnetcdf_inq_blockname(file, 1, name, sizeof name));
  CHECK(nmb_pnetcdf_open_block(file, "station/north", &other));
  MPI_Offset records[2];
  CHECK(ncmpi_inq_dimlen(file, 0, &records[0]));
  CHECK(ncmpi_inq_dimlen(other, 0, &records[1]));
  const MPI_Offset start[] = {1, 3 * rank}, count[] = {1, 3};
  float values[3];
  CHECK(ncmpi_get_vara_float_all(file, 0, start, count, values));
  if (values[0] != (float)(100 + rank)) printf("rank %d: found %g\n", rank, (double)values[0]);
  if (rank == 0)
    printf("%d blocks, the second is %s, records %d and %d\n", (int)number, name, (int)records[0],
           (int)records[1]);
  if (nmb_pnetcdf_open_block(file, "station/west", &other) == NC_NOERR)
    printf("found station/west\n");
  CHECK(ncmpi_close(file));
  /* Two IDs that may change one block would not know each other's definitions. */
  CHECK(ncmpi_open(MPI_COMM_WORLD, argc > 2 ? argv[2] : "blocks.nmb#station/south", NC_WRITE,
                   MPI_INFO_NULL, &file));
  if (nmb_pnetcdf_open_block(file, "station/south", &other) != NC_ENOTSUPPORT)
    printf("rank %d: two IDs of a block\n", rank);
  CHECK(nmb_pnetcdf_open_block(file, "station/north", &other));
  CHECK(ncmpi_close(other));
  CHECK(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
