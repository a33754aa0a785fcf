// convert: one conversion, as nmconvert does them, one or many.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "nmb/communicator.h"
#include "nmb/external_files.h"
#include "nmb/files.h"
#include "nmb/merge.h"
#include "nmb/status.h"
#include "nmb/values.h"
#include "nmb/writer.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

struct ConversionOptions {
  bool overwrite = false;
  bool sync = true;
  bool check = true;     // read the result back
  bool strict = false;   // a warning is a conflict
  bool lossy = false;    // what the target cannot hold is left out and told, else it is a conflict
  bool digest = false;   // SHA-256 of input and output
  bool folders = false;  // make the folders of the output that are not there
  // An output that exists is no failure if it is, byte for byte, what the conversion makes.
  bool accept_equal = false;
  BlockRule block_by{};  // of what Conversion::block_by is the text
  std::optional<Compression> compression;
  bool materialise = false;  // values of an HDF5 input in other files are copied
  bool repack = false;       // an NMB file into another
  ExternalPaths external = ExternalPaths::kBeneath;  // of an NMB input, which files are opened
  std::optional<std::uint32_t> inline_limit;         // of an NMB output, in bytes
  // Of an NMB output; nullopt: a view of one whose NMB input has one, which may not fail, else
  // none.
  std::optional<Hdf5View> hdf5_view{};
  bool keep_statistics = true;  // those of an NMB input, of an NMB output without others
  // Files to write, of which none may be the input or a file that the input refers to. Not nullptr.
  std::shared_ptr<const OutputSet> outputs{};
  std::size_t cache_bytes = 64 << 20;  // of a reader
  const std::atomic<bool>* cancel = nullptr;
};

// By all ranks of `ranks`; options are the same on all. What is known of files is in rank 0's
// record, whose status is the outcome.
ConversionRecord convert(const Conversion& what, const ConversionOptions& options,
                         Communicator& ranks, unsigned threads);

}  // namespace nmb::tools
