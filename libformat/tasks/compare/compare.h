// Digests of the content of files, and comparison of two files (spec/digest.md). The content does
// not depend on the kind of the file, on chunks, compression and byte order, or on the order of
// blocks, variables and attributes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/path_move.h"
#include "netcdf/netcdf_view.h"
#include "nmb/compare.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// How a merge will write classic datasets to an HDF5 file.
struct PlannedHdf5 {
  bool drops_made_up = false;  // whether the dimensions phony_dim_N will not be in the file
};

// A file of any kind.
struct ContentFile {
  FileBlocks blocks;
  std::uint64_t size = 0;  // bytes of the file
  // Set if `blocks` has other names for the blocks than the file. The paths of objects then count
  // as if this move had renamed the groups of the file.
  PathMove move{};
  // Set if the classic datasets will be written to an HDF5 file, and count as that file will show
  // them: with links to their named types.
  std::optional<PlannedHdf5> planned{};
};

struct ContentOptions {
  unsigned threads = 1;
  // If set, the call fails with kIo "interrupted" once *cancel is true.
  const std::atomic<bool>* cancel = nullptr;
  // Memory for decoded chunks of each file, in bytes. If a row of chunks does not fit, its chunks
  // are decoded several times. A row of chunks consists of all chunks of a variable that have the
  // same position along the slowest dimension.
  std::uint64_t chunk_cache = std::uint64_t{256} << 20;
  // Sets the memory for decoded chunks for a process that may use `memory` bytes; 0 means no limit.
  void set_memory(std::uint64_t memory) { chunk_cache = std::max(chunk_cache, memory / 4); }
};

// --- digests ---

struct BlockDigest {
  std::string block;
  Digest digest;
  // Whether the block has no content. Such a block does not change the digest of its file.
  bool is_empty = false;
};

// Returns the 32 hexadecimal digits of a digest, in the order of the program xxh128sum.
NMB_EXPORT std::string digest_text(const Digest& digest);
// Returns the 64 hexadecimal digits of a SHA-256.
NMB_EXPORT std::string digest_text(const Sha256& digest);

// Returns the SHA-256 of `length` bytes, which `read` supplies in parts of at most 1 MiB. Fails
// with kIo "interrupted" when *cancel becomes true; `cancel` may be nullptr.
NMB_EXPORT Result<Sha256> sha256(
    std::uint64_t length,
    const std::function<Status(std::uint64_t offset, std::span<std::byte> out)>& read,
    const std::atomic<bool>* cancel = nullptr);
NMB_EXPORT Result<Sha256> sha256(const ByteSource& source,
                                 const std::atomic<bool>* cancel = nullptr);

// Calls visit() for each block of a file, in the order of names, and returns the digest of the
// file. Loads the metadata of blocks from HDF5 twice. Errors: those of the functions in `blocks`,
// of reading values and of visit(); kUnsupported if values cannot be read, for example because of a
// filter; kLimit if a type is too large. The message names the object.
NMB_EXPORT Result<Digest> digest_file(const ContentFile& file, const ContentOptions& options,
                                      const std::function<Status(const BlockDigest&)>& visit);
// Calls visit() for each of these blocks, in the given order. Errors: those of digest_file().
NMB_EXPORT Status digest_blocks(const ContentFile& file, const std::vector<BlockEntry>& chosen,
                                const ContentOptions& options,
                                const std::function<Status(const BlockDigest&)>& visit);

// --- differences ---

struct ComparisonOptions {
  ContentOptions content;
  Tolerance tolerance;
  std::size_t most_first = 3;  // number of elements in ComparedVariable::first
  bool values = true;          // whether compare_files() compares values too
};

struct ComparisonVisitor {
  std::function<Status(const DefinitionDifference&)> definition;
  // Called for each variable whose values were compared, even if no values differ.
  std::function<Status(const ComparedVariable&)> variable;
};

// Compares the content of two files. Returns whether the content is the same. Without tolerance,
// this is the case if and only if the digests of the files are the same. Calls the functions of
// `visitor` block by block in the order of names; blocks that only `second` has come last. The
// values of a variable are compared if the variable has the same type and shape in both files.
// Errors: those of digest_file().
NMB_EXPORT Result<bool> compare_files(const ContentFile& first, const ContentFile& second,
                                      const ComparisonOptions& options,
                                      const ComparisonVisitor& visitor);

}  // namespace nmb
