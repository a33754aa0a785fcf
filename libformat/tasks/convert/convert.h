// Converts blocks to classic files, and NMB files to HDF5 or netCDF-4. Checks that no output
// replaces a file to which an input refers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/files.h"
#include "files/output_options.h"
#include "model/dataset.h"
#include "model/values.h"
#include "netcdf/netcdf_view.h"
#include "parallel/communicator.h"
#include "reader/file_reader.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

struct Hdf5Losses;

// --- classic files ---

struct ExtractOptions : OutputOptions {
  // --- what changes the bytes ---
  // The kind of file to write. nullopt means the kind of the source. The file is then identical to
  // the file that was packed; if records were added, only numrecs differs.
  std::optional<Kind> kind;
  // For HDF5 outputs: the deflate level (1 to 9, or 0 for no compression), and whether to shuffle
  // bytes. Both options apply to an array of a classic block if the array has records or more than
  // 64 KiB.
  int deflate = 0;
  bool shuffle = false;
  // For HDF5 outputs: chunk lengths along named dimensions, for arrays of classic blocks. Along a
  // fixed dimension, the chunk length is limited to the dimension's length.
  std::vector<Compression::ChunkLength> chunk{};
  // For HDF5 outputs: whether the output need not be netCDF-4, so that names may be longer.
  bool plain = false;
  // For HDF5 outputs: whether netCDF made up the names phony_dim_N in classic blocks. Dimensions
  // with these names then get no data sets.
  bool made_up_names = false;

  // --- checks and callbacks ---
  bool check = true;  // Whether to read back and compare each write; an HDF5 file is compared after
                      // it is complete
  // For HDF5 outputs: called on rank 0 with the losses, before anything is written. If this
  // function fails, the conversion fails. If no function is set, losses make the conversion fail
  // with kConflict.
  std::function<Status(const FileReader&, const Hdf5Losses&)> on_losses{};
  // Set if the source is a temporary file whose values are in other files and have no checksums.
  // Called before the output is checked and published; returns an error if one of these files has
  // changed.
  std::function<Status()> links_unchanged{};
};

// Writes a block as a classic file, and publishes the file as `path`. A failure does not change an
// existing file at `path`. Errors: kConflict if the requested kind cannot hold the block (the
// message names the object); kDamaged if a checksum of the source does not match; kExists; kIo;
// kNoSpace.
NMB_EXPORT Status extract_block(const FileReader& reader, const BlockEntry& entry,
                                const std::string& path, const ExtractOptions& options = {});

// Writes a dataset as a classic file of `kind` in canonical form.
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ExtractOptions& options = {});

// The following two functions are collective versions. All ranks of `ranks` must have opened the
// same source; each rank writes a share of the values. The options must be the same on all ranks.
// All ranks get the same outcome.
NMB_EXPORT Status extract_block(const FileReader& reader, const BlockEntry& entry,
                                const std::string& path, const ExtractOptions& options,
                                Communicator& ranks);
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ExtractOptions& options, Communicator& ranks);

// --- HDF5 and netCDF-4 files ---

// Parts of an NMB file that the HDF5 file does not contain, or contains in another form.
struct Hdf5Losses {
  // Parts that HDF5 cannot hold. These parts are the user blocks of groups other than the root
  // group. If all other groups lie below a group, HDF5 can hold the user block of this group.
  std::vector<Loss> losses{};
  // Filter parameters that HDF5 replaces, without a change of values, and chunks that could not be
  // checked because of their filters (see `damaged`).
  std::vector<Loss> changes{};
  // Variables of which chunks cannot be decoded: the values are unreadable in the NMB file too. The
  // HDF5 file gets the stored bytes of these chunks. If options.check is set, write_hdf5() decodes
  // all chunks to find these variables; otherwise, it takes those that the NMB file marks. Empty
  // for the outputs of pack(), which reports such variables in PackReport::losses.
  std::vector<Loss> damaged{};
  LostRecords records{};
};

// Writes an NMB file as HDF5, and publishes the HDF5 file as `path`. A failure does not change an
// existing file at `path`. Collective: rank 0 does the work, and all ranks get the outcome. `input`
// is the path of the file that `reader` has open. The HDF5 library runs in a separate process,
// which opens `input`. Ignores options.kind. If options.check is set, compares the groups and
// values of the result with `input`, and also compares the dimensions that netCDF finds in the
// result with the dimensions of the sources. Errors: kConflict if there are losses or damaged
// variables and options.on_losses is not set; kDamaged and kUnsupported if the separate process
// fails with them; kExists; kIo; kNoSpace.
NMB_EXPORT Status write_hdf5(const FileReader& reader, const std::string& input,
                             const std::string& path, const ExtractOptions& options,
                             Communicator& ranks);

// Makes the checks of write_hdf5() that come before the HDF5 file is written, except the search for
// damaged chunks. Reads no values. Calls options.on_losses. Not
// collective. Errors: those of write_hdf5().
NMB_EXPORT Status check_hdf5(const FileReader& reader, const std::string& input,
                             const ExtractOptions& options);

// --- files to which an input refers, and which no output may replace ---

// These functions follow references to any depth. Files of virtual data sets and external links are
// looked for in the folder of the file that refers to them. Outputs that do not exist yet are
// compared by folder and name. Each file is read once for each OutputSet. Files that are damaged or
// cannot be opened are skipped. At most 65,536 files are read, and reading ends after about 5
// minutes. Some files are not read because of these limits, or because this version cannot read
// them. Such a file may refer to an output. Therefore, if an output exists and would be replaced,
// the functions fail with kUsage. Thread-safe.

// Fails with kUsage if an output is a file to which the NMB file refers. An NMB file refers to all
// files in its file table, even if ReadOptions::external does not allow them. The NMB file
// also refers to all files to which its blocks from HDF5 refer. Reads the metadata of all blocks
// from HDF5. Other errors: those of Reader.
NMB_EXPORT Status check_references(const OutputSet& outputs, const FileReader& reader);

// Fails with kUsage if an output is a file of the file table. Other errors: kDamaged, kIo.
NMB_EXPORT Status check_file_table(const OutputSet& outputs, const FileReader& reader);

// Fails with kUsage if an output is a file to which a dataset from HDF5 refers. Such files contain
// raw data of external data sets, sources of virtual data sets, or targets of external links.
// `file` is the path of the file with the dataset. Names are looked for in the folder of `file`, in
// the current folder, and in the folders that the environment variables of the HDF5 library name.
// Other errors: kDamaged.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Dataset& dataset,
                                   const std::string& file);

// Checks all references in an NMB or HDF5 file, as the functions above do. Reads the file for this
// check; files of other kinds have no references. Other errors: failures to read `file`.
NMB_EXPORT Status check_references(const OutputSet& outputs,
                                   const std::shared_ptr<const ByteSource>& file);

}  // namespace nmb
