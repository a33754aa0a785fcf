// Encodes and decodes the sections of a body of kind 6 (spec/extended.md, section 15).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/extension.h"
#include "wire/failure.h"
#include "wire/items.h"

namespace nmb {

// Appends the sections of `extension` to *out. The length of *out is a multiple of 8 before and
// after the call.
void append_sections(const Extension& extension, std::vector<std::byte>* out);

// Decodes the sections that fill `bytes`. The decoder of the header compares them with the header's
// dimensions and variables. Errors: kDamaged, with an offset in `bytes`; kUnsupported for a
// critical section of an unknown type.
Result<Extension> decode_sections(std::span<const std::byte> bytes);

// Encode and decode the payload of a types section.
void append_types(const TypeTable& types, std::vector<std::byte>* out);
Result<TypeTable> decode_types(std::span<const std::byte> bytes);

// Encode and decode the filters in a payload.
inline constexpr std::uint64_t kMostFilters = 32;
void put_filters(const std::vector<Filter>& filters, ItemsOut* out);
std::vector<Filter> take_filters(ItemsIn* in, std::uint64_t count, const char* rule);

}  // namespace nmb
