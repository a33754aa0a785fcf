// FilterFile: an HDF5 file in memory with one data set, whose only chunk has a certain filter.
// HDF5 runs a filter only when it reads such a chunk, and has no function for a filter alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "handle.h"
#include "server/hdf5_filters.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// The highest number of a filter that a FilterFile can have. Those above are its own.
inline constexpr std::uint32_t kMostFilter = H5Z_FILTER_MAX - 2;

class FilterFile {
 public:
  // Makes the file. The filter has exactly the parameters of the request: HDF5 computes those of
  // its own filters again when it makes a data set, but not when it opens one. Errors: kDamaged for
  // parameters that HDF5 cannot store; kUnsupported.
  static Result<std::unique_ptr<FilterFile>> make(const FilterRequest& request);

  bool fits(const FilterRequest& request) const {
    return filter_ == request.filter && parameters_ == request.parameters;
  }
  // Undoes the filter, and calls take() with the result once. Errors: kDamaged if HDF5 cannot undo
  // it, or if the result has more than `most` bytes; those of take().
  using Take = Status (*)(std::span<const std::byte> result);
  Status undo(std::span<const std::byte> bytes, std::uint64_t most, Take take);
  // Returns whether the file has become too large, because HDF5 does not use its free space again.
  bool is_full() const;

 private:
  FilterFile(const FilterRequest& request)
      : filter_(request.filter), parameters_(request.parameters) {}

  const std::uint32_t filter_;
  const std::vector<std::uint32_t> parameters_;
  Handle file_, data_set_, transfer_;
};

}  // namespace nmb::hdf5
