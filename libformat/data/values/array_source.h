// Array sources: they rearrange or convert the bytes of another source. Array sources are used, for
// example, to write values to a classic file (docs/reference/hdf5.md, "To classic netCDF"). An
// array source is thread-safe if the other source is thread-safe.
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

// Returns `length` bytes of the extent from `begin` on. Errors: kDamaged if the extent ends
// earlier; the message names `object`.
Result<Source> range_of(Source extent, std::uint64_t begin, std::uint64_t length,
                        std::string_view object);

// Returns the records of a variable without gaps between them. Each record has `slice` bytes. The
// first record begins at offset shape.begin of `extent`.
Source record_array(Source extent, const VariableShape& shape, std::uint64_t slice);

// Converts values of one type to another type.
struct ValueConversion {
  std::uint64_t from_bytes = 0, to_bytes = 0;  // size of a value in bytes
  bool in_place = false;  // whether both types have the same size, so that convert() can work in
                          // place
  // Converts as many whole values as fit into `out`. Thread-safe.
  std::function<void(std::span<const std::byte> values, std::span<std::byte> out)> convert;
};

// Returns the values of `source`, converted to another type.
Source converted_array(Source source, ValueConversion conversion);

// Returns a source with the same bytes as `source`. The error messages of the new source begin with
// `object`, the name of the object that has the values.
Source named_array(Source source, std::string object);

}  // namespace nmb
