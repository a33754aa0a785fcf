// Counts values of one variable, which can be passed in any order and in parts of any size
// (spec/tables.md, section 9.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/metadata.h"
#include "nmb/statistics.h"
#include "values/statistics/exact_sums.h"
#include "values/statistics/histogram_builder.h"
#include "wire/failure.h"

namespace nmb {

// How the values of a variable are stored, and which of them count as missing.
struct ValueForm {
  Type type = Type::kByte;  // classic type
  bool swapped = false;     // little-endian
  std::uint8_t missing_count = 0;
  bool nan_is_missing = false;
  // Keys (see value_key()) of the fill value and of missing_value. A zero among them has two keys,
  // because 0 and -0 have different keys.
  std::array<std::int64_t, 4> missing{};
  std::array<std::byte, 8> hole{};  // the value of each element that is not stored; in stored form

  std::size_t size() const { return type_size(type); }
};

// Returns the classic type in which a variable's values are counted, or nullopt if they cannot be
// counted.
std::optional<Type> counted_type(const Metadata& metadata, VarId variable);
// Describes in *form how the values of a variable are stored. Returns false if they are neither
// numbers nor text, or if missing_value has several values. properties: the properties in the
// block's hdf5 section.
bool value_form(const Metadata& metadata, VarId variable,
                std::span<const hdf5::Property> properties, ValueForm* form);
// Returns whether the values of a variable with a storage entry can be counted: there are values,
// they have no variable length, and they are not in other files.
bool has_counted_values(const Storage& storage, VarId variable,
                        std::span<const hdf5::Property> properties);
// Returns whether a variable may have statistics (spec/tables.md, section 9.3), even if this
// program cannot decode its values. Errors: kDamaged.
Result<bool> may_be_counted(const Metadata& metadata, VarId variable);

// Returns the key of a value. Keys are integers in the order of the values.
std::int64_t value_key(Type type, const std::byte* external);
void key_value(Type type, std::int64_t key, std::byte* external);
// Returns whether the key belongs to a NaN. type: a floating-point type.
bool is_nan_key(Type type, std::int64_t key);

struct ValueCounts {
  std::uint64_t elements = 0, missing = 0, nans = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();

  std::uint64_t ordered() const { return elements - missing - nans; }
  void add(const ValueCounts& other);
  // Multiplies the counts, as if the same values were counted `times` times.
  void repeat(std::uint64_t times);
};

// The results for the values of a variable that were counted so far.
struct ValueTally {
  ValueCounts counts;
  // Set only if requested. HistogramBuilder::begin() must have been called.
  std::optional<HistogramBuilder> histogram{};
  std::optional<ExactSums> sums{};
  std::vector<std::unique_ptr<ValueAccumulator>> functions{};
};

// Counts `count` values in stored form.
void count_values(const ValueForm& form, const std::byte* values, std::size_t count,
                  ValueTally* tally);

// Counts values that are not stored, each of them form.hole. count: their number.
void count_holes(const ValueForm& form, std::uint64_t count, ValueTally* tally);

}  // namespace nmb
