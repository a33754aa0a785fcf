// recode_values: writes the values of a block of kind 6 in other chunks or with other filters
// (spec/extended.md, section 15.2).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/spool_file.h"
#include "model/dataset.h"
#include "model/values.h"

namespace nmb {

struct RecodedValues {
  std::vector<std::byte> body;  // body of kind 6
  std::uint64_t extent_length = 0;
  std::shared_ptr<const ByteSource> extent;
  // Whether HDF5 programs need a plug-in to read the chunks that were encoded again.
  bool needs_plugin = false;
};

// The outcome for one requested chunk length.
struct ChunkUse {
  bool is_known = false;    // at least one variable has the dimension
  bool is_cut = false;      // at least one variable now has chunks of that length
  bool is_clipped = false;  // at least one variable has shorter chunks, because its dimension is
                            // shorter and cannot grow
};

// Arrays of at most this size, in bytes, are not divided into chunks, unless chunk lengths are
// requested.
inline constexpr std::uint64_t kSmallArray = 64 << 10;

// Returns the filters that a variable gets when it is encoded again. `now` lists the current
// filters of the variable.
std::vector<Filter> wanted_filters(const Compression& wanted, const std::vector<Filter>& now,
                                   std::uint64_t value_size);

// The outcome for the requested chunk lengths and filters.
struct WantedChunks {
  std::vector<ChunkUse> uses;  // one for each element of Compression::chunk
  bool needs_plugin = false;   // whether HDF5 programs need a plug-in to read encoded chunks
};

struct RecodeOptions {
  Compression compression;
  // The argument `first_made_up` for netcdf_view(). The names in compression.chunk are compared
  // with the dimension names in that view.
  std::optional<std::int64_t> first_made_up{};
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
};

// Encodes values again and writes them to `spool`: all values that are stored in chunks, and arrays
// of fixed-length values that are larger than 64 KiB or have a dimension that compression.chunk
// names. Values of variable length and values that were never written get the requested chunks
// later, when the block is written as HDF5. All other variables stay unchanged, and so do chunks
// whose filters NMB cannot decode. If a variable stays unchanged although the options cover it,
// *left gets a line with the reason. *uses must have one element for each element of
// compression.chunk; the function adds the outcome to it. Returns nullopt if nothing changes. The
// result shares ownership of block.extent. The encoded bytes do not depend on the number of
// threads. Memory: 64 MiB of chunks in total, or one chunk for each thread if that is more. Errors:
// kDamaged if chunks cannot be decoded; kUsage for a chunk of more than 2^32 - 1 bytes; kIo;
// kNoSpace.
Result<std::optional<RecodedValues>> recode_values(const Dataset& block,
                                                   const RecodeOptions& options,
                                                   std::shared_ptr<SpoolFile> spool,
                                                   std::vector<std::string>* left,
                                                   std::vector<ChunkUse>* uses);

}  // namespace nmb
