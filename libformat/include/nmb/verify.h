// verify: checks every rule of spec/format.md on an NMB file, those of spec/classic_header.md on a
// classic one; of an HDF5 file that the HDF5 library reads it and that its chunks decode.
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

// Cumulative. Of HDF5 files kIndex has the HDF5 library read all groups and objects (and values of
// variable length), kBlocks checks what they make (docs/hdf5.md) and that no values share bytes,
// kData reads all other values and decodes their chunks.
enum class VerifyLevel : std::uint8_t {
  kIndex,   // head, superblocks, index, dead-space segments
  kBlocks,  // headers and bodies of blocks, data maps, sections, the HDF5 view
  kData,    // values, also those in other files, dead ranges, bytes that belong to no structure
};

struct VerifyOptions {
  // --- what is checked ---
  VerifyLevel level = VerifyLevel::kData;
  // Which other files are opened that hold values of an NMB file; one that is not makes the outcome
  // incomplete.
  ExternalPaths external = ExternalPaths::kBeneath;

  // --- what changes the speed; the findings are the same ---
  unsigned threads = 1;    // that check values; findings do not depend on it
  std::uint64_t rate = 0;  // bytes read a second at most; 0: no limit
  // Set by `work` of verify_together() on rank 0: the ranks that check some of the values.
  Communicator* ranks = nullptr;

  // --- what is called back ---
  // Names of the blocks that are not sound, each once.
  std::function<void(const std::string& block)> on_damaged_block;
  // Bytes that this rank has read of the file, at most `total`, its size; by one thread at a time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct VerifySummary {
  std::string kind;                   // "NMB", "CDF-1", "CDF-2", "CDF-5", "HDF5"
  std::uint64_t recorded_blocks = 0;  // by the superblock; of HDF5: groups that were met
  std::uint64_t sound_blocks = 0;     // at the level asked for
  std::uint64_t damaged_blocks = 0;   // found in the index, with findings of their own or cut off
  std::uint64_t findings = 0;
  std::uint64_t warnings = 0;
  std::uint64_t bytes_read = 0;
  // Not ok: something could not be looked at (a failed read, a limit, what only a later version
  // reads: kUnsupported); the first such failure.
  Status incomplete;
};

// Reports all findings, in an order that depends on the file alone, and goes on behind damage where
// it can. Memory: a few MiB for each thread, one body at a time, and the stretches of the file
// between structures; of HDF5 chunks of 32 MiB together or one, decoded. An HDF5 file has the name
// by which it can be opened (nmb/hdf5.h); what breaks no rule of this project's specification
// has the rule "HDF5". kUnknownKind; kUnsupported, kLimit, kIo: nothing could be read.
NMB_EXPORT Result<VerifySummary> verify(const ByteSource& file, const VerifyOptions& options,
                                        Findings& findings);

// Collective. Rank 0 runs `work`, which calls verify() with VerifyOptions::ranks, any number of
// times and for any files; the others read and check shares of the values of NMB files for it, on
// `threads` threads each, and open these by the path of the source. Findings and summaries are
// those of one rank alone; rank 0 reads all metadata, values in other files, and chunks. Returns on
// all ranks what `work` returned. A failure of the network is all ranks'.
NMB_EXPORT Status verify_together(Communicator& ranks, unsigned threads,
                                  const std::function<Status()>& work);

// Fails with kDamaged (R-SB-13) if a whole and sound generation lies behind the newest one, and no
// writer is at work: it may have been committed and be lost from the head. Whoever makes a file
// that is kept in place of this one asks this, so that no generation gets lost. Reads nothing where
// the file ends with the generation of `reader`; else what lies behind, and, if a generation is
// there, all of it. kIo, kLimit, kBusy.
NMB_EXPORT Status check_nothing_pending(const Reader& reader);

}  // namespace nmb
