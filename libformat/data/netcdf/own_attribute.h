// Attributes of types that a classic dataset lacks, as characters of a classic dataset
// (ClassicView::OwnAttribute).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/extension.h"
#include "model/metadata.h"
#include "wire/failure.h"

namespace nmb {

struct OwnAttributeValues {
  TypeTable types;  // the type of the attribute is the last one
  std::uint64_t count = 0;
  std::vector<std::byte> values;

  Attribute attribute(std::string_view name) const { return {name, types.last(), count, values}; }
};

// Encodes the type and the values of an attribute. Equal values of one type have the same bytes.
// types: the types of the block; heap_places() must know the type of the attribute. Errors:
// kDamaged if values of variable length are damaged.
Result<std::vector<std::byte>> encode_own(const TypeTable& types, const Attribute& attribute);
// Returns what encode_own() encoded. Errors: kDamaged.
Result<OwnAttributeValues> decode_own(std::span<const std::byte> encoded);
// Returns whether two encoded attributes have the same values, and types that differ at most in
// their names.
bool is_same_own(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace nmb
