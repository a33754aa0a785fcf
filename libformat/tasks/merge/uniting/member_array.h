// MemberArray: a variable's values in one dataset of a union. The values have no gaps and are
// converted to the type of the united variable.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "netcdf/type_widening.h"
#include "nmb/bytes.h"
#include "nmb/types.h"
#include "values/array_source.h"

namespace nmb {

// Describes where the values are and how they are converted.
struct MemberValues {
  Source values;            // the values of the dataset
  std::uint64_t begin = 0;  // offset of the variable in `values`
  std::uint64_t bytes = 0;  // bytes of all values, or of the values in one record
  std::uint64_t records = 0, record_size = 0;
  bool is_record = false;  // records are not contiguous
  Type type{}, to{};
  bool maps_fill = false;  // see widening()
};

class MemberArray final : public ByteSourceLayer {
 public:
  explicit MemberArray(MemberValues parts)
      : ByteSourceLayer(array_of(parts)), parts_(std::move(parts)) {}
  const MemberValues& parts() const { return parts_; }

 private:
  static Source array_of(const MemberValues& parts) {
    VariableShape shape;
    shape.lengths = {parts.records};
    shape.begin = parts.begin;
    shape.record_size = parts.record_size;
    Source array = parts.is_record && parts.bytes > 0
                       ? record_array(parts.values, shape, parts.bytes)
                       : std::make_shared<RangeSource>(parts.values, parts.begin, parts.bytes);
    if (parts.type == parts.to) return array;
    return widened_array(std::move(array), parts.type, parts.to, parts.maps_fill);
  }

  const MemberValues parts_;
};

}  // namespace nmb
