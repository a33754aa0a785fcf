// WriteBuffer: gathers writes that follow one another in the file into one of up to 1 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nmb/output_file.h"

namespace nmb {

// Not thread-safe.
class WriteBuffer {
 public:
  explicit WriteBuffer(OutputFile& file) : file_(file) {}

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (offset != position_ + bytes_.size() || bytes_.size() + bytes.size() > kCapacity) {
      NMB_TRY(flush());
      position_ = offset;
    }
    if (bytes.size() >= kCapacity) {
      NMB_TRY(file_.write_at(offset, bytes));
      position_ = offset + bytes.size();
      return {};
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }

  Status flush() {
    if (bytes_.empty()) return {};
    NMB_TRY(file_.write_at(position_, bytes_));
    position_ += bytes_.size();
    bytes_.clear();
    return {};
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) {
    NMB_TRY(flush());
    return file_.read_at(offset, out);
  }

  // Forgets what was not written.
  void drop() { bytes_.clear(); }

 private:
  static constexpr std::size_t kCapacity = 1 << 20;
  OutputFile& file_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace nmb
