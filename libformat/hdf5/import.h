// The commands `nmb-hdf5 import FILE SPOOL` and `materialise FILE SPOOL`: they describe the groups
// of an HDF5 file as blocks, and the places of their values (hdf5/client/hdf5_stream.h).
#pragma once

#include <cstdint>
#include <string>

namespace nmb::hdf5 {

// The values of external and virtual data sets: kLeft describes their places; kCopied copies them.
enum class OtherFiles : std::uint8_t { kLeft, kCopied };

// spool: the number of an open file descriptor. place: the name of the block that the root group
// becomes; paths of references, hard links and named datatypes begin with it. Returns the exit
// code: 0, or 1 after a message of failure.
int import_file(const std::string& path, int spool, const std::string& place,
                OtherFiles other_files);

}  // namespace nmb::hdf5
