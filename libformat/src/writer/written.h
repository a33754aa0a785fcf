// Written: which bytes of an extent were written since the last commit, and the sums of pieces that
// were written completely.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "parallel/message_codec.h"
#include "writer/interval_set.h"

namespace nmb {

// Not thread-safe.
class Written {
 public:
  // Bytes whose sums are not known.
  void add(std::uint64_t from, std::uint64_t to) {
    forget_sums(from, to);
    bytes_.add(from, to);
  }
  // Adds one whole piece.
  void add_piece(std::uint64_t from, std::uint64_t to, std::uint64_t sum) {
    add(from, to);
    sums_[from] = {to - from, sum};
  }
  void remove(std::uint64_t from, std::uint64_t to) {
    forget_sums(from, to);
    bytes_.remove(from, to);
  }
  const IntervalSet& bytes() const { return bytes_; }
  std::optional<std::uint64_t> sum_of(std::uint64_t from, std::uint64_t to) const {
    const auto found = sums_.find(from);
    if (found == sums_.end() || found->second.length != to - from) return std::nullopt;
    return found->second.sum;
  }
  void clear() {
    bytes_.clear();
    sums_.clear();
  }

  // Sends this state to another rank, where take() adds it. If both wrote bytes of a piece, its sum
  // is not known.
  void put(MessageWriter& out) const;
  void take(MessageReader& in);

 private:
  struct Sum {
    std::uint64_t length, sum;
  };
  void forget_sums(std::uint64_t from, std::uint64_t to);

  IntervalSet bytes_;
  std::map<std::uint64_t, Sum> sums_;  // by the offset of the piece
};

}  // namespace nmb
