// ValueCounter: counts values of one variable, which are given in any order and in any parts
// (spec/format.md, section 9.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "hdf5/model/hdf5_section.h"
#include "nmb/metadata.h"
#include "nmb/statistics.h"
#include "values/statistics/histogram_builder.h"

namespace nmb {

// The form of a variable's values, and which of them are missing values.
struct ValueForm {
  Type type = Type::kByte;  // classic type
  bool swapped = false;     // little-endian
  std::uint8_t missing_count = 0;
  bool nan_is_missing = false;
  // Keys (see below) of the fill value and of missing_value, two for each: 0 and -0 are both
  // listed.
  std::array<std::int64_t, 4> missing{};
  std::array<std::byte, 8> hole{};  // the stored form of a value that is not stored

  std::size_t size() const { return type_size(type); }
};

// Returns the form of a variable's values; false: they are neither numbers nor text. properties:
// those of the block's hdf5 section.
bool value_form(const Metadata& metadata, VarId variable,
                std::span<const hdf5::Property> properties, ValueForm* form);
// Returns the fill value of this size that the properties set for a variable, in its stored form;
// empty: none is set.
std::span<const std::byte> fill_value_set(std::span<const hdf5::Property> properties,
                                          VarId variable, std::size_t size);

// Returns the key of a value: an integer. Keys ascend as values do.
std::int64_t value_key(Type type, const std::byte* external);
void key_value(Type type, std::int64_t key, std::byte* external);
// Returns whether the key is that of NaN. type: a floating-point type.
bool is_nan_key(Type type, std::int64_t key);

struct ValueCounts {
  std::uint64_t elements = 0, missing = 0, nans = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();

  void add(const ValueCounts& other);
  // Counts the same values `times` times.
  void repeat(std::uint64_t times);
};

// Counts `count` values in their stored form. histogram: nullptr, or one for which begin() was
// called.
void count_values(const ValueForm& form, const std::byte* values, std::size_t count,
                  ValueCounts* counts, HistogramBuilder* histogram);

// Counts values that are not stored: form.hole, `count` times.
void count_holes(const ValueForm& form, std::uint64_t count, ValueCounts* counts,
                 HistogramBuilder* histogram);

}  // namespace nmb
