// Checks whether the coordinate of a dimension is monotonic across datasets that are joined.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/metadata.h"
#include "sources/value_source.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

struct Disorder {
  std::string coordinate;  // the variable
  std::uint64_t index;     // index of the first value that is out of order
  std::string found, before;
};

// Returns the numeric variable that has the same name as the dimension and no other dimension.
// Returns nullopt if there is no such variable.
std::optional<VarId> coordinate_of(const Metadata& metadata, DimId along);

// A part of a coordinate's values. The part is contiguous in its source.
struct CoordinatePart {
  Source values;
  std::uint64_t count = 0;
};

// Returns the first value that breaks the order of the coordinate. The first two values decide
// whether the order is strictly ascending or strictly descending. coordinate: name of the variable.
// type: type of the values, which are in external form. Errors: kIo, kDamaged.
Result<std::optional<Disorder>> first_disorder(const std::string& coordinate, Type type,
                                               const std::vector<CoordinatePart>& parts);

}  // namespace nmb
