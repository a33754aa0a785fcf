// PutsTogether: collective puts. The values first get places in the file; then each byte is sent
// directly to the rank that writes it (spec/rationale.md, "Values that ranks put together").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "put/puts.h"

namespace nmb {

// Collective.
class PutsTogether {
 public:
  explicit PutsTogether(WriterCore& writer) : w_(writer) {}

  Status put_all(BlockId id, VarId variable, const Hyperslab& slab, ConstArray values);
  Status extend(BlockId id, std::uint64_t records);
  // Puts the values of all ranks. checked: the first error in this rank's puts, or ok. Returns
  // whether any rank has values that their variables cannot hold.
  Result<bool> put_together(const Status& checked, std::span<Put> puts);

 private:
  std::vector<PiecePart> parts_of(std::span<Put* const> puts);

  WriterCore& w_;
};

}  // namespace nmb
