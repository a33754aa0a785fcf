// Checks values of a file on several ranks. Rank 0 distributes ranges of the file. The other ranks
// read the ranges, compute their sums and report the results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "verify/value_checker.h"

namespace nmb {

// Batches with fewer bytes are not distributed, because the messages would cost more time than they
// save.
inline constexpr std::uint64_t kLeastSent = 8 << 20;

// Divides `ranges` among the ranks. For each rank, returns the index in `ranges` where the rank's
// share ends. All shares have about the same number of bytes. Bytes in other files are not counted.
std::vector<std::size_t> sent_ends(const std::vector<ValueRange>& ranges, int ranks);

// Sends each rank its share of the ranges in the file at `path`. Only rank 0 calls this function,
// and only while the other ranks run serve_values(). Rank 0 keeps the first share and all ranges in
// other files.
Status deal_values(Communicator& ranks, const std::string& path,
                   const std::vector<ValueRange>& ranges, const std::vector<std::size_t>& ends);
// Must be called after deal_values().
Status gather_values(Communicator& ranks, const std::vector<ValueRange>& ranges,
                     const std::vector<std::size_t>& ends, std::vector<ValueOutcome>* outcomes);

// Checks the ranges that rank 0 sends, until rank 0 calls end_values(). Called by all ranks except
// rank 0.
Status serve_values(Communicator& ranks, unsigned threads);
// Ends serve_values() on the other ranks. Called by rank 0.
Status end_values(Communicator& ranks);

}  // namespace nmb
