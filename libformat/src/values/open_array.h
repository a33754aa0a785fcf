// open_array: value_array() for callers that open the arrays of many variables. Messages of
// failures do not name the variable.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hdf5/model/hdf5_section.h"
#include "nmb/values.h"
#include "values/chunk_cache.h"

namespace nmb {

// Like shape_of().
Result<VariableShape> find_shape(const Metadata& metadata, const ClassicLayout& layout,
                                 VarId variable, std::uint64_t records);
// Returns the array in the variable's own type and byte order. properties: those of the variable,
// or more. cache: for chunks, shared.
Result<ValueArray> stored_array(const Metadata& metadata, const ClassicLayout& layout,
                                std::uint64_t records, VarId variable,
                                std::shared_ptr<const ByteSource> extent,
                                std::span<const hdf5::Property> properties,
                                const std::shared_ptr<ChunkCache>& cache);
// Returns the fill value for values of a variable that are not stored, `value_size` bytes; zeros if
// none is set.
std::vector<std::byte> unstored_value(std::span<const hdf5::Property> properties, VarId variable,
                                      std::uint64_t value_size);
// Like value_array().
Result<ValueArray> open_array(const Metadata& metadata, const ClassicLayout& layout,
                              std::uint64_t records, VarId variable,
                              std::shared_ptr<const ByteSource> extent,
                              std::span<const hdf5::Property> properties,
                              const std::shared_ptr<ChunkCache>& cache);

}  // namespace nmb
