#include <cstring>

#include "wire/bytes.h"
#include "wire/joined_text.h"

namespace nmb {

Status MemorySource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
    return Status(
        Code::kDamaged, name_, bytes_.size(), "R-FL-1",
        joined_text("cut: found ", bytes_.size(), " bytes, expected ", out.size(), " at ", offset));
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return {};
}

}  // namespace nmb
