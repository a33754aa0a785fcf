// Conversion: blocks as classic files, NMB files as HDF5 or netCDF-4, and the files that an input
// refers to, which no output may replace.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/communicator.h"
#include "nmb/dataset.h"
#include "nmb/files.h"
#include "nmb/netcdf_view.h"
#include "nmb/reader.h"
#include "nmb/status.h"
#include "nmb/types.h"
#include "nmb/values.h"

namespace nmb {

struct Hdf5Losses;

// --- classic files ---

struct ConvertOptions {
  // --- what changes the bytes ---
  // The kind to write. Empty: the source's own, byte for byte as it was packed; numrecs is brought
  // up to date if records were added.
  std::optional<Kind> kind;
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

  // --- what becomes of the file ---
  bool overwrite = false;
  bool sync = true;
  bool check = true;  // each write is read back and compared; an HDF5 file, when it is whole

  // --- what changes the speed; the bytes are the same ---
  unsigned threads = 1;  // that move values

  // --- what stops it, and what is called back ---
  // Set: once this is true, work stops with kIo "interrupted", and nothing gets its name.
  const std::atomic<bool>* cancel = nullptr;
  // Called from any of the threads, one at a time, with bytes of this rank's share of the values.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  // HDF5 outputs: called on rank 0 before anything is written. A status that is not ok ends the
  // call. Unset: the call fails with kConflict if the file cannot hold something.
  std::function<Status(const Reader&, const Hdf5Losses&)> on_losses{};
  OutputLayer layer;  // around the file
};

// Publishes `path` or leaves what was there untouched. kConflict: the kind asked for cannot hold
// the block, naming the object; kDamaged: a sum of the source is wrong; kExists; kIo; kNoSpace.
NMB_EXPORT Status extract_block(const Reader& reader, const BlockEntry& entry,
                                const std::string& path, const ConvertOptions& options = {});

// A dataset as a classic file of `kind`, canonical.
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ConvertOptions& options = {});

// The same by all ranks of `ranks`, which have opened the same source and each write a share of the
// values; options and outcome are the same on all.
NMB_EXPORT Status extract_block(const Reader& reader, const BlockEntry& entry,
                                const std::string& path, const ConvertOptions& options,
                                Communicator& ranks);
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ConvertOptions& options, Communicator& ranks);

// --- HDF5 and netCDF-4 files ---

// What an HDF5 file does not have of an NMB file, or has otherwise.
struct Hdf5Losses {
  // It cannot hold: user blocks of groups other than the root group, unless all others lie below
  // that one.
  std::vector<Loss> losses{};
  // Definitions that HDF5 writes in another form, without a loss of values: filter parameters that
  // it replaces.
  std::vector<Loss> changes{};
  LostRecords records{};
};

// Publishes `path` or leaves what was there untouched. Done by rank 0 of `ranks`; all get the
// outcome. The HDF5 library works in a process of its own, which opens `input`, the file that
// `reader` has open. options.kind and threads do not count; options.check: the result is read
// again, its groups and values are those of `input`, and netCDF sees the dimensions of its sources.
// kConflict: losses without options.on_losses; kDamaged, kUnsupported: what that process says;
// kExists; kIo; kNoSpace.
NMB_EXPORT Status write_hdf5(const Reader& reader, const std::string& input,
                             const std::string& path, const ConvertOptions& options,
                             Communicator& ranks);

// --- files that an input refers to, which no output may replace ---

// The functions follow references at any depth, and compare outputs that do not exist yet by folder
// and name: virtual data sets and external links of a file that is referred to are looked for in
// the folder of that file. Each file is read once for an OutputSet. A file that is damaged or
// cannot be opened is passed over. At most 65,536 files are read, for about 5 minutes; beyond that,
// and where this version does not read a file, nobody can tell whether an output is one that is
// referred to: kUsage where an output exists, which would be replaced. Thread-safe.

// kUsage: an output is a file that the NMB file refers to: a file of its file table, whatever
// ReadOptions::external allows, or one that a block from HDF5 leads to. Reads the metadata of all
// such blocks. Else what Reader fails with.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Reader& reader);

// kUsage: an output is a file of the file table. kDamaged, kIo.
NMB_EXPORT Status check_file_table(const OutputSet& outputs, const Reader& reader);

// kUsage: an output is a file that a dataset from HDF5 leads to: raw data of external data sets,
// sources of virtual data sets, targets of external links. `file` is the path of the file that has
// the dataset. A name is looked for in the folder of `file`, in the current folder, and where the
// environment variables of the HDF5 library say. kDamaged.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Dataset& dataset,
                                   const std::string& file);

// The same for all that an NMB or HDF5 file has, which is read for this check alone; other kinds
// refer to nothing. Else what reading `file` fails with.
NMB_EXPORT Status check_references(const OutputSet& outputs,
                                   const std::shared_ptr<const ByteSource>& file);

}  // namespace nmb
