#include "statistics.h"

#include <bit>
#include <cstring>
#include <variant>

#include "text.h"

namespace nmb_python {

namespace {

// Returns a number in external form, exactly.
nb::object number_of(nmb::Type type, const std::array<std::byte, 8>& external) {
  const std::size_t size = nmb::type_size(type);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size; ++i)
    bits = bits << 8 | std::to_integer<std::uint64_t>(external[i]);
  switch (type) {
    case nmb::Type::kFloat:
      return nb::float_(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case nmb::Type::kDouble:
      return nb::float_(std::bit_cast<double>(bits));
    case nmb::Type::kByte:
      return nb::cast(static_cast<std::int8_t>(bits));
    case nmb::Type::kShort:
      return nb::cast(static_cast<std::int16_t>(bits));
    case nmb::Type::kInt:
      return nb::cast(static_cast<std::int32_t>(bits));
    case nmb::Type::kInt64:
      return nb::cast(static_cast<std::int64_t>(bits));
    default:
      return nb::cast(bits);
  }
}

nb::object tag_value(const nmb::TagValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return to_text(*text);
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return nb::cast(*number);
  if (const auto* const number = std::get_if<std::uint64_t>(&value)) return nb::cast(*number);
  return nb::cast(std::get<double>(value));
}

}  // namespace

nb::object to_python(const nmb::VariableStatistics& s) {
  nb::object least = nb::none(), greatest = nb::none(), mean = nb::none(), deviation = nb::none();
  if (s.has_range) {
    least = number_of(s.type, s.minimum);
    greatest = number_of(s.type, s.maximum);
  }
  if (s.moments) {
    mean = nb::cast(s.moments->mean);
    deviation = nb::cast(s.moments->deviation);
  }
  nb::list histogram, parts;
  for (const nmb::Histogram::Bucket& bucket : s.histogram.buckets) {
    const nmb::Histogram::Range range = s.histogram.range(bucket);
    histogram.append(nb::make_tuple(range.least, range.greatest, bucket.count));
  }
  for (const nmb::PartRanges::Part& part : s.parts.parts)
    parts.append(part.ordered == 0 ? nb::make_tuple(nb::none(), nb::none(), part.ordered)
                                   : nb::make_tuple(number_of(s.type, part.minimum),
                                                    number_of(s.type, part.maximum), part.ordered));
  nb::dict functions;
  for (const nmb::FunctionResult& result : s.functions)
    functions[to_text(result.function)] = tag_value(result.value);
  return nb::module_::import_("nmb._reports")
      .attr("Statistics")(s.computed ? nb::cast(s.elements) : nb::none(),
                          s.computed ? nb::cast(s.missing) : nb::none(),
                          s.computed ? nb::cast(s.nans) : nb::none(), least, greatest, mean,
                          deviation, histogram, parts, functions);
}

}  // namespace nmb_python
