// HDF5 views of NMB files: HDF5 metadata by which HDF5 programs read the file as it is
// (spec/hdf5_view.md). New files get one by WriterOptions::hdf5_view.
#pragma once

#include <string>

#include "nmb/status.h"
#include "nmb/writer.h"

namespace nmb {

// Adds a view to an NMB file, as a generation of its own in which nothing else changes; the file is
// as it was after a failure. A file that has a view of what it holds stays as it is, but for an
// HDF5 superblock that a killed writer has left out. Of `options`, sync, locking, cancel, layer
// and on_repair count. kUnsupported: what a view cannot show, by name, or a feature that only newer
// writers keep; kBusy: another writer; kUnknownKind, kDamaged, kIo, kNoSpace.
NMB_EXPORT Status add_hdf5_view(const std::string& path, const WriterOptions& options = {});

}  // namespace nmb
