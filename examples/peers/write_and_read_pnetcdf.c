// write_and_read FILE: writes the variables of two stations, then prints the mean of each. Uses
// PnetCDF in one process. A classic file has no groups and only one unlimited dimension, so the
// name of a station is a prefix of the names of its variables, and the stations share the
// dimensions.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

enum { kRecords = 10, kLevels = 3, kStations = 2 };
static const char* const stations[kStations] = {"station_north", "station_south"};
static const char* path;

static void check(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s: %s\n", path, ncmpi_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static const char* variable(const char* station, const char* suffix) {
  static char name[NC_MAX_NAME + 1];
  snprintf(name, sizeof name, "%s_%s", station, suffix);
  return name;
}

static void write_stations(int file) {
  int dims[2], temperatures[kStations], times[kStations];
  check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  check(ncmpi_def_dim(file, "level", kLevels, &dims[1]));
  for (int i = 0; i < kStations; ++i) {
    const char* name = variable(stations[i], "temperature");
    check(ncmpi_def_var(file, name, NC_FLOAT, 2, dims, &temperatures[i]));
    check(ncmpi_put_att_text(file, temperatures[i], "units", 1, "K"));
    name = variable(stations[i], "time");
    check(ncmpi_def_var(file, name, NC_DOUBLE, 1, dims, &times[i]));
  }
  check(ncmpi_enddef(file));
  const MPI_Offset start[] = {0, 0}, count[] = {kRecords, kLevels};
  for (int i = 0; i < kStations; ++i) {
    float values[kRecords][kLevels];
    double time[kRecords];
    for (int record = 0; record < kRecords; ++record) {
      time[record] = record;
      for (int level = 0; level < kLevels; ++level)
        values[record][level] = 280 + 10 * i + record + level;
    }
    check(ncmpi_put_vara_float_all(file, temperatures[i], start, count, values[0]));
    check(ncmpi_put_vara_double_all(file, times[i], start, count, time));
  }
}

static void print_station(int file, const char* station) {
  int time, temperature;
  MPI_Offset records;
  check(ncmpi_inq_dimid(file, "time", &time));
  check(ncmpi_inq_dimlen(file, time, &records));
  check(ncmpi_inq_varid(file, variable(station, "temperature"), &temperature));
  double sum = 0;
  for (MPI_Offset record = 0; record < records; ++record) {
    float values[kLevels];
    const MPI_Offset start[] = {record, 0}, count[] = {1, kLevels};
    check(ncmpi_get_vara_float_all(file, temperature, start, count, values));
    for (int level = 0; level < kLevels; ++level) sum += values[level];
  }
  printf("%s: %lld records, mean %g\n", station, (long long)records, sum / (records * kLevels));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) {
    fprintf(stderr, "usage: mpiexec -n 1 write_and_read FILE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  path = argv[1];
  int file;
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  write_stations(file);
  check(ncmpi_close(file));

  check(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  for (int i = 0; i < kStations; ++i) print_station(file, stations[i]);
  check(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
