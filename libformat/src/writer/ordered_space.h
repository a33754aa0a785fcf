// Assigns space to requests of all ranks in the order in which the blocks were created, whichever
// rank has them (spec/format.md, section 8).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nmb/communicator.h"

namespace nmb {

struct OrderedRequest {
  std::uint64_t order;  // of the block
  std::uint64_t length;
  std::uint64_t alignment = 8;  // a power of 2
  // The end of the values that it continues: it is placed there if free space begins there. 0:
  // none.
  std::uint64_t tail = 0;
};

// Collective: returns the positions of this rank's requests; requests of one block keep their
// order. *cursor: on rank 0, where free space begins; on all ranks, where it begins afterwards.
// Orders are divided among ranks, so that no rank receives all of them. Errors, on all ranks:
// kLimit beyond 2^62.
Result<std::vector<std::uint64_t>> take_ordered_space(Communicator& ranks,
                                                      std::span<const OrderedRequest> requests,
                                                      std::uint64_t* cursor);

}  // namespace nmb
