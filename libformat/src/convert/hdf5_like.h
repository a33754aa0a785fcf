// write_hdf5_like: writes a classic file as netCDF-4 with the chunks and filters of another file.
#pragma once

#include <string>

#include "nmb/convert.h"
#include "nmb/status.h"

namespace nmb {

// Writes the classic file `input` as the netCDF-4 file `path`. If `like` is an HDF5 file, a
// variable gets its byte order, chunks and filters from the variable of the same name and rank in
// the root group of `like`. This applies only if NMB can encode these filters. If options.deflate
// is not 0, deflate with this level replaces the filters. Uses `options` as write_hdf5() does.
// Errors: those of write_hdf5().
Status write_hdf5_like(const std::string& input, const std::string& path, const std::string& like,
                       const ConvertOptions& options);

}  // namespace nmb
