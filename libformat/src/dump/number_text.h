// Numbers as text, exact: the fewest digits that read back the same value.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "nmb/types.h"

namespace nmb {

// Room for any number.
class NumberText {
 public:
  // A value of `type` (not kChar) in external form. Integers in decimal; reals as C's %g would
  // print them with 7 (float) or 15 (double) digits where these suffice, with more where not;
  // "NaN", "Infinity", "-Infinity".
  NumberText(Type type, const std::byte* value);

  std::string_view text() const { return {buffer_.data(), size_}; }
  // Not a number that CDL or JSON could write with digits.
  bool is_special() const { return special_; }

 private:
  void set_number(Type type, const std::byte* value);
  template <class Real>
  void set_real(Real value);
  template <class Integer>
  void set_integer(const std::byte* value);
  void set(std::string_view text);
  void append(char c) { buffer_[size_++] = c; }

  std::array<char, 48> buffer_;
  std::size_t size_ = 0;
  bool special_ = false;
};

}  // namespace nmb
