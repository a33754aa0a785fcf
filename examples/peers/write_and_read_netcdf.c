// write_and_read FILE: writes the groups of two stations, then prints the mean of each. Uses
// netCDF-C.
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRecords = 10, kLevels = 3 };
static const char* path;

static void check(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s: %s\n", path, nc_strerror(status));
  exit(1);
}

static void write_station(int stations, const char* name, float base) {
  int group, dims[2], temperature, time;
  check(nc_def_grp(stations, name, &group));
  check(nc_def_dim(group, "time", NC_UNLIMITED, &dims[0]));
  check(nc_def_dim(group, "level", kLevels, &dims[1]));
  check(nc_def_var(group, "temperature", NC_FLOAT, 2, dims, &temperature));
  check(nc_put_att_text(group, temperature, "units", 1, "K"));
  check(nc_def_var(group, "time", NC_DOUBLE, 1, dims, &time));
  float values[kRecords][kLevels];
  double times[kRecords];
  for (int record = 0; record < kRecords; ++record) {
    times[record] = record;
    for (int level = 0; level < kLevels; ++level) values[record][level] = base + record + level;
  }
  const size_t start[] = {0, 0}, count[] = {kRecords, kLevels};
  check(nc_put_vara_float(group, temperature, start, count, values[0]));
  check(nc_put_vara_double(group, time, start, count, times));
}

static void print_station(int file, const char* name) {
  int group, time, temperature;
  size_t records;
  check(nc_inq_grp_full_ncid(file, name, &group));
  check(nc_inq_dimid(group, "time", &time));
  check(nc_inq_dimlen(group, time, &records));
  check(nc_inq_varid(group, "temperature", &temperature));
  double sum = 0;
  for (size_t record = 0; record < records; ++record) {
    float values[kLevels];
    const size_t start[] = {record, 0}, count[] = {1, kLevels};
    check(nc_get_vara_float(group, temperature, start, count, values));
    for (int level = 0; level < kLevels; ++level) sum += values[level];
  }
  printf("%s: %zu records, mean %g\n", name, records, sum / (records * kLevels));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: write_and_read FILE\n");
    return 2;
  }
  path = argv[1];
  int file, stations;
  check(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
  check(nc_def_grp(file, "station", &stations));
  write_station(stations, "north", 280);
  write_station(stations, "south", 290);
  check(nc_close(file));

  check(nc_open(path, NC_NOWRITE, &file));
  print_station(file, "station/north");
  print_station(file, "station/south");
  check(nc_close(file));
  return 0;
}
