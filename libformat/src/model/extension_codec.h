// Encodes and decodes the sections of a body of kind 6 (spec/format.md, section 15).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nmb/extension.h"
#include "nmb/status.h"
#include "wire/items.h"

namespace nmb {

// Appends the sections of `extension`; `out` has a multiple of 8 bytes before and after.
void append_sections(const Extension& extension, std::vector<std::byte>* out);

// Decodes the sections that fill `bytes`. Errors: kDamaged, with an offset in `bytes`;
// kUnsupported: a critical section of an unknown type. check_extension() compares them with the
// header's dimensions and variables.
Result<Extension> decode_sections(std::span<const std::byte> bytes);

// Filters, if a payload has any.
inline constexpr std::uint64_t kMostFilters = 32;
void put_filters(const std::vector<Filter>& filters, ItemsOut* out);
std::vector<Filter> take_filters(ItemsIn* in, std::uint64_t count, const char* rule);

}  // namespace nmb
