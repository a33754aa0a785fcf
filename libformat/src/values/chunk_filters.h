// Filters of chunks (spec/format.md, section 15.2): deflate, shuffle, fletcher32 and zstd, as HDF5
// has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nmb/extension.h"
#include "nmb/status.h"

namespace nmb {

// The numbers that HDF5 has registered for the filters that NMB decodes.
enum FilterId : std::uint32_t { kDeflate = 1, kShuffle = 2, kFletcher32 = 3, kZstd = 32015 };

// Returns the first filter that NMB does not decode; nullptr: it decodes all.
const Filter* unknown_filter(const std::vector<Filter>& filters);
// Returns the filter's number, with its name if it has one.
std::string filter_text(const Filter& filter);

// Errors: kUnsupported, with the name of the first filter that NMB does not decode.
Status check_filters(const std::vector<Filter>& filters);

// Decodes `stored` to a chunk of `length` bytes. mask: filters that were skipped. The filters must
// have passed check_filters(). Errors: kDamaged (R-XC-1) if the result is not such a chunk.
Result<std::vector<std::byte>> decode_chunk(const std::vector<Filter>& filters, std::uint32_t mask,
                                            std::vector<std::byte> stored, std::uint64_t length,
                                            std::uint64_t element_size);

// Encodes a chunk of whole elements. The filters must be among those above; the first parameter of
// a compressor is its level. *mask: a compressor that would not make the chunk shorter is skipped.
std::vector<std::byte> encode_chunk(const std::vector<Filter>& filters,
                                    std::vector<std::byte> chunk, std::uint64_t element_size,
                                    std::uint32_t* mask);

}  // namespace nmb
