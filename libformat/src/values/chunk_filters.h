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

// HDF5's registered numbers of the filters that are known here.
enum FilterId : std::uint32_t { kDeflate = 1, kShuffle = 2, kFletcher32 = 3, kZstd = 32015 };

// The first filter that is not decoded here; nullptr: all are.
const Filter* unknown_filter(const std::vector<Filter>& filters);
// Its number, and its name if it has one.
std::string filter_text(const Filter& filter);

// kUnsupported, naming the first filter that is not decoded here.
Status check_filters(const std::vector<Filter>& filters);

// The chunk that `stored` is, of `length` bytes. mask: filters that were left out. kDamaged
// (R-XC-1): it does not decode to that. Of filters that check_filters() takes.
Result<std::vector<std::byte>> decode_chunk(const std::vector<Filter>& filters, std::uint32_t mask,
                                            std::vector<std::byte> stored, std::uint64_t length,
                                            std::uint64_t element_size);

// What is stored for a chunk of whole elements. Filters are of those above, a compressor's first
// parameter is its level. *mask: a compressor that would not make it shorter is left out.
std::vector<std::byte> encode_chunk(const std::vector<Filter>& filters,
                                    std::vector<std::byte> chunk, std::uint64_t element_size,
                                    std::uint32_t* mask);

}  // namespace nmb
