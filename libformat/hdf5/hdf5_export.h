// The command `nmb-hdf5 export INPUT OUTPUT`: writes an NMB file as HDF5, each block as a group,
// its variables as data sets (spec/format.md, section 15; spec/hdf5_section.md).
#pragma once

#include <string>
#include <string_view>

#include "source_block.h"

namespace nmb::hdf5 {

// Sends Message::kDone or kFailure (kExists: `output` exists) and returns the exit code: 0, or 1 if
// it made no `output`. chunk: style.chunk as Compression::set_chunk() takes it; empty: none.
// external: which other files may have values of `input`.
int export_file(const std::string& input, const std::string& output, ClassicStyle style,
                std::string_view chunk, ExternalPaths external = ExternalPaths::kBeneath);

}  // namespace nmb::hdf5
