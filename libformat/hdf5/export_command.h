// The command `nmb-hdf5 export INPUT OUTPUT`: an NMB file as HDF5.
#pragma once

#include <string>
#include <string_view>

#include "source_block.h"

namespace nmb::hdf5 {

// Returns the exit code: 0, 1 where `input` is damaged, kNoSpaceExit where `output` has no room, 2
// where it was not done for another reason; there is an `output` only after 0. Failures are told on
// standard error. chunk: style.chunk as Compression::set_chunk() takes it; empty: none.
int export_file(const std::string& input, const std::string& output, ClassicStyle style,
                std::string_view chunk);

}  // namespace nmb::hdf5
