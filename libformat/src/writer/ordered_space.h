// Space for what ranks have of blocks, one behind the other in the order in which the blocks were
// created, whoever has them (spec/format.md, section 8).
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
  // Where the values end that it continues: it lies there if free space begins there. 0: none.
  std::uint64_t tail = 0;
};

// Collective: where each of this rank's requests lies; those of a block in the order given. *cursor
// of rank 0: where free space begins; of all: where it begins afterwards. Orders are divided among
// ranks, none of which learns of all. kLimit, on all ranks: behind 2^62.
Result<std::vector<std::uint64_t>> take_ordered_space(Communicator& ranks,
                                                      std::span<const OrderedRequest> requests,
                                                      std::uint64_t* cursor);

}  // namespace nmb
