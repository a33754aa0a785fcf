/* Calls of netCDF-C on NMB files that other tests do not make: registration, what is refused,
 * groups by name, special attributes, mapped reads, the number of groups that a file may have.
 *
 *   calls NMCAT */
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <nmb_netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong = 0;

#define EXPECT(got, wanted)                                                              \
  do {                                                                                   \
    const long long got_ = (long long)(got), wanted_ = (long long)(wanted);              \
    if (got_ != wanted_) {                                                               \
      printf("line %d: %s: found %lld, expected %lld\n", __LINE__, #got, got_, wanted_); \
      wrong = 1;                                                                         \
    }                                                                                    \
  } while (0)

static void run(const char* program, const char* arguments) {
  char command[4096];
  snprintf(command, sizeof command, "'%s' %s", program, arguments);
  EXPECT(system(command), 0);
}

static void make(const char* path) {
  int ncid, dims[2], id;
  const int numbers[6] = {3, -1, 2, 300, 5, 6};
  EXPECT(nc_create(path, NC_CLOBBER, &ncid), 0);
  EXPECT(nc_def_dim(ncid, "y", 2, &dims[0]), 0);
  EXPECT(nc_def_dim(ncid, "x", 3, &dims[1]), 0);
  EXPECT(nc_def_var(ncid, "v", NC_INT, 2, dims, &id), 0);
  EXPECT(nc_enddef(ncid), 0);
  EXPECT(nc_put_var_int(ncid, id, numbers), 0);
  EXPECT(nc_close(ncid), 0);
}

static void groups(void) {
  int ncid, found, same, root, count;
  size_t length;
  char name[NC_MAX_NAME + 1];
  EXPECT(nc_open("both.nmb", NC_NOWRITE, &ncid), 0);
  EXPECT(nc_inq_grp_full_ncid(ncid, "/one", &found), 0);
  EXPECT(nc_inq_ncid(ncid, "one", &same), 0);
  EXPECT(same, found);
  EXPECT(nc_inq_ncid(ncid, "three", &same), NC_ENOGRP);
  EXPECT(nc_inq_grp_full_ncid(ncid, "/one/two", &same), NC_ENOGRP);
  EXPECT(nc_inq_grp_parent(found, &root), 0);
  EXPECT(root, ncid);
  EXPECT(nc_inq_grp_parent(ncid, &root), NC_ENOGRP);
  EXPECT(nc_inq_grpname_full(found, &length, name), 0);
  EXPECT(strcmp(name, "/one"), 0);
  EXPECT(nc_inq_grps(ncid, &count, NULL), 0);
  EXPECT(count, 2);
  EXPECT(nc_inq_varid(ncid + 999, "v", &same), NC_EBADID);
  EXPECT(nc_close(ncid), 0);
  EXPECT(nc_inq_grps(ncid, &count, NULL), NC_EBADID);
}

static void reads(void) {
  int ncid, group, id, format, mode, whole[6];
  size_t start[2] = {0, 0}, count[2] = {2, 3}, length;
  const ptrdiff_t map[2] = {1, 2};
  short shorts[6];
  signed char bytes[6];
  char text[64];
  nc_type type;
  long long least = 0;
  EXPECT(nc_open("both.nmb", NC_NOWRITE, &ncid), 0);
  EXPECT(nc_inq_format_extended(ncid, &format, &mode), 0);
  EXPECT(format, NC_FORMATX_UDF0);
  EXPECT(nc_inq_ncid(ncid, "two", &group), 0);
  EXPECT(nc_inq_varid(group, "v", &id), 0);
  EXPECT(nc_get_varm_int(group, id, start, count, NULL, map, whole), 0);
  EXPECT(whole[1], 300);
  EXPECT(whole[4], 2);
  EXPECT(nc_get_var_short(group, id, shorts), 0);
  EXPECT(shorts[3], 300);
  EXPECT(nc_get_var_schar(group, id, bytes), NC_ERANGE);
  EXPECT(bytes[0], 3);
  EXPECT(nc_get_var_text(group, id, text), NC_ECHAR);
  start[0] = 2;
  EXPECT(nc_get_vara_int(group, id, start, count, whole), NC_EINVALCOORDS);
  start[0] = 1;
  EXPECT(nc_get_vara_int(group, id, start, count, whole), NC_EEDGE);
  memset(text, 0, sizeof text);
  EXPECT(nc_inq_att(group, NC_GLOBAL, "_NmbTags", &type, &length), 0);
  EXPECT(type, NC_CHAR);
  EXPECT(nc_get_att_text(group, NC_GLOBAL, "_NmbTags", text), 0);
  EXPECT(strncmp(text, "{\"source\": \"here\"", 17), 0);
  EXPECT(nc_inq_att(group, id, "_NmbMinimum", &type, &length), 0);
  EXPECT(type, NC_INT);
  EXPECT(nc_get_att_longlong(group, id, "_NmbMinimum", &least), 0);
  EXPECT(least, -1);
  EXPECT(nc_inq_natts(group, &format), 0);
  EXPECT(format, 0);
  EXPECT(nc_inq_att(group, id, "_NmbOther", &type, &length), NC_ENOTATT);
  EXPECT(nc_close(ncid), 0);
}

static void refused(void) {
  int ncid, id;
  EXPECT(nc_open("both.nmb", NC_WRITE, &ncid), NC_EPERM);
  EXPECT(strstr(nmb_netcdf_message(), "both.nmb: an NMB file can only be read") != NULL, 1);
  EXPECT(nc_open("both.nmb", NC_NOWRITE, &ncid), 0);
  EXPECT(nc_redef(ncid), NC_EPERM);
  EXPECT(nc_def_dim(ncid, "z", 1, &id), NC_EPERM);
  EXPECT(nc_put_att_text(ncid, NC_GLOBAL, "a", 1, "b"), NC_EPERM);
  EXPECT(nc_sync(ncid), 0);
  EXPECT(nc_close(ncid), 0);
}

/* A file with more blocks than netCDF-C has numbers for groups. */
static void many_groups(const char* nmcat) {
  enum { kBlocks = 65540 };
  int ncid, id, count, dim;
  char name[32];
  EXPECT(nc_create("many.nc", NC_CLOBBER, &ncid), 0);
  EXPECT(nc_def_dim(ncid, "x", 1, &dim), 0);
  for (int i = 0; i < kBlocks; ++i) {
    snprintf(name, sizeof name, "b%06d_v", i);
    if (nc_def_var(ncid, name, NC_BYTE, 1, &dim, &id)) break;
  }
  EXPECT(id, kBlocks - 1);
  EXPECT(nc_close(ncid), 0);
  run(nmcat, "-q -f --split-names '^(b[0-9]+)_' many.nc -o many.nmb");
  EXPECT(nc_open("many.nmb", NC_NOWRITE, &ncid), 0);
  EXPECT(nc_inq_grp_full_ncid(ncid, "/many/b065539", &id), 0);
  EXPECT(nc_inq_varid(id, "v", &count), 0);
  EXPECT(nc_inq_grp_parent(id, &id), 0);
  EXPECT(nc_inq_grps(id, &count, NULL), NC_ENFILE);
  EXPECT(strstr(nmb_netcdf_message(), "65,535 groups") != NULL, 1);
  EXPECT(nc_close(ncid), 0);
}

int main(int argc, char** argv) {
  char folder[] = "/tmp/netcdf_calls_XXXXXX", command[64];
  if (argc != 2 || !mkdtemp(folder) || chdir(folder)) return 2;
  EXPECT(nmb_netcdf_register(), 0);
  EXPECT(nmb_netcdf_register(), 0);
  make("one.nc");
  make("two.nc");
  run(argv[1], "-q -f --stats basic --tag source=here one.nc two.nc -o both.nmb");
  groups();
  reads();
  refused();
  many_groups(argv[1]);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) == 0 ? wrong : 2;
}
