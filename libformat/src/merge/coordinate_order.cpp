// Order of coordinates (see merge/coordinate_order.h).
#include "merge/coordinate_order.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace nmb {

namespace {

constexpr std::uint64_t kValuesAtOnce = 32768;  // values

std::string number_text(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

Result<std::optional<Disorder>> first_disorder(const Dataset& dataset, DimId along) {
  const Metadata& metadata = dataset.metadata;
  const std::string name(metadata.dimension(along).name);
  const auto id = metadata.find_variable(name);
  if (!id) return std::optional<Disorder>();
  const Variable variable = metadata.variable(*id);
  if (variable.dimensions.size() != 1 || variable.dimensions[0] != along ||
      variable.type == Type::kChar)
    return std::optional<Disorder>();
  const Dimension dimension = metadata.dimension(along);
  const std::uint64_t length = dimension.is_record() ? dataset.records : dimension.length;
  std::vector<double> values;
  double before = 0, sign = 0;
  for (std::uint64_t from = 0; from < length; from += values.size()) {
    values.resize(std::min(kValuesAtOnce, length - from));
    const Hyperslab slab{{from}, {values.size()}, {}};
    NMB_TRY(dataset.read(*id, slab, MemoryType::kDouble, values.data()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double step = values[i] - before;
      if (from + i == 1) sign = step < 0 ? -1 : 1;
      // Not a number is behind nothing.
      if (from + i > 0 && !(step * sign > 0))
        return std::optional(Disorder{name, from + i, number_text(values[i]), number_text(before)});
      before = values[i];
    }
  }
  return std::optional<Disorder>();
}

}  // namespace nmb
