// mend_file() makes a mended file, which readers can open: the bytes of the damaged file with a new
// head before them, and two new generations after them. The last generation has a new index, which
// leads to the blocks that are recovered.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recover/evidence.h"
#include "recover/recovery_plan.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Statistics and originals of the damaged file that blocks of the mended file do not have.
struct MendedParts {
  // Blocks for which statistics of the damaged file are not valid: their orders, ascending.
  std::vector<std::uint64_t> without_statistics;
  // Indices of originals that are damaged. They stay in the file table, because values may lie in
  // their undamaged parts, but no block has them as its original any more.
  std::vector<std::uint32_t> damaged_originals;
};

// Makes a mended file. The result is thread-safe, and has its new bytes in memory; `base`, the
// damaged file, is not changed. `blocks` are sorted by name; a block that is left out is not
// written. The entries of the blocks get their new data maps. Errors: kLimit, kIo.
Result<std::shared_ptr<const ByteSource>> mend_file(std::shared_ptr<const ByteSource> base,
                                                    const Evidence& evidence,
                                                    std::vector<RecoveredEntry>& blocks,
                                                    const MendedParts& parts);

}  // namespace nmb
