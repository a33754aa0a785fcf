// DifferentValues: finds the values of a variable that differ between two files
// (compare/compare.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "wire/kinds.h"

namespace nmb {

// How the text of a string is found in its canonical value.
enum class TextForm : std::uint8_t { kNone, kFixed, kVariable };

// Says when two values count as the same.
struct ValueRule {
  Type type = Type::kByte;  // a classic type, or one of the block's own types
  TextForm text = TextForm::kNone;
  Tolerance tolerance;
  // The canonical fill values in both files. Empty if the variable has none.
  std::vector<std::byte> first_fill, second_fill;

  bool is_number() const {
    return is_type(static_cast<std::uint32_t>(type)) && type != Type::kChar;
  }
};

// Returns a canonical value as text.
std::string canonical_text(Type type, std::span<const std::byte> value);
// Returns a canonical string in quotes, shortened to about 80 bytes; "null" for a null string.
std::string canonical_text(TextForm form, std::span<const std::byte> value);
// Returns the number of bytes of the first of several canonical strings of variable length.
std::uint64_t bytes_of_string(std::span<const std::byte> values);

// Collects the values that differ in a part of a variable. Not thread-safe.
class DifferentValues {
 public:
  // `rule` must outlive the object. most_first: number of first differences to keep.
  DifferentValues(const ValueRule& rule, std::size_t most_first)
      : rule_(rule), most_first_(most_first) {}

  // Compares canonical values of `size` bytes each. position: number of the first of these values
  // in row-major order. Positions must ascend from call to call.
  void compare(std::uint64_t position, std::span<const std::byte> first,
               std::span<const std::byte> second, std::size_t size);
  // Compares a single value, which may have different numbers of bytes in the two files.
  void compare_one(std::uint64_t position, std::span<const std::byte> first,
                   std::span<const std::byte> second);
  // Adds the differences of another part of the same variable.
  void merge(DifferentValues&& other);

  bool any() const { return different_ > 0; }
  // Stores the differences. lengths: the shape of the variable.
  void store(const std::vector<std::uint64_t>& lengths, ComparedVariable* to) const;

 private:
  struct FoundDifference {
    std::uint64_t position = 0;
    std::vector<std::byte> first, second;
  };
  DifferentValue shown(const FoundDifference& found,
                       const std::vector<std::uint64_t>& lengths) const;

  const ValueRule& rule_;
  const std::size_t most_first_;
  std::uint64_t different_ = 0, missing_ = 0, nans_ = 0;
  std::vector<FoundDifference> first_;  // by ascending position
  std::optional<FoundDifference> largest_;
  long double largest_difference_ = 0;
};

}  // namespace nmb
