#include "merge/uniting/value_comparison.h"

#include <span>

#include "dump/value_text.h"

namespace nmb {

namespace {

std::string text_of(Type type, const std::array<std::byte, 8>& value) {
  return value_text({"", type, 1, std::span(value).first(type_size(type))});
}

}  // namespace

Result<std::optional<ValuesDiffer>> first_difference(const ByteSlices& found,
                                                     const ByteSlices& expected, Type type,
                                                     std::uint64_t slices, std::uint64_t length) {
  NMB_ASSIGN(const std::optional<std::uint64_t> byte,
             first_different_byte(found, expected, length, slices));
  if (!byte) return std::optional<ValuesDiffer>();
  const std::uint64_t size = type_size(type);
  const std::uint64_t slice = *byte / length, at = *byte % length / size * size;
  ValuesDiffer differ{*byte / size, {}, {}};
  NMB_TRY(found.source->read_at(found.begin + slice * found.step + at,
                                std::span(differ.found).first(size)));
  NMB_TRY(expected.source->read_at(expected.begin + slice * expected.step + at,
                                   std::span(differ.expected).first(size)));
  return std::optional(differ);
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
