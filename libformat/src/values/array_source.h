// Arrays of values: sources that change how another one's bytes lie, as on the way to a classic
// file (docs/hdf5.md, "To classic netCDF"). Thread-safe as what they read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb {

using Source = std::shared_ptr<const ByteSource>;

// Returns `length` bytes of the extent from `begin` on. Errors: kDamaged, for `object`, if the
// extent ends before.
Result<Source> range_of(Source extent, std::uint64_t begin, std::uint64_t length,
                        std::string_view object);

// Returns the records of a variable without gaps: the first of `slice` bytes is at shape.begin of
// `extent`.
Source record_array(Source extent, const VariableShape& shape, std::uint64_t slice);

// Converts values of one type to another type.
struct ValueConversion {
  std::uint64_t from_bytes = 0, to_bytes = 0;  // of a value
  bool in_place = false;  // both types have the same size, and convert() may work in place
  // Converts whole values, as many as `out` has room for. Thread-safe.
  std::function<void(std::span<const std::byte> values, std::span<std::byte> out)> convert;
};

// Returns the values of `source`, converted to another type.
Source converted_array(Source source, ValueConversion conversion);

// Returns an array whose lengths are `to`, each at least that in `from`, which are the lengths of
// the array in `source`. Elements that `source` lacks are `fill`, which is one element.
Source padded_array(Source source, const std::vector<std::uint64_t>& from,
                    const std::vector<std::uint64_t>& to, std::vector<std::byte> fill);

// Returns the same bytes; failures name `object`, to which the values belong.
Source named_array(Source source, std::string object);

}  // namespace nmb
