// write_cmip7: writes a file with the layout of CMIP7.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "convert/convert.h"
#include "files/files.h"
#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

// Writes a netCDF-4, HDF5 or classic file as a netCDF-4 file with the layout of CMIP7. Time
// coordinates and their bounds have one chunk each or are contiguous. Each other variable has one
// chunk, or it is divided along its first dimension into chunks of at least 4 MiB of values. If the
// values of a variable take more than 64 KiB, they are stored with shuffle, deflate of level 4 and
// fletcher32. All metadata are in one run at the beginning of the file. Chunks that already have
// the right lengths and filters are copied. Collective: rank 0 does the work, and all ranks get the
// outcome. Uses overwrite, sync, check, threads, cancel and layer of `options`; options.check
// compares values, attributes and types; chunks that were copied are compared as stored bytes.
// `on_losses` is called on rank 0 before anything is written: `changes` has the variables that keep
// their chunks although they do not fit this layout, and `damaged` is as for write_hdf5(). If
// `on_losses` fails, the call fails with the same error. Other errors: those of write_hdf5(), and
// kUnknownKind if `file` has another kind.
Status write_cmip7(const std::shared_ptr<const FileSource>& file, const std::string& path,
                   const ExtractOptions& options, Communicator& ranks,
                   const std::function<Status(const Hdf5Losses&)>& on_losses);

}  // namespace nmb
