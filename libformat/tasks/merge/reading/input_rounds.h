// InputRounds: decides which inputs each rank reads. Rank 0 then unites the inputs. The ranks read
// only some inputs in each round, so that the descriptions take little memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "merge/reading/input_shares.h"
#include "parallel/communicator.h"

namespace nmb {

class InputRounds {
 public:
  // `inputs` must be the same on all ranks.
  InputRounds(Communicator& ranks, std::size_t inputs) : ranks_(ranks), inputs_(inputs) {
    if (ranks.size() == 1) each_ = inputs;
  }

  // Returns the inputs that this rank reads in the next round. In the list of inputs, these inputs
  // follow the inputs that lower ranks read.
  InputShare next() {
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const auto size = static_cast<std::size_t>(ranks_.size());
    const std::size_t count = std::min(inputs_ - begin_, each_ * size);
    const InputShare share{begin_ + count * rank / size, begin_ + count * (rank + 1) / size};
    begin_ += count;
    return share;
  }

  // Collective. Returns whether there is a next round. There is no next round if is_ok is false on
  // some rank. length: number of bytes that describe this rank's inputs.
  Result<bool> go_on(bool is_ok, std::uint64_t length) {
    struct Round {
      bool is_ok;
      std::uint64_t longest;
    };
    NMB_ASSIGN(const Round all,
               ranks_.all_reduce(Round{is_ok, length}, [](const Round& a, const Round& b) {
                 return Round{a.is_ok && b.is_ok, std::max(a.longest, b.longest)};
               }));
    // Descriptions of later inputs may be much longer, so the number of inputs grows slowly.
    constexpr std::size_t kFaster = 8;
    const std::uint64_t most =
        std::max<std::uint64_t>(kLeast, kAllBytes / static_cast<std::uint64_t>(ranks_.size()));
    const double wanted = static_cast<double>(each_) * static_cast<double>(most) /
                          static_cast<double>(std::max<std::uint64_t>(1, all.longest));
    each_ = static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(each_) * kFaster));
    each_ = std::min(each_, kMost);
    return all.is_ok && begin_ < inputs_;
  }

 private:
  // kAllBytes: the number of bytes that rank 0 should receive in a round. kLeast: each rank may
  // send this number of bytes in a round, even if the sum over all ranks exceeds kAllBytes.
  static constexpr std::uint64_t kAllBytes = 32 << 20, kLeast = 64 << 10;
  static constexpr std::size_t kFirst = 64, kMost = 4096;

  Communicator& ranks_;
  const std::size_t inputs_;
  std::size_t begin_ = 0;
  std::size_t each_ = kFirst;  // number of inputs that each rank reads in a round
};

}  // namespace nmb
