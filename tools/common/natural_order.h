// The natural order of names: runs of digits compare as numbers, so that f9 comes before f10.
#pragma once

#include <string_view>

namespace nmb::tools {

// Compares digit runs by value and other bytes by memcmp; names that are equal then (f1, f01) by
// memcmp.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace nmb::tools
