// The calls of PnetCDF on our files. generate.py makes the typed functions, which are lines over
// access_var() and its like; a call_NAME is the whole function ncmpi_NAME.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <new>

#include "codes.h"
#include "interface.h"

namespace nmb::pnetcdf {

enum class Api { kVar, kVar1, kVarA, kVarS, kVarM };

// Properties of an access, as bits.
inline constexpr unsigned kRead = 1, kWrite = 2, kCollective = 4, kNonblocking = 8, kBuffered = 16,
                          kFlexible = 32;

// No exception leaves a call.
template <class Call>
int guarded(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return code::kNoMemory;
  } catch (const std::exception&) {
    return code::kFile;
  }
}

int access_var(int file, int variable, Api api, const MPI_Offset* start, const MPI_Offset* count,
               const MPI_Offset* stride, const MPI_Offset* imap, void* buffer, MPI_Offset count_of,
               MPI_Datatype type, unsigned flags, int* request);
int access_varn(int file, int variable, int number, MPI_Offset* const* starts,
                MPI_Offset* const* counts, void* buffer, MPI_Offset count_of, MPI_Datatype type,
                unsigned flags, int* request);
// type: of the elements of all buffers, or MPI_DATATYPE_NULL if `types` has them.
int access_mvar(int file, int number, const int* variables, Api api, MPI_Offset* const* starts,
                MPI_Offset* const* counts, MPI_Offset* const* strides, MPI_Offset* const* imaps,
                void* const* buffers, const MPI_Offset* counts_of, const MPI_Datatype* types,
                MPI_Datatype type, unsigned flags);
int access_vard(int file, int variable, MPI_Datatype file_type, void* buffer, MPI_Offset count_of,
                MPI_Datatype type, unsigned flags);
// type: MPI_DATATYPE_NULL for the attribute's own type.
int get_att(int file, int variable, const char* name, void* values, MPI_Datatype type);
int put_att(int file, int variable, const char* name, int xtype, MPI_Offset count,
            const void* values, MPI_Datatype type);

extern "C" {
int call_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file);
int call_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file);
int call_inq_file_format(const char* path, int* format);
int call_inq_files_opened(int* number, int* files);
int call_copy_att(int from, int variable, const char* name, int to, int other);
int call_close(int file);
int call_enddef(int file);
int call__enddef(int file, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                 MPI_Offset r_align);
int call_redef(int file);
int call_sync(int file);
int call_flush(int file);
int call_sync_numrecs(int file);
int call_abort(int file);
int call_begin_indep_data(int file);
int call_end_indep_data(int file);
int call_set_fill(int file, int mode, int* old_mode);
int call_def_var_fill(int file, int variable, int no_fill, const void* value);
int call_fill_var_rec(int file, int variable, MPI_Offset record);
int call_def_dim(int file, const char* name, MPI_Offset length, int* id);
int call_def_var(int file, const char* name, int type, int dims, const int* dim_ids, int* id);
int call_rename_dim(int file, int id, const char* name);
int call_rename_var(int file, int id, const char* name);
int call_inq(int file, int* dims, int* vars, int* atts, int* record_dim);
int call_inq_format(int file, int* format);
int call_inq_path(int file, int* length, char* path);
int call_inq_num_fix_vars(int file, int* number);
int call_inq_num_rec_vars(int file, int* number);
int call_inq_striping(int file, int* size, int* count);
int call_inq_version(int file, int* mode);
int call_inq_ndims(int file, int* number);
int call_inq_nvars(int file, int* number);
int call_inq_natts(int file, int* number);
int call_inq_unlimdim(int file, int* id);
int call_inq_dimid(int file, const char* name, int* id);
int call_inq_dim(int file, int id, char* name, MPI_Offset* length);
int call_inq_dimname(int file, int id, char* name);
int call_inq_dimlen(int file, int id, MPI_Offset* length);
int call_inq_var(int file, int id, char* name, int* type, int* dims, int* dim_ids, int* atts);
int call_inq_varid(int file, const char* name, int* id);
int call_inq_varname(int file, int id, char* name);
int call_inq_vartype(int file, int id, int* type);
int call_inq_varndims(int file, int id, int* dims);
int call_inq_vardimid(int file, int id, int* dim_ids);
int call_inq_varnatts(int file, int id, int* atts);
int call_inq_varoffset(int file, int id, MPI_Offset* offset);
int call_inq_var_fill(int file, int id, int* no_fill, void* value);
int call_inq_att(int file, int variable, const char* name, int* type, MPI_Offset* count);
int call_inq_attid(int file, int variable, const char* name, int* id);
int call_inq_atttype(int file, int variable, const char* name, int* type);
int call_inq_attlen(int file, int variable, const char* name, MPI_Offset* count);
int call_inq_attname(int file, int variable, int id, char* name);
int call_rename_att(int file, int variable, const char* name, const char* to);
int call_del_att(int file, int variable, const char* name);
int call_inq_header_size(int file, MPI_Offset* size);
int call_inq_header_extent(int file, MPI_Offset* size);
int call_inq_recsize(int file, MPI_Offset* size);
int call_inq_put_size(int file, MPI_Offset* size);
int call_inq_get_size(int file, MPI_Offset* size);
int call_inq_file_info(int file, MPI_Info* info);
int call_get_file_info(int file, MPI_Info* info);
int call_inq_nreqs(int file, int* number);
int call_inq_buffer_usage(int file, MPI_Offset* bytes);
int call_inq_buffer_size(int file, MPI_Offset* bytes);
int call_buffer_attach(int file, MPI_Offset bytes);
int call_buffer_detach(int file);
int call_wait(int file, int number, int* requests, int* statuses);
int call_wait_all(int file, int number, int* requests, int* statuses);
int call_cancel(int file, int number, int* requests, int* statuses);
}

// The functions of nmb_pnetcdf.h.
int define_block(int file, const char* name, int* block);
int open_block(int file, const char* name, int* block);
int global_ids(int file, int* dims, int* vars);
int count_blocks(int file, MPI_Offset* number);
int name_of_block(int file, MPI_Offset position, char* name, std::size_t size);
const char* message();

// The table that generate.py writes, and numbers of functions in it.
extern const Function kFunctions[];
extern const unsigned kTableVersion;
extern const int kFunctionCount;
extern const int kIndex_inq_att, kIndex_get_att, kIndex_put_att, kIndex_inq_default_format;

// PnetCDF's own function of this number.
template <class F>
F real_function(int number);
extern Function (*real_lookup)(int number);
template <class F>
F real_function(int number) {
  return reinterpret_cast<F>(real_lookup(number));
}

}  // namespace nmb::pnetcdf
