#include "model/heap_value.h"

#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

Result<std::vector<std::byte>> HeapValue::read(const ByteSource& region, std::uint64_t size,
                                               std::uint64_t* left) const {
  if (is_null()) return std::vector<std::byte>();
  std::uint64_t bytes = 0;
  const std::uint64_t there = region.size();
  if (!checked_mul(count, size, &bytes) || offset > there || bytes > there - offset)
    return Status(Code::kDamaged, {}, kNoOffset, "R-XV-1",
                  joined_text("found a value that refers to ", bytes, " bytes at offset ", offset,
                              "; the length of the region is ", there));
  if (bytes > *left)
    return Status(Code::kDamaged, {}, kNoOffset, "R-XV-2",
                  joined_text("found values that together refer to more than the ", there,
                              " bytes of the region"));
  *left -= bytes;
  std::vector<std::byte> out(bytes);
  if (bytes > 0) NMB_TRY(region.read_at(offset, out));
  return out;
}

}  // namespace nmb
