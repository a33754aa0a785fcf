// Arrays of values on their way to a classic file: sources that change how another one's bytes lie
// (docs/hdf5.md, "To classic netCDF"). Thread-safe as what they read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/values.h"

namespace nmb {

using Source = std::shared_ptr<const ByteSource>;

// Records one behind the other: the first of `slice` bytes at shape.begin of `extent`.
Source record_array(Source extent, const VariableShape& shape, std::uint64_t slice);

// How values of one type become those of another.
struct ValueConversion {
  std::uint64_t from_bytes = 0, to_bytes = 0;  // of a value
  bool in_place = false;  // as many bytes, and convert() may be given one place for both
  // Of whole values, as many as `out` has room for. Thread-safe.
  std::function<void(std::span<const std::byte> values, std::span<std::byte> out)> convert;
};

// Values of another type, which `source` has one behind the other.
Source converted_array(Source source, ValueConversion conversion);

// An array of lengths `to`, none of which is less than `from`, those that `source` has: what it
// does not have is `fill`, one element.
Source padded_array(Source source, const std::vector<std::uint64_t>& from,
                    const std::vector<std::uint64_t>& to, std::vector<std::byte> fill);

// The same; failures name the object whose values they are.
Source named_array(Source source, std::string object);

}  // namespace nmb
