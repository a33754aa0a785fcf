// open_array() is value_array() for callers that open the arrays of many variables. Its error
// messages do not name the variable.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/dataset.h"
#include "model/values.h"
#include "values/chunk_cache.h"

namespace nmb {

// Works like shape_of().
Result<VariableShape> find_shape(const Metadata& metadata, const ClassicLayout& layout,
                                 VarId variable, std::uint64_t records);
// Returns the array in the variable's own type and byte order. properties: must include all
// properties of the variable, and may include other properties of the block. cache: a cache for
// chunks, which several arrays can share.
Result<ValueArray> stored_array(const Metadata& metadata, const ClassicLayout& layout,
                                std::uint64_t records, VarId variable,
                                std::shared_ptr<const ByteSource> extent,
                                std::span<const hdf5::Property> properties,
                                const std::shared_ptr<ChunkCache>& cache);
// Returns the values of stored_array(), without gaps between records.
Result<std::shared_ptr<const ByteSource>> contiguous_array(
    const Dataset& dataset, VarId variable, std::span<const hdf5::Property> properties,
    const std::shared_ptr<ChunkCache>& cache);
// Returns whether the variable has a null dataspace in HDF5, which has no values.
Result<bool> has_null_space(const Metadata& metadata, VarId variable);
// Returns the value that readers get where a variable has no stored values: the fill value that is
// set, or `value_size` zero bytes if none is.
std::vector<std::byte> unstored_value(std::span<const hdf5::Property> properties, VarId variable,
                                      std::uint64_t value_size);
// Works like value_array().
Result<ValueArray> open_array(const Metadata& metadata, const ClassicLayout& layout,
                              std::uint64_t records, VarId variable,
                              std::shared_ptr<const ByteSource> extent,
                              std::span<const hdf5::Property> properties,
                              const std::shared_ptr<ChunkCache>& cache);

}  // namespace nmb
