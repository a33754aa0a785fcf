/* libnmb-netcdf: NMB files as a user-defined format of netCDF-C, read only. See
 * docs/guides/netcdf_programs.md. */
#ifndef NMB_NETCDF_H
#define NMB_NETCDF_H

#ifdef __cplusplus
extern "C" {
#endif

struct NC_Dispatch;

/* The first bytes of an NMB file without an HDF5 view, as nc_def_user_format() takes them. */
#define NMB_NETCDF_MAGIC "\211NMB\r\n\032\n"

/* Dispatch tables for nc_def_user_format(), for NC_UDF0 and NC_UDF1. They have version 5, which is
 * that of netCDF-C 4.9. */
extern struct NC_Dispatch nmb_netcdf_udf0;
extern struct NC_Dispatch nmb_netcdf_udf1;

/* Registers the format with the netCDF-C that the caller uses, as NC_UDF0 or, if a program has
 * taken that, as NC_UDF1. Returns 0, also if the format is registered already, or an error code of
 * netCDF: NC_ENOTBUILT if no netCDF-C with user-defined formats was found, NC_EINVAL if it has
 * another version of the table or if both formats are taken. */
int nmb_netcdf_register(void);

/* For NETCDF.UDF0.INIT in the .ncrc of netCDF-C 4.10: registers the format as NC_UDF0, with its
 * magic number, which an rc file cannot spell. Returns the table, or NULL. */
struct NC_Dispatch* nmb_netcdf_init(void);

/* Returns the message of the last failure in this thread: file, offset, what was found. Empty if
 * nothing failed. Valid until the next call of this thread. */
const char* nmb_netcdf_message(void);

#ifdef __cplusplus
}
#endif

#endif
