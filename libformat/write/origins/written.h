// Written: records the bytes of an extent that were written since the last commit, and the sums of
// pieces that were written completely.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "ranks/interval_set.h"

namespace nmb {

// Not thread-safe.
class Written {
 public:
  // Adds bytes whose sums are unknown.
  void add(std::uint64_t from, std::uint64_t to) {
    forget_sums(from, to);
    bytes_.add(from, to);
  }
  // Adds a whole piece and its sum.
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

  // Adds what another rank has written. If both ranks have written bytes of the same piece, the sum
  // of this piece becomes unknown.
  void unite(Written other);

  template <class Fields>
  friend void fields(Fields& all, Written& written) {
    all(written.bytes_, written.sums_);
  }

 private:
  struct Sum {
    std::uint64_t length, sum;
  };
  void forget_sums(std::uint64_t from, std::uint64_t to);

  IntervalSet bytes_;
  std::map<std::uint64_t, Sum>
      sums_;  // sums of whole pieces; the key is the piece's offset in the extent
};

}  // namespace nmb
