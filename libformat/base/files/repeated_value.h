// RepeatedValue: a source that repeats the bytes of one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "nmb/bytes.h"

namespace nmb {

// Thread-safe.
class RepeatedValue final : public ByteSource {
 public:
  explicit RepeatedValue(std::vector<std::byte> value, std::uint64_t size = ~std::uint64_t{0},
                         std::string name = "fill values")
      : value_(std::move(value)), size_(size), name_(std::move(name)) {}
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }
  const std::vector<std::byte>& value() const { return value_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (out.empty()) return {};
    std::size_t at = offset % value_.size(), done = 0;
    for (; done < std::min(value_.size(), out.size()); ++done) {
      out[done] = value_[at];
      if (++at == value_.size()) at = 0;
    }
    // The part of `out` that is already filled is copied until `out` is full.
    while (done < out.size()) {
      const std::size_t more = std::min(done, out.size() - done);
      std::memcpy(out.data() + done, out.data(), more);
      done += more;
    }
    return {};
  }

 private:
  const std::vector<std::byte> value_;
  const std::uint64_t size_;
  const std::string name_;
};

}  // namespace nmb
