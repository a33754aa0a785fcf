// Divides the values of a selection into rows for the code that prints them. A row consists of the
// elements along the last dimension.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "dump/text_out.h"
#include "model/values.h"
#include "values/gather.h"

namespace nmb {

// Returns the number of elements in a row: the count in the last dimension, or 1 for a scalar.
inline std::uint64_t row_length(const Hyperslab& slab) {
  return slab.count.empty() ? 1 : slab.count.back();
}

// Reads the selection and passes its rows to `rows` in order. For row n, calls rows.begin(n), then
// rows.text(bytes) for each portion of text or rows.value(external) for each number, then
// rows.end(n). Stops if `out` has failed. `slab` must have passed check_hyperslab().
template <class Rows>
Status for_each_row(const ValueArray& array, const Hyperslab& slab, const TextOut& out,
                    Rows& rows) {
  const VariableShape& shape = array.shape;
  const std::uint64_t length = row_length(slab);
  std::uint64_t row = 0, place = 0;
  return gather(shape, slab, *array.source, [&](std::span<const std::byte> values) {
    while (!values.empty()) {
      if (place == 0) rows.begin(row);
      const std::uint64_t count =
          std::min<std::uint64_t>(length - place, values.size() / shape.element_size);
      const auto part = values.first(count * shape.element_size);
      if (array.type == Type::kChar) {
        rows.text({reinterpret_cast<const char*>(part.data()), part.size()});
      } else {
        for (std::uint64_t i = 0; i < part.size(); i += shape.element_size)
          rows.value(part.data() + i);
      }
      values = values.subspan(part.size());
      place += count;
      if (place == length) {
        rows.end(row++);
        place = 0;
      }
    }
    NMB_TRY(rows.status());
    return out.status();
  });
}

}  // namespace nmb
