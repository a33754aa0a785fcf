// RepeatedValue: one value again and again: fill values where a dataset has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nmb/byte_source.h"

namespace nmb {

// Thread-safe.
class RepeatedValue final : public ByteSource {
 public:
  explicit RepeatedValue(std::vector<std::byte> value) : value_(std::move(value)) {}
  std::uint64_t size() const override { return ~std::uint64_t{0}; }
  const std::string& name() const override { return name_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::size_t at = offset % value_.size();
    for (std::byte& byte : out) {
      byte = value_[at];
      if (++at == value_.size()) at = 0;
    }
    return {};
  }

 private:
  const std::vector<std::byte> value_;
  const std::string name_ = "fill values";
};

}  // namespace nmb
