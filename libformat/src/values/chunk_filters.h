// Applies filters to chunks (spec/format.md, section 15.2). The filters deflate, shuffle,
// fletcher32 and zstd work as in HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nmb/extension.h"
#include "nmb/status.h"

namespace nmb {

// The HDF5 filter numbers of the filters that NMB decodes.
enum FilterId : std::uint32_t { kDeflate = 1, kShuffle = 2, kFletcher32 = 3, kZstd = 32015 };

// Returns the first filter that NMB does not decode, or nullptr if it decodes all filters.
const Filter* unknown_filter(const std::vector<Filter>& filters);
// Returns the filter's number, with its name if it has one.
std::string filter_text(const Filter& filter);

// Checks that NMB decodes all filters. Errors: kUnsupported; the message names the first filter
// that NMB does not decode.
Status check_filters(const std::vector<Filter>& filters);

// Decodes `stored` to a chunk of `length` bytes. The filters must have passed check_filters().
// mask: a set bit means that the filter with this number was skipped. Errors: kDamaged (R-XC-1) if
// the bytes do not decode to `length` bytes.
Result<std::vector<std::byte>> decode_chunk(const std::vector<Filter>& filters, std::uint32_t mask,
                                            std::vector<std::byte> stored, std::uint64_t length,
                                            std::uint64_t element_size);

// Encodes a chunk of whole elements. Each filter must be one of FilterId. The first parameter of a
// compressor is its level. Sets in *mask the bits of filters that were skipped: a compressor is
// skipped if it would not make the chunk shorter.
std::vector<std::byte> encode_chunk(const std::vector<Filter>& filters,
                                    std::vector<std::byte> chunk, std::uint64_t element_size,
                                    std::uint32_t* mask);

}  // namespace nmb
