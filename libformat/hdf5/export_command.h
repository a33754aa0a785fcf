// The command `nmb-hdf5 export INPUT OUTPUT`: writes an NMB file as HDF5.
#pragma once

#include <string>
#include <string_view>

#include "source_block.h"

namespace nmb::hdf5 {

// Sends Message::kDone or kFailure; returns the exit code: 0, or 1 if no `output` was made. chunk:
// style.chunk in the form of Compression::set_chunk(); empty: none.
int export_file(const std::string& input, const std::string& output, ClassicStyle style,
                std::string_view chunk);

}  // namespace nmb::hdf5
