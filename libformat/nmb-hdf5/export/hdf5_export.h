// Runs the command `nmb-hdf5 export INPUT OUTPUT`. The command writes an NMB file as HDF5: each
// block becomes a group, and each variable becomes a data set (spec/extended.md, section 15;
// spec/hdf5_section.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "import/export_source.h"

namespace nmb::hdf5 {

// Describes a temporary input whose values are in other files and have no checksums.
struct LinkedInput {
  // Numbers of the variables of the root block to write, for example "0,3,4". If empty, everything
  // is written.
  std::string_view variables{};
};

// Writes `output`, then sends Message::kDone or kFailure (kExists if `output` exists). Returns the
// exit code: 0, or 1 if `output` was not made. `chunk` is empty, or a text from which
// Compression::set_chunk() sets style.chunk.
int export_file(const std::string& input, const std::string& output, WriteStyle style,
                std::string_view chunk, const std::optional<LinkedInput>& linked = {});

// Runs the command `nmb-hdf5 relayout INPUT OUTPUT THREADS`. It writes an HDF5 or classic file as
// HDF5 with the layout of CMIP7. Sends messages and returns the exit code as export_file() does.
int relayout_file(const std::string& input, const std::string& output, unsigned threads);

}  // namespace nmb::hdf5
