#include "merge/reading/input_shares.h"

#include <algorithm>
#include <filesystem>

#include "parallel/outbox.h"

namespace nmb {

std::vector<std::size_t> share_ends(const std::vector<std::uint64_t>& bytes, std::size_t parts) {
  __uint128_t all = 0, before = 0;
  for (std::uint64_t each : bytes) all += each;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // If all inputs are empty, every part gets about the same number of inputs.
    const __uint128_t middle = all == 0 ? 2 * i + 1 : 2 * before + bytes[i];
    const __uint128_t whole = all == 0 ? bytes.size() : all;
    const auto part =
        static_cast<std::size_t>(std::min<__uint128_t>(parts - 1, middle * parts / (2 * whole)));
    while (ends.size() < part) ends.push_back(i);
    before += bytes[i];
  }
  ends.resize(parts, bytes.size());
  return ends;
}

Result<InputShare> share_inputs(Communicator& ranks, const std::vector<std::string>& paths) {
  if (ranks.size() == 1) return InputShare{0, paths.size()};
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const auto size = static_cast<std::size_t>(ranks.size());
  Outbox<std::uint64_t> out;
  for (std::size_t i = paths.size() * rank / size; i < paths.size() * (rank + 1) / size; ++i) {
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(paths[i], unknown);
    out.add(0, unknown ? 0 : bytes);
  }
  NMB_ASSIGN(const Inbox<std::uint64_t> arrived, exchange(ranks, out));
  std::vector<std::size_t> ends;
  if (ranks.rank() == 0) {
    std::vector<std::uint64_t> bytes;
    for (const auto& [from, length] : arrived) bytes.push_back(length);
    ends = share_ends(bytes, size);
  }
  NMB_TRY(broadcast_fields(ranks, 0, &ends));
  return InputShare{rank == 0 ? 0 : ends[rank - 1], ends[rank]};
}

}  // namespace nmb
