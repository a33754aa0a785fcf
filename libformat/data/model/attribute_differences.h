// Compares the attributes of two objects.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/metadata.h"

namespace nmb {

// Returns whether two attributes have the same type and the same bytes of values.
inline bool has_same_value(const Attribute& a, const Attribute& b) {
  return a.type == b.type && std::ranges::equal(a.values, b.values);
}

// Compares the attributes of `found_owner` and `expected_owner`, but ignores an attribute if
// counts(name) is false for its name. Calls differ(const Attribute* found, const Attribute*
// expected) for each attribute that both owners have if same(*found, *expected) is false. Also
// calls it for each attribute that only one owner has; the pointer for the other owner is then
// nullptr. The attributes of `found_owner` come first, in their order, then those that only
// `expected_owner` has. differ() may change `expected`.
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
