// open_hdf5: opens an HDF5 or netCDF-4 file as the blocks that packing makes of it (docs/hdf5.md).
#pragma once

#include <memory>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

// Returns one block per group, in ascending order of names (by bytes); a name is the group's path
// without the leading '/'. All metadata is loaded into memory. Values are read on demand: from
// `file`, and those of variable length from a temporary file; the blocks keep both open. Entries
// have body kind 6, lengths, counts, and samples as pack() counts them by default; their positions
// are 0.
// file: its name must be the path of the file, which nmb-hdf5, a separate process, opens. kDamaged:
// HDF5 cannot read the file; kUnsupported: a block cannot represent something in the file, or
// nmb-hdf5 is missing; kLimit: time, memory (for all metadata: 1 GiB plus 4 times the file's size),
// temporary space; kIo.
NMB_EXPORT Result<std::vector<std::shared_ptr<const Block>>> open_hdf5(
    std::shared_ptr<const ByteSource> file);

}  // namespace nmb
