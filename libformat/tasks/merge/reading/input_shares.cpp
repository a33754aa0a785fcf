// Distributes inputs to ranks by bytes (see merge/reading/input_shares.h).
#include "merge/reading/input_shares.h"

#include <algorithm>
#include <filesystem>

#include "parallel/message_codec.h"

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
  MessageWriter out;
  for (std::size_t i = paths.size() * rank / size; i < paths.size() * (rank + 1) / size; ++i) {
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(paths[i], unknown);
    out.put(unknown ? std::uint64_t{0} : std::uint64_t{bytes});
  }
  std::vector<Communicator::Parcel> parcels;
  if (out.size() > 0) parcels.push_back({0, out.take()});
  NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
  std::vector<std::byte> told;
  if (ranks.rank() == 0) {
    std::vector<std::uint64_t> bytes;
    for (const Message& message : arrived)
      for (MessageReader in(message.bytes()); !in.at_end();)
        bytes.push_back(in.get<std::uint64_t>());
    MessageWriter ends;
    for (std::size_t end : share_ends(bytes, size)) ends.put(std::uint64_t{end});
    told = ends.take();
  }
  NMB_TRY(ranks.broadcast(0, &told));
  std::vector<std::size_t> ends{0};
  for (MessageReader in(told); !in.at_end();)
    ends.push_back(static_cast<std::size_t>(in.get<std::uint64_t>()));
  return InputShare{ends[rank], ends[rank + 1]};
}

}  // namespace nmb
