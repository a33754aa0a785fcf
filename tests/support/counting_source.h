// A source in memory that counts what is read from it and can fail one of the reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nmb/byte_source.h"

namespace nmb::test {

class CountingSource final : public ByteSource {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  // The read with number `fail_at`, from 0, gives kIo.
  explicit CountingSource(std::vector<std::byte> bytes, std::uint64_t fail_at = kNever)
      : bytes_(std::move(bytes)), fail_at_(fail_at) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    bytes_read += out.size();
    if (out.size() > largest_read) largest_read = out.size();
    if (reads++ == fail_at_) return Status(Code::kIo, name_, offset, {}, "read: failed");
    return MemorySource(bytes_, name_).read_at(offset, out);
  }
  const std::string& name() const override { return name_; }

  mutable std::uint64_t reads = 0, bytes_read = 0, largest_read = 0;

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t fail_at_;
  std::string name_ = "counting";
};

}  // namespace nmb::test
