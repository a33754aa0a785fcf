// merge_months OUT IN...: joins classic files along their dimension `time`. Uses netCDF-C.
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char* path, const char* reason) {
  fprintf(stderr, "%s: %s\n", path, reason);
  exit(1);
}

static void check(const char* path, int status) {
  if (status != NC_NOERR) fail(path, nc_strerror(status));
}

// Describes what must agree between files, for example "float(time, lat = 18), units K". The caller
// frees the text. Returns NULL if there is not enough memory.
static char* describe(const char* path, int file, const char* name) {
  int variable, rank, dims[NC_MAX_VAR_DIMS];
  nc_type type;
  char word[NC_MAX_NAME + 1], *text;
  size_t size;
  int status = nc_inq_varid(file, name, &variable);
  if (status == NC_ENOTVAR) return strdup("no variable");
  check(path, status);
  FILE* out = open_memstream(&text, &size);
  if (!out) return NULL;
  check(path, nc_inq_var(file, variable, NULL, &type, &rank, dims, NULL));
  check(path, nc_inq_type(file, type, word, NULL));
  fprintf(out, "%s(", word);
  for (int i = 0; i < rank; ++i) {
    size_t length;
    check(path, nc_inq_dim(file, dims[i], word, &length));
    fprintf(out, "%s%s", i ? ", " : "", word);
    if (strcmp(word, "time") != 0) fprintf(out, " = %zu", length);
  }
  size_t length;
  status = nc_inq_attlen(file, variable, "units", &length);
  if (status == NC_NOERR) {
    char* units = malloc(length + 1);
    if (!units) return NULL;
    check(path, nc_get_att_text(file, variable, "units", units));
    fprintf(out, "), units %.*s", (int)length, units);
    free(units);
  } else if (status == NC_ENOTATT) {
    fputs("), no units", out);
  } else {
    fail(path, nc_strerror(status));
  }
  return fclose(out) == 0 ? text : NULL;
}

// Prints how a variable of a file differs from that of the first file. Returns whether it differs.
static int differs(const char* path, int file, const char* first_path, int first,
                   const char* name) {
  char* found = describe(path, file, name);
  char* expected = describe(first_path, first, name);
  if (!found || !expected) fail(path, "no memory");
  const int differ = strcmp(found, expected) != 0;
  if (differ) fprintf(stderr, "%s: %s: found %s, expected %s\n", path, name, found, expected);
  free(found);
  free(expected);
  return differ;
}

static int count_conflicts(const char* path, int file, const char* first_path, int first) {
  int variables, ignored, conflicts = 0;
  char name[NC_MAX_NAME + 1];
  check(first_path, nc_inq_nvars(first, &variables));
  for (int i = 0; i < variables; ++i) {
    check(first_path, nc_inq_varname(first, i, name));
    conflicts += differs(path, file, first_path, first, name);
  }
  check(path, nc_inq_nvars(file, &variables));
  for (int i = 0; i < variables; ++i) {
    check(path, nc_inq_varname(file, i, name));
    if (nc_inq_varid(first, name, &ignored) == NC_ENOTVAR)
      conflicts += differs(path, file, first_path, first, name);
  }
  return conflicts;
}

// Copies dimensions, global attributes and all variables of the first file.
static void copy_first(const char* path, int file, const char* out_path, int out) {
  int dims, variables, attributes, id;
  char name[NC_MAX_NAME + 1];
  check(path, nc_inq(file, &dims, &variables, &attributes, NULL));
  for (int i = 0; i < dims; ++i) {
    size_t length;
    check(path, nc_inq_dim(file, i, name, &length));
    if (strcmp(name, "time") == 0) length = NC_UNLIMITED;
    check(out_path, nc_def_dim(out, name, length, &id));
  }
  for (int i = 0; i < attributes; ++i) {
    check(path, nc_inq_attname(file, NC_GLOBAL, i, name));
    check(out_path, nc_copy_att(file, NC_GLOBAL, name, out, NC_GLOBAL));
  }
  for (int i = 0; i < variables; ++i) check(out_path, nc_copy_var(file, i, out));
}

// Appends the values of all variables that have the dimension `time`.
static void append(const char* path, int file, const char* out_path, int out, size_t first) {
  int variables, time;
  check(out_path, nc_inq_nvars(out, &variables));
  check(out_path, nc_inq_dimid(out, "time", &time));
  for (int i = 0; i < variables; ++i) {
    char name[NC_MAX_NAME + 1];
    int variable, rank, dims[NC_MAX_VAR_DIMS];
    size_t start[NC_MAX_VAR_DIMS] = {first}, count[NC_MAX_VAR_DIMS], size;
    nc_type type;
    check(out_path, nc_inq_var(out, i, name, &type, &rank, dims, NULL));
    if (rank == 0 || dims[0] != time) continue;
    check(out_path, nc_inq_type(out, type, NULL, &size));
    check(path, nc_inq_varid(file, name, &variable));
    check(path, nc_inq_vardimid(file, variable, dims));
    for (int d = 0; d < rank; ++d) {
      check(path, nc_inq_dimlen(file, dims[d], &count[d]));
      size *= count[d];
    }
    void* values = malloc(size ? size : 1);
    if (!values) fail(path, "no memory");
    check(path, nc_get_var(file, variable, values));
    check(out_path, nc_put_vara(out, i, start, count, values));
    free(values);
  }
}

static size_t length_of_time(const char* path, int file) {
  int time;
  size_t length;
  check(path, nc_inq_dimid(file, "time", &time));
  check(path, nc_inq_dimlen(file, time, &length));
  return length;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: merge_months OUT IN...\n");
    return 2;
  }
  const char *out_path = argv[1], *first_path = argv[2];
  int first, file, out, conflicts = 0;
  check(first_path, nc_open(first_path, NC_NOWRITE, &first));
  for (int i = 3; i < argc; ++i) {
    check(argv[i], nc_open(argv[i], NC_NOWRITE, &file));
    conflicts += count_conflicts(argv[i], file, first_path, first);
    check(argv[i], nc_close(file));
  }
  if (conflicts > 0) return 1;
  size_t records = length_of_time(first_path, first);
  check(out_path, nc_create(out_path, NC_NETCDF4 | NC_CLOBBER, &out));
  copy_first(first_path, first, out_path, out);
  for (int i = 3; i < argc; ++i) {
    check(argv[i], nc_open(argv[i], NC_NOWRITE, &file));
    append(argv[i], file, out_path, out, records);
    records += length_of_time(argv[i], file);
    check(argv[i], nc_close(file));
  }
  check(first_path, nc_close(first));
  check(out_path, nc_close(out));
  return 0;
}
