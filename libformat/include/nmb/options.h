// Options that several calls share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace nmb {

// Which external files may be opened. A limit is needed because the NMB file contains these paths,
// and its author may be unknown.
enum class ExternalPaths : std::uint8_t {
  kNone,
  kBeneath,  // only in the folder of the NMB file or below it, without symbolic links in the path
  kAny,      // also absolute paths, ".." and symbolic links
};

// Which values a Reader returns without comparing them with their checksums.
enum class Unverified {
  kNothing,
  // Parts of uncompressed pieces: the reader reads only the bytes that it needs, and checks only
  // the pieces that it reads completely. Damaged values are returned without an error. Use this
  // for a few values of large pieces whose file nmverify has checked.
  kPartsOfPieces,
  // Uncompressed pieces in external files. Such pieces of a temporary file may have no checksums.
  kLinkedValues,
};

struct ReadOptions {
  // --- what changes the speed ---
  // Memory in bytes for the cache of loaded blocks.
  std::size_t cache_bytes = 64 << 20;
  // Latency of a request to the file, given as the number of bytes that could be transferred in the
  // same time. Use 0 for a local file: the reader then reads only the bytes that it needs. Use 1
  // MiB to 16 MiB for a file on a network: the reader then reads neighbouring ranges with one
  // request, and caches up to 64 MiB.
  std::size_t request_bytes = 0;

  // --- what is read and checked ---
  // NMB files: the generation to read, which the file must still hold; 0: the newest one.
  std::uint64_t generation = 0;
  // Which values are not verified. The default verifies all: the reader reads each needed piece of
  // values completely (at most piece_size() bytes of values), and checks its checksum.
  Unverified unverified = Unverified::kNothing;
  // The external files that the reader may open to read values.
  ExternalPaths external = ExternalPaths::kBeneath;
};

struct FindOptions {
  // Whether the values of a block are read if the expression depends on statistics or counts that
  // are not stored. If false, such a block cannot be decided.
  bool reads_values = true;
  unsigned threads = 1;  // number of threads that read values
  // Called with a sentence about blocks for which the expression cannot be decided. The result then
  // leaves these blocks out. If on_warning is not set, they make find() fail with kUnsupported.
  // Also called with the number of blocks that do not match because a number would be compared with
  // text; without on_warning, such a block does not match, like a block without the name.
  std::function<void(const std::string&)> on_warning{};
};

// How values are stored.
struct Storing {
  // Codec and level: "zstd", "zstd:3", "deflate:6", "none"; "": as in the input.
  std::string codec{};
  bool shuffle = false;  // whether bytes are shuffled before compression
  // Chunk lengths by dimension, for blocks from HDF5 and for HDF5 outputs: "DIM:LEN,VAR:DIM:LEN".
  std::string chunk{};
};

// Which digests of a classic file are recorded.
enum class RecordedDigests : std::uint8_t {
  kNone,
  kXxh3,    // XXH3-128
  kSha256,  // XXH3-128 and SHA-256
};

// Whether a commit makes an HDF5 view, through which HDF5 programs read the file
// (docs/guides/hdf5_views.md).
enum class Hdf5View : std::uint8_t {
  kOff,  // makes no view; an existing view stays and still shows its own generation
  // Works like kAuto if the file has a view. If the file has no view, makes a view only if this
  // commit writes blocks from HDF5 or netCDF-4, and if the view takes at most 2 % of the file's
  // bytes.
  kSmall,
  // Makes a view if a view can show the file and the file has at most 100,000 dimensions and
  // variables and 1,000,000 records. If not, works like kOff.
  kAuto,
  kOn,  // makes a view; close() fails with kUnsupported if a view cannot show the file
};

}  // namespace nmb
