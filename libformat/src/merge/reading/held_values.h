// HeldValues: the values of an input. Those that a union compares are kept in memory, so that one
// of thousands of files need not be opened again for each comparison.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "nmb/dataset.h"
#include "values/array_source.h"

namespace nmb {

class HeldValues final : public ByteSourceLayer {
 public:
  // By offset; pieces do not overlap.
  using Pieces = std::map<std::uint64_t, std::vector<std::byte>>;

  HeldValues(Source base, Pieces pieces)
      : ByteSourceLayer(std::move(base)), pieces_(std::move(pieces)) {}

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const Pieces& pieces() const { return pieces_; }

 private:
  const Pieces pieces_;
};

// Returns `values`, which belong to a classic dataset whose file is open now, with coordinates and
// small variables that have no records kept in memory. *room: how many bytes may be kept for all
// inputs; it is reduced. Errors: kIo, kDamaged.
Result<Source> hold_small(const Dataset& dataset, Source values, std::uint64_t* room);

}  // namespace nmb
