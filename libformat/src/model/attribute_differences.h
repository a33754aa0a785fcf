// Attributes of two objects, side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nmb/metadata.h"

namespace nmb {

// Type and values, byte by byte.
inline bool has_same_value(const Attribute& a, const Attribute& b) {
  return a.type == b.type && std::ranges::equal(a.values, b.values);
}

// Calls differ(const Attribute* found, const Attribute* expected) for each attribute whose
// counts(name) is true and that both owners have but is not same(*found, *expected), or that one of
// them has (the other pointer is nullptr): in the order of those found, then those that are missing
// among them. differ() may add to `expected` what is found.
template <class Counts, class Same, class Differ>
void for_each_difference(const Metadata& found, VarId found_owner, const Metadata& expected,
                         VarId expected_owner, Counts counts, Same same, Differ differ) {
  const std::uint32_t count = expected.attribute_count(expected_owner);
  std::uint32_t in_both = 0;
  found.for_each_attribute(found_owner, [&](const Attribute& one) {
    if (!counts(one.name)) return;
    const std::optional<Attribute> other = expected.find_attribute(expected_owner, one.name);
    in_both += other.has_value();
    if (!other || !same(one, *other)) differ(&one, other ? &*other : nullptr);
  });
  if (in_both == count) return;
  expected.for_each_attribute(expected_owner, [&](const Attribute& other) {
    if (counts(other.name) && !found.find_attribute(found_owner, other.name))
      differ(nullptr, &other);
  });
}

}  // namespace nmb
