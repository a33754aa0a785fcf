// LinkedPieces: values that stay in other files; pieces of them that lie in none are copied in (see
// writer/extent_origin.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "writer/ready_pieces.h"
#include "writer/stored_values.h"

namespace nmb {

class LinkedPieces : public OriginSteps {
 public:
  // kUsage: the rules of link_values(). block: for what that says.
  static Result<LinkedPieces> make(LinkedValues values, std::uint32_t piece_size,
                                   std::string_view block);

  // Of those that are copied, one behind the other, each at a multiple of 8.
  ValueSpace space(std::uint64_t) const { return {copied_.length, false, false}; }
  void place(std::uint64_t position) { copied_.position = position; }
  Move* move() { return copied_.length > 0 ? &copied_ : nullptr; }
  Status check(std::string_view block, std::uint64_t extent_length, bool shared) const;
  // After take_sums() and number_files().
  Result<FinishedExtent> finish(const FinishContext& context);
  Result<Counting> count(const CountContext& context);

  // Stored bytes of the pieces that stay where they are.
  std::uint64_t linked_bytes() const { return linked_bytes_; }
  // What reads these.
  Move reading_move() const;
  // The sums that it found. kDamaged: one is not what was given.
  Status take_sums(std::vector<std::uint64_t> sums, bool are_known);
  // visit(i, file): each file that a piece lies in.
  template <class Visit>
  void for_each_file(Visit visit) const {
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (used_[i]) visit(i, values_.files[i]);
  }
  // Of file i: its row in the file table, from 1.
  void set_number(std::size_t i, std::uint32_t number) {
    numbers_.resize(used_.size());
    numbers_[i] = number;
  }

 private:
  LinkedValues values_;
  std::uint64_t length_ = 0;  // of the extent that they make up
  std::uint64_t linked_bytes_ = 0;
  std::vector<bool> used_;  // values_.files
  Move copied_;
  std::vector<std::uint64_t> sums_;     // of the pieces that are not copied
  std::vector<std::uint32_t> numbers_;  // of used files
};

}  // namespace nmb
