// Converts a number to the shortest text from which the same number can be read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/kinds.h"

namespace nmb {

// The number of digits of a real.
enum class Digits : std::uint8_t {
  kShortest,  // the fewest digits from which the same number can be read
  kNcdump,    // at most 7 digits of a float, at most 15 digits of a double
};

// Holds the text of one number.
class NumberText {
 public:
  // Formats a value of `type` (not kChar) in external form. Integers are decimal. Reals are written
  // like C's %g with 7 digits (float) or 15 digits (double). With kShortest, they get more digits
  // if these do not suffice. Special values are "NaN", "Infinity" and "-Infinity".
  NumberText(Type type, const std::byte* value, Digits digits = Digits::kShortest);

  std::string_view text() const { return {buffer_.data(), size_}; }
  // Returns whether the value is NaN or infinite, so that its text has no digits.
  bool is_special() const { return special_; }

 private:
  void set_number(Type type, const std::byte* value, Digits digits);
  template <class Real>
  void set_real(Real value, Digits wanted);
  template <class Integer>
  void set_integer(const std::byte* value);
  void set(std::string_view text);
  void append(char c) { buffer_[size_++] = c; }

  std::array<char, 48> buffer_;
  std::size_t size_ = 0;
  bool special_ = false;
};

}  // namespace nmb
