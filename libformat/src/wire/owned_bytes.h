// OwnedBytes: bytes in memory that are the source's own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nmb/bytes.h"

namespace nmb {

class OwnedBytes final : public ByteSource {
 public:
  OwnedBytes(std::vector<std::byte> bytes, std::string name)
      : bytes_(std::move(bytes)), source_(bytes_, std::move(name)) {}
  std::uint64_t size() const override { return source_.size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return source_.read_at(offset, out);
  }
  const std::string& name() const override { return source_.name(); }

 private:
  const std::vector<std::byte> bytes_;
  const MemorySource source_;
};

}  // namespace nmb
