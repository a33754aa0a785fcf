#include "model/elements_in.h"

#include <algorithm>
#include <utility>

namespace nmb {

std::optional<ElementRange> elements_in(const Metadata& metadata, const ClassicLayout& layout,
                                        std::uint64_t records, VarId id, ByteRange range) {
  const std::uint64_t size = metadata.value_size(metadata.variable(id).type);
  const std::uint64_t slice = metadata.array_bytes(id).value_or(0);
  if (size == 0 || slice == 0 || metadata.begin(id) < layout.header_length) return std::nullopt;
  const std::uint64_t begin = metadata.begin(id) - layout.header_length;
  ElementRange elements;
  const auto in_slice = [&](std::uint64_t from, std::uint64_t first, std::uint64_t end) {
    // Returns the elements of the slice at `from` that overlap [first, end).
    const std::uint64_t low = std::max(first, from), high = std::min(end, from + slice);
    if (low >= high) return std::pair<std::uint64_t, std::uint64_t>{0, 0};
    return std::pair<std::uint64_t, std::uint64_t>{(low - from) / size,
                                                   (high - from + size - 1) / size};
  };
  if (!metadata.is_record_variable(id)) {
    const auto [first, end] = in_slice(begin, range.begin, range.end);
    elements.first = first;
    elements.count = end - first;
  } else {
    // All records between the first and the last lie completely in the range.
    const std::uint64_t step = layout.record_size, each = slice / size;
    const std::uint64_t low = range.begin > begin ? (range.begin - begin) / step : 0;
    const std::uint64_t high =
        range.end > begin ? std::min(records, (range.end - begin - 1) / step + 1) : 0;
    std::uint64_t first = ~std::uint64_t{0}, end = 0;
    for (const std::uint64_t record : {low, low + 1, high - 1, high - 2}) {
      if (record >= high || record < low) continue;
      const auto [from, to] = in_slice(begin + record * step, range.begin, range.end);
      if (from == to) continue;
      first = std::min(first, record * each + from);
      end = std::max(end, record * each + to);
    }
    if (end > 0) {
      elements.first = first;
      elements.count = end - first;
    }
  }
  if (elements.count == 0) return std::nullopt;
  return elements;
}

}  // namespace nmb
