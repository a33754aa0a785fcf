// Options that several calls share.
#pragma once

#include <cstddef>
#include <cstdint>

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
  // Uncompressed pieces in external files. Such pieces of a temporary file may have no
  // checksums.
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
  // Which values are not verified. The default verifies all: the reader reads each needed piece of
  // values completely (at most piece_size() bytes of values), and checks its checksum.
  Unverified unverified = Unverified::kNothing;
  // The external files that the reader may open to read values.
  ExternalPaths external = ExternalPaths::kBeneath;
};

enum class Hdf5View : std::uint8_t {
  kOff,  // makes no view; an existing view stays and still shows its own generation
  // Works like kAuto if the file has a view. If the file has no view, makes a view only if this
  // commit writes blocks from HDF5 or netCDF-4, and if the view takes at most 2 % of the file's
  // bytes.
  kSmall,
  // Makes a view if a view can show the file and the file is within the limits below. If not, works
  // like kOff.
  kAuto,
  kOn,  // makes a view; close() fails with kUnsupported if a view cannot show the file
};
// Limits of kAuto: the maximum total number of dimensions and variables in the file, and the
// maximum total number of records of its variables.
inline constexpr std::uint64_t kMostAutoViewObjects = 100'000;
inline constexpr std::uint64_t kMostAutoViewRecords = 1'000'000;
// Limit of kSmall: minimum ratio of the bytes before the view to the bytes of the view.
inline constexpr std::uint64_t kSmallViewPart = 50;

}  // namespace nmb
