// Assigns space to the requests of all ranks in the order in which the blocks were created. The
// positions do not depend on the distribution of blocks among ranks (spec/format.md, section 8).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nmb/communicator.h"

namespace nmb {

struct OrderedRequest {
  std::uint64_t order;  // order of the block
  std::uint64_t length;
  std::uint64_t alignment = 8;  // a power of 2
  // The end of values that the request continues, or 0. The space begins at `tail` if free space
  // begins there.
  std::uint64_t tail = 0;
};

// Returns the positions of this rank's requests. Requests of one block keep their order.
// Collective. *cursor: the position where free space begins. It must be set on rank 0 before the
// call, and is set on all ranks after the call. The requests are divided among ranks by their
// orders, so that no rank receives all of them. Errors, on all ranks: kLimit if space would end
// after 2^62.
Result<std::vector<std::uint64_t>> take_ordered_space(Communicator& ranks,
                                                      std::span<const OrderedRequest> requests,
                                                      std::uint64_t* cursor);

}  // namespace nmb
