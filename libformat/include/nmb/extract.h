// extract: writes a block of an NMB file, or a classic file, as a classic file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/compression.h"
#include "nmb/output_file.h"
#include "nmb/reader.h"
#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

struct Hdf5Losses;  // nmb/write_hdf5.h

struct ExtractOptions {
  // The kind to write. Empty: the source's own, byte for byte as it was packed; numrecs is brought
  // up to date if records were added.
  std::optional<Kind> kind;
  bool overwrite = false;
  bool sync = true;
  bool check = true;     // each write is read back and compared; an HDF5 file, when it is whole
  unsigned threads = 1;  // that move values
  // Set: once this is true, work stops with kIo "interrupted", and nothing gets its name.
  const std::atomic<bool>* cancel = nullptr;
  // Called from any of the threads, one at a time, with bytes of this rank's share of the values.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  OutputLayer layer;  // around the file
  // HDF5 outputs: called on rank 0 before anything is written. A status that is not ok ends the
  // call. Unset: the call fails with kConflict if the file cannot hold something.
  std::function<Status(const Reader&, const Hdf5Losses&)> on_losses{};
  // HDF5 outputs: deflate level (1 to 9; 0: none) and shuffling of arrays of classic blocks that
  // have records or more than 64 KiB.
  int deflate = 0;
  bool shuffle = false;
  // HDF5 outputs: lengths of chunks of classic blocks' arrays with these dimensions; of one that is
  // not unlimited at most its length.
  std::vector<Compression::ChunkLength> chunk{};
  // An HDF5 file that need not be netCDF: dimensions that netCDF made up names for (phony_dim_0)
  // become no data sets.
  bool plain = false;
};

// Publishes `path` or leaves what was there untouched. kConflict: the kind asked for cannot hold
// the block, naming the object; kDamaged: a sum of the source is wrong; kExists; kIo; kNoSpace.
NMB_EXPORT Status extract_block(const Reader& reader, const BlockEntry& entry,
                                const std::string& path, const ExtractOptions& options = {});

// A dataset as a classic file of `kind`, canonical.
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ExtractOptions& options = {});

// The same by all ranks of `ranks`, which have opened the same source and each write a share of the
// values; options and outcome are the same on all.
NMB_EXPORT Status extract_block(const Reader& reader, const BlockEntry& entry,
                                const std::string& path, const ExtractOptions& options,
                                Communicator& ranks);
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ExtractOptions& options, Communicator& ranks);

}  // namespace nmb
