// DryOutput: an output file for dry runs, which keeps only the length of the file.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "nmb/files.h"

namespace nmb {

// Reads return zeros. Writes do not change the length, because writers set the final length first.
// name: name of the file in messages.
class DryOutput final : public OutputFile {
 public:
  explicit DryOutput(std::string name) : name_(std::move(name)) {}
  Status write_at(std::uint64_t, std::span<const std::byte>) override { return {}; }
  Status read_at(std::uint64_t, std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{0});
    return {};
  }
  Status truncate(std::uint64_t length) override {
    length_ = length;
    return {};
  }
  Status reserve(std::uint64_t, std::uint64_t) override { return {}; }
  Status sync() override { return {}; }
  Status publish() override { return {}; }
  Result<std::uint64_t> size() const override { return length_.load(); }
  const std::string& name() const override { return name_; }

 private:
  const std::string name_;
  std::atomic<std::uint64_t> length_ = 0;
};

}  // namespace nmb
