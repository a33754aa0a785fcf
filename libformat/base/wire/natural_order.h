// The natural order of names: a run of digits is compared as a number, so that f9 comes before f10.
#pragma once

#include <string_view>

#include "nmb/status.h"

namespace nmb {

// Returns whether `a` comes before `b`. Runs of digits are compared by value, and other bytes as
// unsigned numbers. If two names are equal in natural order (f1, f01), all their bytes are
// compared.
NMB_EXPORT bool natural_less(std::string_view a, std::string_view b);

}  // namespace nmb
