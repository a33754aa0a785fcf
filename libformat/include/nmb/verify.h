// verify: checks an NMB file against every rule of spec/format.md, a classic file against
// spec/classic_header.md, and whether HDF5 can read an HDF5 file. Finds any flipped bit of an NMB
// file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nmb/error.h"
#include "nmb/finding.h"
#include "nmb/options.h"

namespace nmb {

class Ranks;

// Levels of checks; each level includes the levels before it. For HDF5 files, the levels have
// another meaning. At kIndex, the HDF5 library reads all groups and objects, and values of variable
// length. At kBlocks, verify() checks the blocks that are made from the groups
// (docs/reference/hdf5.md); it also checks that no values share bytes. At kData, verify() reads all
// other values, and decodes their chunks.
enum class VerifyLevel : std::uint8_t {
  kIndex,   // head, superblocks, index, dead-space segments
  kBlocks,  // headers and bodies of blocks, data maps, sections, the HDF5 view
  kData,    // values, including values in external files; dead ranges; bytes outside of all
            // structures
};

struct VerifySummary {
  std::string kind;  // "NMB", "CDF-1", "CDF-2", "CDF-5", "HDF5"
  // Number of blocks according to the superblock; for HDF5: number of groups.
  std::uint64_t recorded_blocks = 0;
  std::uint64_t sound_blocks = 0;  // number of blocks without findings at the requested level
  // Number of blocks in the index that have findings or are cut off.
  std::uint64_t damaged_blocks = 0;
  // With VerifyOptions::since: number of blocks without any part of a later generation. They are
  // not checked.
  std::uint64_t unchanged_blocks = 0;
  std::uint64_t findings = 0;
  std::uint64_t warnings = 0;
  std::uint64_t bytes_read = 0;
  // `originals` counts the originals in the file, and the classic blocks that did not come from an
  // original. `whole_originals` counts those that can be written again: originals with the recorded
  // digests, and blocks without findings. Counted at level kData, or if VerifyOptions::originals is
  // set.
  std::uint64_t originals = 0, whole_originals = 0;
  // Whether values in other files belong to the result. They may change without a change of the
  // checked file.
  bool reads_other_files = false;
  // The first failure that left something unchecked: a failed read, a limit, or a part that only a
  // later version can read (kUnsupported). The status is ok if everything was checked.
  Status incomplete;
};

struct VerifyOptions {
  VerifyLevel level = VerifyLevel::kData;
  // Whether to check at any level that each original can be written again (spec/files.md). Reads
  // the originals.
  bool originals = false;
  // If not 0: checks only what generations after this one added to an NMB file. Excludes
  // `originals`.
  std::uint64_t since = 0;
  // Which external files may be opened. If a file that is needed may not be opened, the result is
  // incomplete.
  ExternalPaths external = ExternalPaths::kBeneath;
  unsigned threads = 1;
  // If set, the call is collective: these ranks share the check of values, and all get its result.
  // The arguments must be the same on all ranks, as in merge().
  Ranks* ranks = nullptr;
  // Called by one thread at a time. `done` and `total` count bytes.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
};

struct VerifyReport : VerifySummary {
  // Defects and warnings, in an order that depends only on the file. Empty on ranks other than 0.
  std::vector<Finding> list{};
  // Whether everything was checked and nothing is wrong; warnings do not count.
  bool is_sound() const { return findings == 0 && incomplete.ok(); }
};

// Checks a file, and goes on after damage where that is possible. Damage is no failure: see
// VerifyReport::is_sound(). Errors: kNotFound; kUnknownKind; kUsage for options that exclude each
// other; kUnsupported, kLimit and kIo if nothing could be read.
NMB_EXPORT Result<VerifyReport> try_verify(const std::string& path,
                                           const VerifyOptions& options = {});
inline VerifyReport verify(const std::string& path, const VerifyOptions& options = {}) {
  return check(try_verify(path, options));
}

}  // namespace nmb
