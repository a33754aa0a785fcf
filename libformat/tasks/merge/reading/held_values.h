// HeldValues: the values of an input. HeldValues keeps in memory the values that a union compares.
// So the file of an input need not be reopened for each comparison, even if there are thousands of
// inputs.
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
  // The values that are kept in memory, by their offsets. The pieces of values do not overlap.
  using Pieces = std::map<std::uint64_t, std::vector<std::byte>>;

  HeldValues(Source base, Pieces pieces)
      : ByteSourceLayer(std::move(base)), pieces_(std::move(pieces)) {}

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const Pieces& pieces() const { return pieces_; }

 private:
  const Pieces pieces_;
};

// Returns the values of a classic dataset. Keeps in memory the values of small coordinates, and of
// small variables that have no records. The dataset's file must be open now. *room: how many bytes
// may still be kept for all inputs; the call reduces it. Errors: kIo, kDamaged.
Result<Source> hold_small(const Dataset& dataset, Source values, std::uint64_t* room);

}  // namespace nmb
