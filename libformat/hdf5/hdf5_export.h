// The command `nmb-hdf5 export INPUT OUTPUT`. It writes an NMB file as HDF5: each block becomes a
// group, and each variable becomes a data set (spec/format.md, section 15; spec/hdf5_section.md).
#pragma once

#include <string>
#include <string_view>

#include "source_block.h"

namespace nmb::hdf5 {

// Writes `output`, then sends Message::kDone or kFailure (kExists if `output` exists). Returns the
// exit code: 0, or 1 if `output` was not made. `chunk` is the text of style.chunk for
// Compression::set_chunk(), or empty.
int export_file(const std::string& input, const std::string& output, WriteStyle style,
                std::string_view chunk);

// The command `nmb-hdf5 export_like INPUT OUTPUT ... LIKE THREADS`: the same for a classic INPUT,
// with the chunks and filters of the file LIKE.
int export_like(const std::string& input, const std::string& output, WriteStyle style,
                std::string_view chunk, const std::string& like);

// The command `nmb-hdf5 relayout INPUT OUTPUT THREADS`: writes an HDF5 or classic file as HDF5 with
// the layout of CMIP7. Sends messages and returns the exit code as export_file() does.
int relayout_file(const std::string& input, const std::string& output, unsigned threads);

}  // namespace nmb::hdf5
