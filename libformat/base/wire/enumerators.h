// Checks enumerators that a program passes as options: a cast can give them any value.
#pragma once

#include <cstdint>
#include <string_view>

#include "nmb/status.h"
#include "wire/joined_text.h"

namespace nmb {

// Errors: kUsage if `value` is not one of the enumerators, of which `last` is the highest. type:
// the name of the enumeration, for messages.
template <class E>
Status check_enumerator(E value, E last, std::string_view type) {
  const auto number = static_cast<std::uint64_t>(value);
  if (number <= static_cast<std::uint64_t>(last)) return {};
  return Status(Code::kUsage, joined_text("found ", type, " ", number, ", expected an enumerator"));
}

}  // namespace nmb
