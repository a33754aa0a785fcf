// Whether the coordinate of a dimension goes on in one direction where datasets follow one another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

struct Disorder {
  std::string coordinate;  // the variable
  std::uint64_t index;     // of the value that does not go on
  std::string found, before;
};

// The numeric variable that has the dimension's name, and it alone; nullopt: there is none.
std::optional<VarId> coordinate_of(const Metadata& metadata, DimId along);

// Values of a coordinate, of which those of a part are one behind the other in a source.
struct CoordinatePart {
  std::shared_ptr<const ByteSource> values;
  std::uint64_t count = 0;
};

// The first value of the parts that is not strictly behind the one before it, as the second is
// behind the first. coordinate: its name. type: of the values, in external form. kIo, kDamaged.
Result<std::optional<Disorder>> first_disorder(const std::string& coordinate, Type type,
                                               const std::vector<CoordinatePart>& parts);

}  // namespace nmb
