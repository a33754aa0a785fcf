// Compares values (see merge/uniting/value_comparison.h).
#include "merge/uniting/value_comparison.h"

#include <algorithm>
#include <cstring>

#include "dump/value_text.h"

namespace nmb {

namespace {

constexpr std::size_t kBytesAtOnce = 256 << 10;
std::string text_of(Type type, const std::array<std::byte, 8>& value) {
  return value_text({"", type, 1, std::span(value).first(type_size(type))});
}

}  // namespace

Result<std::optional<ValuesDiffer>> first_difference(const ComparedValues& found,
                                                     const ComparedValues& expected, Type type,
                                                     std::uint64_t slices, std::uint64_t length) {
  // Adjacent records are compared together.
  if (slices > 1 && found.step == length && expected.step == length) {
    length *= slices;
    slices = 1;
  }
  const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(length, kBytesAtOnce));
  std::vector<std::byte> left(part), right(part);
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    for (std::uint64_t done = 0; done < length; done += part) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(part, length - done));
      const auto is = std::span(left).first(size), was = std::span(right).first(size);
      NMB_TRY(found.source->read_at(found.begin + slice * found.step + done, is));
      NMB_TRY(expected.source->read_at(expected.begin + slice * expected.step + done, was));
      if (std::memcmp(is.data(), was.data(), size) == 0) continue;
      const auto byte = static_cast<std::size_t>(std::ranges::mismatch(is, was).in1 - is.begin());
      // All bytes of a value are in the same buffer.
      const std::size_t at = byte / type_size(type) * type_size(type);
      ValuesDiffer differ{(slice * length + done + at) / type_size(type), {}, {}};
      std::memcpy(differ.found.data(), is.data() + at, type_size(type));
      std::memcpy(differ.expected.data(), was.data() + at, type_size(type));
      return std::optional(differ);
    }
  }
  return std::optional<ValuesDiffer>();
}

std::pair<std::string, std::string> difference_text(const ValuesDiffer& differ, Type type,
                                                    const std::vector<IndexRange>& part) {
  std::uint64_t element = differ.element;
  std::string place;
  for (auto range = part.rbegin(); range != part.rend(); ++range) {
    place =
        std::to_string(range->first + element % range->count) + (place.empty() ? "" : ",") + place;
    element /= range->count;
  }
  std::string found = text_of(type, differ.found), expected = text_of(type, differ.expected);
  if (found == expected) found += " with different bits";
  if (!part.empty()) found += " at [" + place + "]";
  return {std::move(found), std::move(expected)};
}

}  // namespace nmb
