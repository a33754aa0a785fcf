// Conversion of blocks to classic files, and of NMB files to HDF5 or netCDF-4; checks that no
// output replaces a file that an input refers to.
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
  // The kind to write. nullopt: the source's own, byte for byte as it was packed, except that
  // numrecs is updated if records were added.
  std::optional<Kind> kind;
  // HDF5 outputs: deflate level (1 to 9; 0: none) and shuffle, for arrays of classic blocks that
  // have records or more than 64 KiB.
  int deflate = 0;
  bool shuffle = false;
  // HDF5 outputs: chunk lengths along these dimensions for arrays of classic blocks. Along a fixed
  // dimension the chunk length is limited to the dimension's length.
  std::vector<Compression::ChunkLength> chunk{};
  // HDF5 outputs that need not be netCDF-4: dimensions with names made up by netCDF (phony_dim_0)
  // are not written as data sets.
  bool plain = false;

  // HDF5 outputs: which other files may have values of the input.
  ExternalPaths external = ExternalPaths::kBeneath;

  // --- what becomes of the file ---
  bool overwrite = false;
  bool sync = true;
  bool check = true;  // reads back and compares each write; an HDF5 file after it is complete

  // --- what changes the speed; the bytes are the same ---
  unsigned threads = 1;  // threads that move values

  // --- what stops it, and what is called back ---
  // If set: once *cancel is true, work stops with kIo "interrupted", and no file is published.
  const std::atomic<bool>* cancel = nullptr;
  // Called from any of the threads, one at a time, with bytes of this rank's share of the values.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  // HDF5 outputs: called on rank 0 with the losses before anything is written. If it fails, so does
  // the call. Unset: losses make the call fail with kConflict.
  std::function<Status(const Reader&, const Hdf5Losses&)> on_losses{};
  OutputLayer layer;  // put around the file
};

// Writes a block as a classic file. Publishes `path`, or leaves an existing file there untouched.
// kConflict: the requested kind cannot hold the block; the message names the object; kDamaged: a
// checksum of the source does not match; kExists; kIo; kNoSpace.
NMB_EXPORT Status extract_block(const Reader& reader, const BlockEntry& entry,
                                const std::string& path, const ConvertOptions& options = {});

// Writes a dataset as a classic file of `kind` in canonical form.
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ConvertOptions& options = {});

// Collective versions: all ranks of `ranks` have opened the same source, and each writes a share of
// the values. Options and outcome are the same on all.
NMB_EXPORT Status extract_block(const Reader& reader, const BlockEntry& entry,
                                const std::string& path, const ConvertOptions& options,
                                Communicator& ranks);
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ConvertOptions& options, Communicator& ranks);

// --- HDF5 and netCDF-4 files ---

// Parts of an NMB file that an HDF5 file lacks or holds in another form.
struct Hdf5Losses {
  // HDF5 cannot hold them: user blocks of groups other than the root group, unless all other groups
  // lie below that one.
  std::vector<Loss> losses{};
  // Definitions that HDF5 writes in another form, without loss of values: filter parameters that it
  // replaces.
  std::vector<Loss> changes{};
  LostRecords records{};
};

// Writes an NMB file as HDF5. Publishes `path`, or leaves an existing file there untouched.
// Collective: rank 0 does the work; all ranks get the outcome. input: the path of the file that
// `reader` has open; the HDF5 library runs in a separate process, which opens it. Ignores
// options.kind and options.threads. options.check reads the result and compares its groups and
// values with `input`, and the dimensions that netCDF sees with those of the sources. kConflict:
// losses without options.on_losses; kDamaged, kUnsupported: from that process; kExists; kIo;
// kNoSpace.
NMB_EXPORT Status write_hdf5(const Reader& reader, const std::string& input,
                             const std::string& path, const ConvertOptions& options,
                             Communicator& ranks);

// --- files that an input refers to, which no output may replace ---

// These functions follow references to any depth. Virtual data sets and external links of a
// referenced file are looked for in the folder of that file. Outputs that do not exist yet are
// compared by folder and name. Each file is read once per OutputSet. Files that are damaged or
// cannot be opened are skipped. At most 65,536 files are read, for about 5 minutes. Beyond that,
// and for files that this version cannot read, it is unknown whether an output is referred to:
// kUsage if the output exists and would be replaced. Thread-safe.

// kUsage: an output is a file that the NMB file refers to: one in its file table, whatever
// ReadOptions::external allows, or one that a block from HDF5 refers to. Reads the metadata of all
// such blocks. Other errors: those of Reader.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Reader& reader);

// kUsage: an output is a file of the file table. kDamaged, kIo.
NMB_EXPORT Status check_file_table(const OutputSet& outputs, const Reader& reader);

// kUsage: an output is a file that a dataset from HDF5 refers to: raw data of external data sets,
// sources of virtual data sets, targets of external links. file: the path of the file with the
// dataset. Names are looked for in the folder of `file`, in the current folder, and in the folders
// that the environment variables of the HDF5 library name. kDamaged.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Dataset& dataset,
                                   const std::string& file);

// The same for all references in an NMB or HDF5 file, which is read only for this check; files of
// other kinds have no references. Other errors: those of reading `file`.
NMB_EXPORT Status check_references(const OutputSet& outputs,
                                   const std::shared_ptr<const ByteSource>& file);

}  // namespace nmb
