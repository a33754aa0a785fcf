// Writes an NMB file as HDF5: each block as a group, its variables as data sets (spec/format.md,
// section 15; spec/hdf5_section.md).
#pragma once

#include <string>

#include "nmb/reader.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

// Makes the file `path`. Errors: kExists if it exists. After any other failure there is no such
// file.
Status export_hdf5(const Reader& reader, const std::string& path, ClassicStyle style);

}  // namespace nmb::hdf5
