// LinkedPieces: the pieces of a block whose values stay in other files (spec/files.md,
// section 10.3). Pieces that lie in none of these files are copied (see origins/extent_origin.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "origins/ordered_digest.h"
#include "origins/ready_pieces.h"
#include "origins/stored_values.h"

namespace nmb {

class LinkedPieces : public OriginSteps {
 public:
  // Errors: kUsage if the values break a rule of link_values(). `block` is the name of the block in
  // the error message.
  static Result<LinkedPieces> make(LinkedValues values, std::uint32_t piece_size,
                                   std::string_view block);

  // Returns the space that the copied pieces need. Each copied piece begins at the next multiple of
  // 8 after the previous piece.
  ValueSpace space(std::uint64_t) const { return {copied_.length, false, false}; }
  PieceForecast forecast(std::uint64_t, std::uint32_t) const {
    PieceForecast out = forecast_of(values_.pieces);
    out.linked = true;
    return out;
  }
  void place(std::uint64_t position) { copied_.position = position; }
  Move* move() { return copied_.length > 0 ? &copied_ : nullptr; }
  Status check(std::string_view block, std::uint64_t extent_length, bool shared) const;
  // Returns the pieces of the extent. Must be called after take_sums() and number_files().
  Result<FinishedExtent> finish(const FinishContext& context);
  Result<Counting> count(const CountContext& context);

  // Returns the total stored length, in bytes, of the pieces that stay in other files.
  std::uint64_t linked_bytes() const { return linked_bytes_; }
  // Returns a move that reads the bytes that stay in other files, to compute their sums.
  Move reading_move() const;
  // Adds the pieces that lie in an original to `wanted`, so that their sums are computed while the
  // original is copied. If this function is called, take_sums() is not called.
  void want_sums(std::vector<WantedSum>* wanted);
  // Takes the sums that the reading move has computed. Errors: kDamaged if a sum differs from the
  // expected sum (LinkedPiece::sum).
  Status take_sums(std::vector<std::uint64_t> sums, bool are_known);
  // Calls visit(i, file) for each file that has pieces.
  template <class Visit>
  void for_each_file(Visit visit) const {
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (used_[i]) visit(i, values_.files[i]);
  }
  std::optional<std::uint32_t> original() const { return values_.original; }
  // Sets the number of file i in the file table. Numbers count from 1.
  void set_number(std::size_t i, std::uint32_t number) {
    numbers_.resize(used_.size());
    numbers_[i] = number;
  }

 private:
  Status check_sums() const;

  LinkedValues values_;
  std::uint64_t length_ = 0;  // length of the extent
  std::uint64_t linked_bytes_ = 0;
  std::vector<bool> used_;  // used_[i] is true if file i has pieces
  Move copied_;
  std::vector<std::uint64_t> sums_;     // sums of the pieces that are not copied
  std::vector<std::uint32_t> numbers_;  // for used files
};

}  // namespace nmb
