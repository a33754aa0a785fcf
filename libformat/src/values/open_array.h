// open_array: value_array() for callers that open the arrays of many variables.
#pragma once

#include <memory>
#include <span>

#include "nmb/hdf5_section.h"
#include "nmb/values.h"
#include "values/chunk_cache.h"

namespace nmb {

// The array in the variable's own type and order of bytes. properties: of the variable, or more.
// cache: of chunks, shared.
Result<ValueArray> stored_array(const Metadata& metadata, const ClassicLayout& layout,
                                std::uint64_t records, VarId variable,
                                std::shared_ptr<const ByteSource> extent,
                                std::span<const hdf5::Property> properties,
                                const std::shared_ptr<ChunkCache>& cache);
// As value_array().
Result<ValueArray> open_array(const Metadata& metadata, const ClassicLayout& layout,
                              std::uint64_t records, VarId variable,
                              std::shared_ptr<const ByteSource> extent,
                              std::span<const hdf5::Property> properties,
                              const std::shared_ptr<ChunkCache>& cache);

}  // namespace nmb
