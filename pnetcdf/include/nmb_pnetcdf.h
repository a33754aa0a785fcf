/* nmb_pnetcdf.h: what programs that call PnetCDF can also do with NMB files.
 *
 *   ncmpi_create(comm, "run.nmb", NC_64BIT_DATA, MPI_INFO_NULL, &file);
 *   nmb_pnetcdf_def_block(file, "station/north", &north);
 *   ncmpi_def_dim(north, "time", NC_UNLIMITED, &time);
 *   ...
 *   ncmpi_enddef(north);
 *   ncmpi_put_vara_float_all(north, ...);
 *   ncmpi_close(north);
 *   ncmpi_close(file);
 *
 * Link with -Wl,--no-as-needed -lnmb-pnetcdf -lpnetcdf. A block has an ID of its own, on which
 * every call of PnetCDF works; the last ID of a file that is closed commits the file. The ID of a
 * file that was created is that of a block with the file's name. All functions return codes of
 * PnetCDF: NC_EBADID if the ID is not that of an NMB file. */
#ifndef NMB_PNETCDF_H
#define NMB_PNETCDF_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Defines a block, whose ID is then in define mode. Collective. NC_ENAMEINUSE if an open ID shows a
 * block of this name. */
int nmb_pnetcdf_def_block(int file, const char* name, int* block);
/* Opens a block of a file that was opened. Collective. NC_ENOENT if there is none of this name;
 * NC_ENOTSUPPORT if the file can be written and an open ID shows the block already. */
int nmb_pnetcdf_open_block(int file, const char* name, int* block);
/* For a file that was created with the hint nmb_create = independent. Each process then defines
 * dimensions and variables of its own; in a name such as "evt3/temperature", evt3 is the block. The
 * dimensions of a variable are those of its block; only the record dimension has no path and may be
 * used in all blocks. Processes may define the same, alike. Until this call, which follows
 * ncmpi_enddef(), IDs are those of the process: all puts and gets reach what it has defined itself.
 * This call makes everything known to all processes, with the same IDs. dims, variables: get the
 * new IDs of what the process has defined, in its order; may be NULL. Collective. */
int nmb_pnetcdf_inq_global_ids(int file, int* dims, int* variables);
/* Number of blocks in a file that was opened, and their names by position in the order of names. */
int nmb_pnetcdf_inq_nblocks(int file, MPI_Offset* number);
int nmb_pnetcdf_inq_blockname(int file, MPI_Offset position, char* name, size_t size);
/* What the last failure of this thread was about, as NMB says it; "" if there was none. */
const char* nmb_pnetcdf_message(void);

#ifdef __cplusplus
}
#endif

#endif
