// Values that wait for their places (see writer/stage.h).
#include "writer/stage.h"

#include <algorithm>
#include <cstring>

namespace nmb {

Status Stage::append(std::span<const std::byte> bytes) {
  const std::size_t fits = std::min(bytes.size(), kMemory - memory_.size());
  memory_.insert(memory_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(fits));
  if (fits < bytes.size()) {
    if (!file_) {
      const std::string name = near_ + "." + std::to_string(number_) + ".values";
      NMB_ASSIGN(file_, create_output(name, {true, false, false}));
    }
    NMB_TRY(file_->write_at(size_ + fits - kMemory, bytes.subspan(fits)));
  }
  size_ += bytes.size();
  return {};
}

Status Stage::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const std::size_t ahead =
      offset < memory_.size() ? std::min<std::size_t>(out.size(), memory_.size() - offset) : 0;
  if (ahead != 0) std::memcpy(out.data(), memory_.data() + offset, ahead);
  if (ahead == out.size()) return {};
  return file_->read_at(offset + ahead - kMemory, out.subspan(ahead));
}

void Stage::clear() {
  memory_ = {};
  file_.reset();
  size_ = 0;
}

}  // namespace nmb
