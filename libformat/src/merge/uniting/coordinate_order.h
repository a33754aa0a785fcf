// Checks whether the coordinate of a dimension is monotonic across datasets that are joined.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmb/metadata.h"
#include "nmb/status.h"
#include "nmb/types.h"
#include "values/array_source.h"

namespace nmb {

struct Disorder {
  std::string coordinate;  // the variable
  std::uint64_t index;     // index of the value that is out of order
  std::string found, before;
};

// Returns the numeric variable that has the dimension's name and only this dimension; nullopt:
// there is none.
std::optional<VarId> coordinate_of(const Metadata& metadata, DimId along);

// Values of a coordinate; those of one part are contiguous in a source.
struct CoordinatePart {
  Source values;
  std::uint64_t count = 0;
};

// Returns the first value that does not continue the order that the first two values of the parts
// set, strictly ascending or descending. coordinate: its name. type: of the values, in external
// form. Errors: kIo, kDamaged.
Result<std::optional<Disorder>> first_disorder(const std::string& coordinate, Type type,
                                               const std::vector<CoordinatePart>& parts);

}  // namespace nmb
