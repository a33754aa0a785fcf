#include "origins/stage.h"

#include <algorithm>
#include <cstring>

namespace nmb {

Status Stage::spool(std::span<const std::byte> bytes) {
  if (!file_) {
    NMB_ASSIGN(file_, folder_.empty() ? SpoolFile::create() : SpoolFile::create_in(folder_));
  }
  NMB_TRY(file_->write_at(spooled_, bytes));
  spooled_ += bytes.size();
  return {};
}

Status Stage::append(std::span<const std::byte> bytes) {
  if (memory_.size() + bytes.size() > kInMemory) {
    NMB_TRY(spool(memory_));
    memory_.clear();
    if (bytes.size() > kInMemory) return spool(bytes);
  }
  memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  return {};
}

Status Stage::replace(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (offset < spooled_) {
    const auto spooled = bytes.first(std::min<std::uint64_t>(bytes.size(), spooled_ - offset));
    NMB_TRY(file_->write_at(offset, spooled));
    bytes = bytes.subspan(spooled.size());
    offset += spooled.size();
  }
  if (!bytes.empty()) std::memcpy(&memory_[offset - spooled_], bytes.data(), bytes.size());
  return {};
}

Status Stage::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset < spooled_) {
    const auto spooled = out.first(std::min<std::uint64_t>(out.size(), spooled_ - offset));
    NMB_TRY(file_->read_at(offset, spooled));
    out = out.subspan(spooled.size());
    offset += spooled.size();
  }
  if (!out.empty()) std::memcpy(out.data(), &memory_[offset - spooled_], out.size());
  return {};
}

void Stage::clear() {
  file_.reset();
  spooled_ = 0;
  memory_ = {};
}

}  // namespace nmb
