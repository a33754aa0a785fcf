// open_hdf5: an HDF5 file, be it of netCDF-4 or not, as the blocks that packing makes of it
// (docs/hdf5.md).
#pragma once

#include <memory>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

// A block for each group, by ascending name (bytes); a name is the group's path without the first
// '/'. Metadata is whole in memory; values are read when they are asked for, from `file` and from a
// temporary file (those of variable length), which the blocks keep open. Entries have body kind 6,
// lengths, counts, and samples as pack() counts them by default; places in a file are 0.
//
// `file` has the name of the file that it reads: nmb-hdf5, a process of its own, opens that.
// kDamaged: HDF5 cannot read the file; kUnsupported: something in it that has no form here, or
// there is no nmb-hdf5; kLimit: time, memory (of all metadata: 1 GiB and 4 times the file),
// temporary space; kIo.
NMB_EXPORT Result<std::vector<std::shared_ptr<const Block>>> open_hdf5(
    std::shared_ptr<const ByteSource> file);

}  // namespace nmb
