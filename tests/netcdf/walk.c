/* Calls everything that netCDF-C can ask of a file, and reads all values. Prints nothing; what
 * fails has a code.
 *
 *   walk FILE...
 *
 * Exit code 0: it came to the end of all files. */
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <netcdf_filter.h>
#include <nmb_netcdf.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_BYTES ((size_t)64 << 20)

static void attributes(int ncid, int owner) {
  char name[NC_MAX_NAME + 1];
  int count = 0;
  if (owner == NC_GLOBAL ? nc_inq_natts(ncid, &count) : nc_inq_varnatts(ncid, owner, &count))
    return;
  for (int i = 0; i < count; ++i) {
    nc_type type;
    size_t length, size;
    if (nc_inq_attname(ncid, owner, i, name) || nc_inq_att(ncid, owner, name, &type, &length) ||
        nc_inq_type(ncid, type, NULL, &size) || length > MOST_BYTES / (size ? size : 1))
      continue;
    void* const values = calloc(length + 1, size + 1);
    if (!nc_get_att(ncid, owner, name, values) && length > 0)
      nc_reclaim_data(ncid, type, values, length);
    free(values);
  }
}

static void variable(int ncid, int id) {
  char name[NC_MAX_NAME + 1];
  nc_type type;
  int rank, dimensions[NC_MAX_VAR_DIMS], natts, storage, endian, no_fill;
  size_t size, total = 1, length, chunks[NC_MAX_VAR_DIMS], filters;
  unsigned ids[64];
  if (nc_inq_var(ncid, id, name, &type, &rank, dimensions, &natts)) return;
  nc_inq_var_chunking(ncid, id, &storage, chunks);
  nc_inq_var_endian(ncid, id, &endian);
  if (!nc_inq_var_filter_ids(ncid, id, &filters, NULL) && filters <= 64)
    nc_inq_var_filter_ids(ncid, id, &filters, ids);
  attributes(ncid, id);
  if (nc_inq_type(ncid, type, NULL, &size) || size == 0 || size > MOST_BYTES) return;
  void* fill = calloc(1, size);
  if (!nc_inq_var_fill(ncid, id, &no_fill, fill) && !no_fill) nc_reclaim_data(ncid, type, fill, 1);
  free(fill);
  for (int d = 0; d < rank; ++d) {
    if (nc_inq_dimlen(ncid, dimensions[d], &length)) return;
    if (length > 0 && total > MOST_BYTES / size / length) return;
    total *= length;
  }
  void* const values = calloc(total + 1, size);
  if (!nc_get_var(ncid, id, values) && total > 0) nc_reclaim_data(ncid, type, values, total);
  free(values);
  double* const numbers = calloc(total + 1, sizeof(double));
  nc_get_var_double(ncid, id, numbers);
  free(numbers);
}

static void types(int ncid) {
  int count = 0;
  if (nc_inq_typeids(ncid, &count, NULL) || count == 0) return;
  int* const ids = calloc((size_t)count, sizeof *ids);
  nc_inq_typeids(ncid, &count, ids);
  for (int i = 0; i < count; ++i) {
    char name[NC_MAX_NAME + 1];
    size_t size, fields, offset;
    nc_type base;
    int type_class, rank, lengths[NC_MAX_VAR_DIMS];
    long long value[2];
    if (nc_inq_user_type(ncid, ids[i], name, &size, &base, &fields, &type_class)) continue;
    for (int f = 0; f < (int)fields; ++f) {
      if (type_class == NC_COMPOUND)
        nc_inq_compound_field(ncid, ids[i], f, name, &offset, &base, &rank, lengths);
      if (type_class == NC_ENUM) nc_inq_enum_member(ncid, ids[i], f, name, value);
    }
  }
  free(ids);
}

static void group(int ncid, int depth) {
  char name[NC_MAX_NAME + 1];
  int count = 0;
  size_t length;
  nc_inq_grpname(ncid, name);
  nc_inq_grpname_full(ncid, &length, NULL);
  types(ncid);
  if (!nc_inq_dimids(ncid, &count, NULL, 1) && count > 0) {
    int* const ids = calloc((size_t)count, sizeof *ids);
    if (!nc_inq_dimids(ncid, &count, ids, 1))
      for (int i = 0; i < count; ++i) nc_inq_dim(ncid, ids[i], name, &length);
    free(ids);
  }
  attributes(ncid, NC_GLOBAL);
  if (!nc_inq_nvars(ncid, &count))
    for (int i = 0; i < count; ++i) variable(ncid, i);
  if (depth < 100 && !nc_inq_grps(ncid, &count, NULL) && count > 0) {
    int* const ids = calloc((size_t)count, sizeof *ids);
    if (!nc_inq_grps(ncid, &count, ids))
      for (int i = 0; i < count; ++i) group(ids[i], depth + 1);
    free(ids);
  }
}

int main(int argc, char** argv) {
  if (nmb_netcdf_register()) {
    fputs("walk: the format cannot be registered\n", stderr);
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    int ncid;
    /* Of files of other kinds, the format is to say that they are not its own. netCDF-C does not
     * come to the end of all. */
    if (nmb_netcdf_udf0.open(argv[i], NC_NOWRITE, 0, NULL, NULL, &nmb_netcdf_udf0, 0x7fff0000))
      continue;
    nmb_netcdf_udf0.close(0x7fff0000, NULL);
    if (nc_open(argv[i], NC_NOWRITE, &ncid)) continue;
    group(ncid, 0);
    nc_close(ncid);
  }
  return 0;
}
