// Converts one file, alone or as a part of a list.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "common/options/hdf5_view_option.h"
#include "files/files.h"
#include "merge/reporting/merge.h"
#include "model/external_files.h"
#include "model/values.h"
#include "netcdf/subset.h"
#include "nmconvert/conversion_record.h"
#include "parallel/communicator.h"
#include "writer/file_writer.h"

namespace nmb::tools {

struct ConversionOptions : OutputOptions {
  bool check = true;    // reads the result back
  bool strict = false;  // a warning counts as a conflict
  bool lossy = false;   // content that the target cannot hold is left out and reported; if false,
                        // such content is a conflict
  bool digest = false;  // computes SHA-256 of input and output
  RecordedDigests digests = RecordedDigests::kNone;  // digests to record in an NMB output
  bool folders = false;                              // makes missing folders of the output
  // An existing output is not an error if it equals the result of the conversion byte for byte.
  bool accept_equal = false;
  std::optional<SubsetRules> subset{};  // which part of the input is written
  BlockRule block_by{};                 // parsed from Conversion::block_by
  std::optional<Compression> compression;
  bool block_is_name = false;  // Conversion::block is a name, not a glob
  bool cmip7 = false;          // gives a netCDF-4 output the chunks and filters of CMIP7
  bool originals = true;       // an NMB output also stores HDF5 inputs byte for byte
  bool repack = false;         // copies an NMB file into a new NMB file
  // Which other files with values of the input may be opened (MergeOptions::external).
  ExternalPaths external = ExternalPaths::kBeneath;
  std::optional<std::uint32_t> inline_limit;  // for an NMB output, in bytes
  // For an NMB output: whether to add a view. Without a choice, the output gets a view if the NMB
  // input has one, and the conversion fails if this view cannot be made.
  ViewChoice hdf5_view{};
  bool keep_statistics = true;  // keeps statistics of an NMB input in an NMB output, unless others
                                // are requested
  // The files to write. No output may be the input or a file to which the input refers. Not
  // nullptr.
  std::shared_ptr<const OutputSet> outputs{};
  std::size_t cache_bytes = 64 << 20;  // for a reader
};

// Collective over `ranks`. `options` must be the same on all ranks. The record that rank 0 returns
// describes the files and contains the status of the conversion.
ConversionRecord convert(const Conversion& what, const ConversionOptions& options,
                         Communicator& ranks, unsigned threads);

}  // namespace nmb::tools
