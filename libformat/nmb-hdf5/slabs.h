// for_each_slab: divides an array of HDF5 into parts that fit in memory.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "wire/failure.h"

namespace nmb::hdf5 {

// A box of elements that are adjacent in row-major order.
struct Slab {
  std::vector<hsize_t> start, count;
  // Number of elements before the slab in the array, and number of elements in it.
  std::uint64_t first = 0, elements = 1;
};

// Divides an array into slabs, and calls visit() for each slab in order. A slab has at most `most`
// elements, but never less than one element. If a slab has room for `rows` rows, its number of rows
// is a multiple of `rows`. Errors: kDamaged if the array has more than 2^64 elements; those of
// visit().
Status for_each_slab(const std::vector<std::uint64_t>& lengths, std::uint64_t most,
                     std::uint64_t rows, const std::function<Status(const Slab&)>& visit);

}  // namespace nmb::hdf5
