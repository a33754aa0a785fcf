// Applies filters to chunks as HDF5 does (spec/extended.md, section 15.2): shuffle, fletcher32, and
// the filter of each codec in kPieceCodecs. Also undoes lzf, and lets the HDF5 library undo all
// other filters that it knows (base/server/hdf5_filters.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/extension.h"
#include "wire/failure.h"

namespace nmb {

// The HDF5 numbers of the filters that NMB decodes itself and that use no codec (see codec_of()).
enum FilterId : std::uint32_t { kShuffle = 2, kFletcher32 = 3, kLzf = 32000 };

// Returns the first filter that neither NMB nor the HDF5 library decodes, or nullptr if there is
// none.
const Filter* unknown_filter(const std::vector<Filter>& filters);
// Returns the filter's number as text, followed by its name if it has one.
std::string filter_text(const Filter& filter);

// Checks that chunks with these filters can be decoded. Errors: kUnsupported; the message names the
// first filter that neither NMB nor the HDF5 library decodes.
Status check_filters(const std::vector<Filter>& filters);
// Checks that encode_chunk() can make chunks with these filters, and that no filter needs the HDF5
// library. Errors: kUnsupported; the message names the first other filter.
Status check_own_filters(const std::vector<Filter>& filters);

// Returns the filters with parameters that encode_chunk() allows for values of `value_size` bytes.
// The parameters in a file may have any values, and shuffle depends on the size of a value. All
// filters must have passed check_own_filters().
std::vector<Filter> filters_for(std::vector<Filter> filters, std::uint64_t value_size);

// Decodes `stored` to a chunk of `length` bytes. The filters must have passed check_filters().
// mask: bit i is set if filters[i] was skipped when the chunk was encoded. *ended: set to true if
// the HDF5 library crashed or took too much time; the caller should then not decode further chunks
// of the variable. Errors: kDamaged (R-XC-1) if the bytes do not decode to `length` bytes; those of
// hdf5::undo_filter().
Result<std::vector<std::byte>> decode_chunk(const std::vector<Filter>& filters, std::uint32_t mask,
                                            std::vector<std::byte> stored, std::uint64_t length,
                                            std::uint64_t element_size, bool* ended = nullptr);

// Returns the first filter that NMB does not decode itself, or nullptr if it decodes all filters.
const Filter* first_foreign(const std::vector<Filter>& filters);
// Returns whether NMB or the HDF5 library decodes all filters that were applied to a chunk. mask:
// as for decode_chunk().
bool can_decode(const std::vector<Filter>& filters, std::uint32_t mask);
// Returns whether a stored chunk has a checksum (fletcher32) that check_sums() can check. mask: as
// for decode_chunk().
bool has_sum(const std::vector<Filter>& filters, std::uint32_t mask);
// Checks the checksums of a stored chunk, except those that an unknown filter encoded afterwards.
// Undoes only the filters after the first of the checked checksums: a checksum that was added after
// compression needs no decompression. Other arguments and errors: as for decode_chunk().
Status check_sums(const std::vector<Filter>& filters, std::uint32_t mask,
                  std::vector<std::byte> stored, std::uint64_t length, std::uint64_t element_size);

// Encodes a chunk of whole elements. Skips a compressor that would not make the chunk shorter.
// filters: a result of filters_for(), or equal filters. *mask: bit i is set if filters[i] was
// skipped.
std::vector<std::byte> encode_chunk(const std::vector<Filter>& filters,
                                    std::vector<std::byte> chunk, std::uint64_t element_size,
                                    std::uint32_t* mask);

}  // namespace nmb
