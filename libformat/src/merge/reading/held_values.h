// HeldValues: the values of an input, of which those that a union compares are kept in memory, so
// that a file of thousands is not opened once more for each comparison.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/dataset.h"

namespace nmb {

class HeldValues final : public ByteSource {
 public:
  // By offset; pieces do not overlap.
  using Pieces = std::map<std::uint64_t, std::vector<std::byte>>;

  HeldValues(std::shared_ptr<const ByteSource> base, Pieces pieces)
      : base_(std::move(base)), pieces_(std::move(pieces)) {}

  std::uint64_t size() const override { return base_->size(); }
  const std::string& name() const override { return base_->name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return base_->is_unallocated(offset, length);
  }
  bool may_be_sparse() const override { return base_->may_be_sparse(); }
  const std::shared_ptr<const ByteSource>& base() const { return base_; }
  const Pieces& pieces() const { return pieces_; }

 private:
  const std::shared_ptr<const ByteSource> base_;
  const Pieces pieces_;
};

// `values`, which are those of a classic dataset whose file is open now, with values held of small
// variables that have no records, and of coordinates. *room: bytes that may be held of all inputs,
// which gets less. kIo, kDamaged.
Result<std::shared_ptr<const ByteSource>> hold_small(const Dataset& dataset,
                                                     std::shared_ptr<const ByteSource> values,
                                                     std::uint64_t* room);

}  // namespace nmb
