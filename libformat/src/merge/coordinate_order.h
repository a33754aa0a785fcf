// Whether the coordinate of a dimension goes on in one direction where datasets follow one another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nmb/dataset.h"

namespace nmb {

struct Disorder {
  std::string coordinate;  // the variable
  std::uint64_t index;     // of the value that does not go on
  std::string found, before;
};

// Of the numeric variable that has the dimension's name, and it alone: the first of its values that
// is not strictly behind the one before it, as the second is behind the first. nullopt also without
// such a variable. kIo, kDamaged.
Result<std::optional<Disorder>> first_disorder(const Dataset& dataset, DimId along);

}  // namespace nmb
