#include "calls.h"

namespace nmb::udf {

namespace {

int open(const char* path, int mode, int format, int ncid, const void* caller) {
  if (!path) return NC_EINVAL;
  return guarded([&] { return OpenFile::open(path, mode, format, ncid, caller); });
}

}  // namespace

// Each process that opens a file by nc_open_par() reads it by itself.
int open_as_udf0(const char* path, int mode, int, std::size_t*, void*, const NC_Dispatch*,
                 int ncid) {
  return open(path, mode, NC_FORMATX_UDF0, ncid, __builtin_return_address(0));
}

int open_as_udf1(const char* path, int mode, int, std::size_t*, void*, const NC_Dispatch*,
                 int ncid) {
  return open(path, mode, NC_FORMATX_UDF1, ncid, __builtin_return_address(0));
}

int close(int ncid, void*) {
  return guarded([&] { return OpenFile::close(ncid); });
}

int leave(int ncid) { return close(ncid, nullptr); }

int nothing_to_sync(int ncid) { return OpenFile::of(ncid) ? NC_NOERR : NC_EBADID; }

int inq_format(int ncid, int* format) {
  return on_group(ncid, [&](OpenFile& file, Group&) -> int {
    int found = 0;
    NMB_NC_TRY(file.format(&found));
    give(format, found);
    return NC_NOERR;
  });
}

int inq_format_extended(int ncid, int* format, int* mode) {
  const OpenFile* const file = OpenFile::of(ncid);
  if (!file) return NC_EBADID;
  give(format, file->extended_format());
  give(mode, file->mode());
  return NC_NOERR;
}

int inq(int ncid, int* dimensions, int* variables, int* attributes, int* unlimited) {
  return on_loaded(ncid, [&](OpenFile& file, Group& group) -> int {
    give(dimensions, group.dimensions.size());
    give(variables, group.variables.size());
    give(attributes, group.attributes.size());
    give(unlimited, -1);
    for (const Group::OwnDimension& own : group.dimensions)
      if (file.dimension(own.id)->may_grow) {
        give(unlimited, own.id);
        break;
      }
    return NC_NOERR;
  });
}

int show_metadata(int ncid) { return OpenFile::of(ncid) ? NC_NOERR : NC_EBADID; }

}  // namespace nmb::udf
