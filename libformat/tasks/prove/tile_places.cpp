#include "prove/tile_places.h"

#include <array>

#include "prove/expected_values.h"
#include "wire/endian.h"

namespace nmb {

namespace {

// Returns a signed big-endian number of `size` bytes.
std::int64_t number_in(const std::byte* bytes, std::size_t size) {
  std::uint64_t number = std::to_integer<std::uint8_t>(*bytes) >= 0x80 ? ~std::uint64_t{0} : 0;
  for (std::size_t i = 0; i < size; ++i)
    number = number << 8 | std::to_integer<std::uint8_t>(bytes[i]);
  return static_cast<std::int64_t>(number);
}

}  // namespace

Result<std::optional<TilePart>> tile_part(DatasetContent& tile, const std::string& dimension) {
  const std::optional<std::size_t> coordinate = find_variable(tile, dimension);
  if (!coordinate) return std::optional<TilePart>();
  NMB_ASSIGN(const auto found, find_attribute(tile, *coordinate, "domain_decomposition"));
  if (!found || found->count != 4) return std::optional<TilePart>();
  std::array<std::int64_t, 4> limits{};
  const std::size_t size = found->values.size() / limits.size();
  for (std::size_t i = 0; i < limits.size(); ++i)
    limits[i] = number_in(found->values.data() + i * size, size);
  const auto [whole_first, whole_last, first, last] = limits;
  return std::optional(TilePart{static_cast<std::uint64_t>(whole_last - whole_first) + 1,
                                static_cast<std::uint64_t>(first - whole_first),
                                static_cast<std::uint64_t>(last - first) + 1});
}

}  // namespace nmb
