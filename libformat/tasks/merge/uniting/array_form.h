// ArrayForm: the type and the byte order in which an array stores its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sources/type_widening.h"
#include "wire/kinds.h"
#include "wire/swap_values.h"

namespace nmb {

// The form of the values of an array: their type, and whether they are little-endian.
struct ArrayForm {
  Type type{};  // the type that CDF-5 has
  bool is_swapped = false;
  bool operator==(const ArrayForm&) const = default;

  std::uint64_t size() const { return type_size(type); }
  // Converts values from this form to the form of CDF-5, or from CDF-5 to this form.
  void swap(std::vector<std::byte>* values) const {
    if (is_swapped) swap_values(values->data(), values->data(), values->size() / size(), size());
  }
};

// Returns values of one form in another form. maps_fill: see widening().
inline std::vector<std::byte> converted(std::vector<std::byte> values, const ArrayForm& from,
                                        const ArrayForm& to, bool maps_fill) {
  from.swap(&values);
  if (from.type != to.type) {
    std::vector<std::byte> wide(values.size() / from.size() * to.size());
    widening({from.type, to.type, maps_fill}).convert(values, wide);
    values = std::move(wide);
  }
  to.swap(&values);
  return values;
}

}  // namespace nmb
