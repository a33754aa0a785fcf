// Runs the command `nmb-hdf5 export INPUT OUTPUT`. The command writes an NMB file as HDF5: each
// block becomes a group, and each variable becomes a data set (spec/format.md, section 15;
// spec/hdf5_section.md).
#pragma once

#include <string>
#include <string_view>

#include "source_block.h"

namespace nmb::hdf5 {

// Writes `output`, then sends Message::kDone or kFailure (kExists if `output` exists). Returns the
// exit code: 0, or 1 if `output` was not made. `chunk` is empty, or a text from which
// Compression::set_chunk() sets style.chunk.
// `links_inputs` says whether `input` is a temporary file whose values are in other files and have
// no checksums.
int export_file(const std::string& input, const std::string& output, WriteStyle style,
                std::string_view chunk, bool links_inputs = false);

// Runs the command `nmb-hdf5 export-like INPUT OUTPUT ... THREADS LIKE`. It works like
// export_file() for a classic INPUT, and uses the chunks and filters of the file LIKE.
int export_like(const std::string& input, const std::string& output, WriteStyle style,
                std::string_view chunk, const std::string& like);

// Runs the command `nmb-hdf5 relayout INPUT OUTPUT THREADS`. It writes an HDF5 or classic file as
// HDF5 with the layout of CMIP7. Sends messages and returns the exit code as export_file() does.
int relayout_file(const std::string& input, const std::string& output, unsigned threads);

}  // namespace nmb::hdf5
