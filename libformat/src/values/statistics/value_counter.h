// ValueCounter: counts values of one variable, given in any order and in any parts
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

// What a variable's values are, and which of them are missing.
struct ValueForm {
  Type type = Type::kByte;  // classic
  bool swapped = false;     // little-endian
  std::uint8_t missing_count = 0;
  bool nan_is_missing = false;
  // Keys, below: of the fill value and of missing_value, twice for 0 and -0.
  std::array<std::int64_t, 4> missing{};
  std::array<std::byte, 8> hole{};  // what a value reads as that is not stored, as stored

  std::size_t size() const { return type_size(type); }
};

// Of a variable; false: its values are neither numbers nor text. properties: those of the block's
// hdf5 section.
bool value_form(const Metadata& metadata, VarId variable,
                std::span<const hdf5::Property> properties, ValueForm* form);
// The fill value that is set there for a variable, of this size, as stored; empty: none is.
std::span<const std::byte> fill_value_set(std::span<const hdf5::Property> properties,
                                          VarId variable, std::size_t size);

// Values as keys: integers that ascend as the values do.
std::int64_t value_key(Type type, const std::byte* external);
void key_value(Type type, std::int64_t key, std::byte* external);
// Of a type of floating numbers.
bool is_nan_key(Type type, std::int64_t key);

struct ValueCounts {
  std::uint64_t elements = 0, missing = 0, nans = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();

  void add(const ValueCounts& other);
  // The same values `times` times.
  void repeat(std::uint64_t times);
};

// Counts `count` values as they are stored. histogram: nullptr, or begun.
void count_values(const ValueForm& form, const std::byte* values, std::size_t count,
                  ValueCounts* counts, HistogramBuilder* histogram);

// The same of values that are not stored: form.hole, `count` times.
void count_holes(const ValueForm& form, std::uint64_t count, ValueCounts* counts,
                 HistogramBuilder* histogram);

}  // namespace nmb
