// Values of a file checked by several ranks: rank 0 deals out ranges, the others read and sum
// theirs and tell what they found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nmb/communicator.h"
#include "verify/value_checker.h"

namespace nmb {

// Fewer bytes are not worth the messages.
inline constexpr std::uint64_t kLeastDealt = 8 << 20;

// Where the shares of the ranks end, by their places in `ranges`: about as many bytes each. What
// lies in other files is not counted.
std::vector<std::size_t> dealt_ends(const std::vector<ValueRange>& ranges, int ranks);

// Called by rank 0 while the others are in serve_values(): sends each its share of ranges of the
// file at `path`. The first share is rank 0's own, and so are ranges in other files.
Status deal_values(Communicator& ranks, const std::string& path,
                   const std::vector<ValueRange>& ranges, const std::vector<std::size_t>& ends);
// Behind that: what the others found of theirs.
Status gather_values(Communicator& ranks, const std::vector<ValueRange>& ranges,
                     const std::vector<std::size_t>& ends, std::vector<ValueOutcome>* outcomes);

// Called by the other ranks: checks what rank 0 sends until end_values().
Status serve_values(Communicator& ranks, unsigned threads);
// Called by rank 0.
Status end_values(Communicator& ranks);

}  // namespace nmb
