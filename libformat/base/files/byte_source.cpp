// Implements sources of bytes in memory and of ranges of other sources (see nmb/bytes.h).
#include <cstring>

#include "nmb/bytes.h"
#include "wire/joined_text.h"

namespace nmb {

static Status cut(const std::string& name, std::uint64_t size, std::uint64_t offset,
                  std::size_t wanted) {
  return Status(Code::kDamaged, name, size, "R-FL-1",
                joined_text("cut: found ", size, " bytes, expected ", wanted, " at ", offset));
}

Status MemorySource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
    return cut(name_, bytes_.size(), offset, out.size());
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return {};
}

Status RangeSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) return cut(name(), size_, offset, out.size());
  return base_->read_at(offset_ + offset, out);
}

}  // namespace nmb
