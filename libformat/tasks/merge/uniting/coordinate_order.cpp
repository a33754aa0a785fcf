#include "merge/uniting/coordinate_order.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "model/values.h"

namespace nmb {

namespace {

constexpr std::uint64_t kValuesAtOnce = 32768;  // number of values

std::string number_text(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

std::optional<VarId> coordinate_of(const Metadata& metadata, DimId along) {
  const auto id = metadata.find_variable(metadata.dimension(along).name);
  if (!id) return std::nullopt;
  const Variable variable = metadata.variable(*id);
  const bool is_coordinate = variable.dimensions.size() == 1 && variable.dimensions[0] == along &&
                             variable.type != Type::kChar;
  return is_coordinate ? id : std::nullopt;
}

Result<std::optional<Disorder>> first_disorder(const std::string& coordinate, Type type,
                                               const std::vector<CoordinatePart>& parts) {
  std::vector<std::byte> bytes;
  std::vector<double> values;
  double before = 0, sign = 0;
  std::uint64_t index = 0;
  for (const CoordinatePart& part : parts)
    for (std::uint64_t from = 0; from < part.count; from += values.size()) {
      values.resize(std::min(kValuesAtOnce, part.count - from));
      bytes.resize(values.size() * type_size(type));
      NMB_TRY(part.values->read_at(from * type_size(type), bytes));
      convert_from_external(type, bytes.data(), values.size(), MemoryType::kDouble, values.data());
      for (const double value : values) {
        const double step = value - before;
        if (index == 1) sign = step < 0 ? -1 : 1;
        // NaN is out of order everywhere.
        if (index > 0 && !(step * sign > 0))
          return std::optional(
              Disorder{coordinate, index, number_text(value), number_text(before)});
        before = value;
        ++index;
      }
    }
  return std::optional<Disorder>();
}

}  // namespace nmb
