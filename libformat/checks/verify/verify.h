// verify: checks an NMB file against every rule of spec/format.md, and a classic file against
// spec/classic_header.md. For an HDF5 file, checks that the HDF5 library can read it, and that its
// chunks can be decoded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/external_files.h"
#include "nmb/verify.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

class Communicator;
class FileReader;

// A range of values that is damaged. NMB files have one sum for each range.
struct ValueFault {
  std::uint64_t range = 0;  // number of the range, in the order in which ranges are checked
  std::optional<std::uint64_t> wrong_sum{};      // the computed sum if it is not the recorded sum
  bool decodes = true;                           // false if the bytes cannot be decoded
  std::optional<std::uint64_t> dirty_padding{};  // offset of the first padding byte that is not 0
  friend bool operator==(const ValueFault&, const ValueFault&) = default;
};

// How far the values of an NMB file have been checked. The order of the ranges depends only on the
// file, and on VerifierOptions::level, originals, external and since.
struct CheckedValues {
  std::uint64_t ranges = 0;      // number of ranges that were checked
  std::uint64_t bytes_read = 0;  // number of bytes that were read until then
  std::vector<ValueFault> faults{};
};

struct VerifierOptions {
  // --- what is checked ---
  VerifyLevel level = VerifyLevel::kData;
  // Whether to check, at any level, that each original can be written again. Reads the originals
  // and compares their digests (R-FT-7, R-FT-15). A block that was made from a classic file
  // contains the whole file, so the header, the body and the values of the block are checked too,
  // as at level kData.
  bool originals = false;
  // If not 0: checks only what generations after this one added to an NMB file, and the structures
  // that lead to it. Fails with kUsage if the file has no such generation, and with kUnsupported if
  // the file is not an NMB file. Excludes `originals` (kUsage).
  std::uint64_t since = 0;
  // Which external files may be opened to check values of an NMB file. If the file needs an
  // external file that may not be opened, the result is incomplete.
  ExternalPaths external = ExternalPaths::kBeneath;

  // --- what changes the speed; the findings are the same ---
  unsigned threads = 1;    // number of threads that check values
  std::uint64_t rate = 0;  // maximum bytes read per second; 0 for no limit
  // Ranks that share the check of values. Set this only for calls of verify() in the function
  // `work` of verify_together().
  Communicator* ranks = nullptr;

  // --- continuing an earlier check ---
  // The values that an unfinished check of the same file with the same options has checked. They
  // are not read again, and the result is that of a single check. Metadata, chunks of HDF5, digests
  // of originals and statistics are checked again.
  CheckedValues checked{};
  // Called from time to time, with the values that were checked so far. `faults` has only those
  // since the last call.
  std::function<void(const CheckedValues& checked)> on_checked{};

  // --- callbacks ---
  // Called once for each damaged block, with its name.
  std::function<void(const std::string& block)> on_damaged_block;
  // Called by one thread at a time. `done` is the number of bytes of the file that this rank has
  // read, at most `total`. `total` is the file's size.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// Checks a file and reports all findings, in an order that depends only on the file. Continues
// after damage where possible. Needs a few MiB of memory for each thread, memory for one body at a
// time, memory for a list of the ranges between structures, and 64 MiB for bytes of originals. For
// HDF5 files, also needs memory for decoded chunks: 32 MiB, or the size of one chunk if that is
// more. The name of an HDF5 file must be its path (client/hdf5.h). Findings that do not concern
// this project's specification have the rule "HDF5". Errors: kUnknownKind; kUnsupported, kLimit and
// kIo if nothing could be read.
NMB_EXPORT Result<VerifySummary> verify(const ByteSource& file, const VerifierOptions& options,
                                        Findings& findings);

// Verifies files with several ranks. Collective. Rank 0 runs `work`, which calls verify() with
// VerifierOptions::ranks any number of times, for any files. The other ranks read and check shares
// of the values of NMB files, with `threads` threads on each rank; to open a file, they use the
// path of its ByteSource. Rank 0 alone reads metadata, values in external files, and chunks.
// Findings and summaries are the same as with one rank. Returns the status of `work`, or a failure
// of the network, on all ranks.
NMB_EXPORT Status verify_together(Communicator& ranks, unsigned threads,
                                  const std::function<Status()>& work);

// Fails with kDamaged (R-SB-13) if no writer is active, and a complete and undamaged generation
// follows the generation of `reader`. This later generation may have been committed, although the
// head of the file does not record it. Call this function before replacing the file with a copy, so
// that no generation is lost. Reads nothing if the file ends with the generation of `reader`. If
// the file continues, reads the bytes after that generation. If these bytes contain another
// generation, reads all of that generation. Other errors: kIo, kLimit, kBusy.
NMB_EXPORT Status check_nothing_pending(const FileReader& reader);

}  // namespace nmb
