// warm_samples FILE LIMIT: prints the groups with a temperature above LIMIT, and the mean of their
// temperatures. Uses netCDF-C.
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

static const char* path;

static void fail(const char* reason) {
  fprintf(stderr, "%s: %s\n", path, reason);
  exit(1);
}

static void check(int status) {
  if (status != NC_NOERR) fail(nc_strerror(status));
}

// Returns the temperatures of a group, which the caller frees.
static float* read_temperatures(int group, size_t* count) {
  int variable, rank, dims[NC_MAX_VAR_DIMS];
  check(nc_inq_varid(group, "temperature", &variable));
  check(nc_inq_var(group, variable, NULL, NULL, &rank, dims, NULL));
  *count = 1;
  for (int i = 0; i < rank; ++i) {
    size_t length;
    check(nc_inq_dimlen(group, dims[i], &length));
    *count *= length;
  }
  float* values = malloc(*count * sizeof *values + 1);
  if (!values) fail("no memory");
  check(nc_get_var_float(group, variable, values));
  return values;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: warm_samples FILE LIMIT\n");
    return 2;
  }
  path = argv[1];
  char* end;
  const double limit = strtod(argv[2], &end);
  if (*argv[2] == '\0' || *end != '\0') fail("LIMIT is not a number");
  int file, groups;
  check(nc_open(path, NC_NOWRITE, &file));
  check(nc_inq_grps(file, &groups, NULL));
  int* ids = malloc(groups * sizeof *ids + 1);
  if (!ids) fail("no memory");
  check(nc_inq_grps(file, NULL, ids));
  size_t total = 0;
  double sum = 0;
  for (int i = 0; i < groups; ++i) {
    char name[NC_MAX_NAME + 1];
    size_t count, warm = 0;
    float* values = read_temperatures(ids[i], &count);
    while (warm < count && !(values[warm] > limit)) ++warm;
    if (warm < count) {
      check(nc_inq_grpname(ids[i], name));
      puts(name);
      for (size_t k = 0; k < count; ++k) sum += values[k];
      total += count;
    }
    free(values);
  }
  printf("%zu values, mean %g\n", total, total > 0 ? sum / total : NAN);
  free(ids);
  check(nc_close(file));
  return 0;
}
