// Checks values of a file on several ranks: rank 0 distributes ranges; the others read them,
// compute their sums and report the results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nmb/communicator.h"
#include "verify/value_checker.h"

namespace nmb {

// For fewer bytes the messages would cost more than they save.
inline constexpr std::uint64_t kLeastDealt = 8 << 20;

// Returns where the shares of the ranks end, as indexes in `ranges`. Each has about the same number
// of bytes; ranges in other files are not counted.
std::vector<std::size_t> dealt_ends(const std::vector<ValueRange>& ranges, int ranks);

// Called by rank 0 while the others are in serve_values(): sends each rank its share of the ranges
// of the file at `path`. Rank 0 keeps the first share and all ranges in other files.
Status deal_values(Communicator& ranks, const std::string& path,
                   const std::vector<ValueRange>& ranges, const std::vector<std::size_t>& ends);
// Call this after deal_values(): receives the results of the other ranks.
Status gather_values(Communicator& ranks, const std::vector<ValueRange>& ranges,
                     const std::vector<std::size_t>& ends, std::vector<ValueOutcome>* outcomes);

// Called by the other ranks: checks the ranges that rank 0 sends until it calls end_values().
Status serve_values(Communicator& ranks, unsigned threads);
// Called by rank 0.
Status end_values(Communicator& ranks);

}  // namespace nmb
