// Assigns space to the requests of all ranks in the order in which the blocks were created. The
// positions do not depend on the distribution of blocks among ranks (spec/format.md, section 8).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/communicator.h"

namespace nmb {

struct OrderedRequest {
  std::uint64_t order;  // number of the block in the order of creation
  std::uint64_t length;
  std::uint64_t alignment = 8;  // a power of 2
  // The end of the existing values that the request continues, or 0 if there are none. If free
  // space begins directly after these values and their padding, the requested space begins at
  // `tail`.
  std::uint64_t tail = 0;
};

// Returns the positions of this rank's requests. Requests for the same block get space in the order
// of the list. Collective. *cursor: the position where free space begins; must be set on rank 0
// before the call, and is set on all ranks by the call. Many requests are divided among ranks by
// their order numbers, so that no rank receives all requests. so_far: this rank's status; if a rank
// has failed, all ranks fail. Errors, on all ranks: kLimit if space would end after byte 2^62 of
// the file.
Result<std::vector<std::uint64_t>> take_ordered_space(Communicator& ranks,
                                                      std::span<const OrderedRequest> requests,
                                                      std::uint64_t* cursor,
                                                      const Status& so_far = {});

}  // namespace nmb
