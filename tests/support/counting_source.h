// A source in memory that counts what is read from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nmb/byte_source.h"

namespace nmb::test {

class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    ++reads;
    bytes_read += out.size();
    if (out.size() > largest_read) largest_read = out.size();
    return MemorySource(bytes_, name_).read_at(offset, out);
  }
  const std::string& name() const override { return name_; }

  mutable std::uint64_t reads = 0, bytes_read = 0, largest_read = 0;

 private:
  std::vector<std::byte> bytes_;
  std::string name_ = "counting";
};

}  // namespace nmb::test
