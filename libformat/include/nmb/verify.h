// verify: checks an NMB file against every rule of spec/format.md, and a classic file against
// spec/classic_header.md. Checks that the HDF5 library can read an HDF5 file, and that its chunks
// can be decoded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "nmb/bytes.h"
#include "nmb/external_files.h"
#include "nmb/status.h"

namespace nmb {

class Communicator;
class Reader;

// Cumulative levels. For HDF5 files: at kIndex the HDF5 library reads all groups and objects, and
// values of variable length; kBlocks checks the blocks made from them (docs/hdf5.md), and that no
// values share bytes; kData reads all other values and decodes their chunks.
enum class VerifyLevel : std::uint8_t {
  kIndex,   // head, superblocks, index, dead-space segments
  kBlocks,  // headers and bodies of blocks, data maps, sections, the HDF5 view
  kData,    // values, including those in external files; dead ranges; bytes of no structure
};

struct VerifyOptions {
  // --- what is checked ---
  VerifyLevel level = VerifyLevel::kData;
  // Whatever the level: reads each original and compares its digests (R-FT-7, R-FT-9).
  bool originals = false;
  // Which external files with values of an NMB file may be opened. If one is not, the result is
  // incomplete.
  ExternalPaths external = ExternalPaths::kBeneath;

  // --- what changes the speed; the findings are the same ---
  unsigned threads = 1;    // threads that check values
  std::uint64_t rate = 0;  // maximum bytes read per second; 0: no limit
  // Ranks that share the check of values. Set only by `work` of verify_together(), on rank 0.
  Communicator* ranks = nullptr;

  // --- what is called back ---
  // Called with the name of each damaged block, once.
  std::function<void(const std::string& block)> on_damaged_block;
  // Called by one thread at a time with the bytes of the file that this rank has read, at most
  // `total`, the file's size.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct VerifySummary {
  std::string kind;                   // "NMB", "CDF-1", "CDF-2", "CDF-5", "HDF5"
  std::uint64_t recorded_blocks = 0;  // according to the superblock; HDF5: groups found
  std::uint64_t sound_blocks = 0;     // at the requested level
  std::uint64_t damaged_blocks = 0;   // blocks of the index that have findings or are cut off
  std::uint64_t findings = 0;
  std::uint64_t warnings = 0;
  std::uint64_t bytes_read = 0;
  // With VerifyOptions::originals, or at level kData: how many originals the file has, and how many
  // of them have the bytes that were recorded.
  std::uint64_t originals = 0, whole_originals = 0;
  // The first failure that left something unchecked: a failed read, a limit, or a part that only a
  // later version can read (kUnsupported). Ok: all was checked.
  Status incomplete;
};

// Reports all findings, in an order that depends only on the file, and continues after damage where
// possible. Memory: a few MiB per thread, one body at a time, and a list of the ranges between
// structures; for HDF5, decoded chunks of 32 MiB together, or one larger chunk. The name of an HDF5
// file must be its path (nmb/hdf5.h); findings outside of this project's specification have the
// rule "HDF5". kUnknownKind; kUnsupported, kLimit, kIo: nothing could be read.
NMB_EXPORT Result<VerifySummary> verify(const ByteSource& file, const VerifyOptions& options,
                                        Findings& findings);

// Verifies with several ranks. Collective. Rank 0 runs `work`, which calls verify() with
// VerifyOptions::ranks any number of times, for any files. The other ranks read and check shares of
// the values of NMB files for it, with `threads` threads each; they open a file by the path of its
// source. Rank 0 reads all metadata, values in external files, and chunks. Findings and summaries
// are the same as with one rank. Returns the status of `work` on all ranks. A failure of the
// network is returned on all ranks.
NMB_EXPORT Status verify_together(Communicator& ranks, unsigned threads,
                                  const std::function<Status()>& work);

// Fails with kDamaged (R-SB-13) if a complete and undamaged generation follows the newest one while
// no writer is active: it may have been committed and then lost from the head. Call this before
// replacing the file with a copy, so that no generation gets lost. Reads nothing if the file ends
// with the generation of `reader`; otherwise reads the bytes after it and, if they hold a
// generation, all of that generation. kIo, kLimit, kBusy.
NMB_EXPORT Status check_nothing_pending(const Reader& reader);

}  // namespace nmb
