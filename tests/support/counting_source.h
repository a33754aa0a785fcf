// A ByteSource that counts its reads and can fail one of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "wire/bytes.h"

namespace nmb::test {

class CountingSource final : public ByteSource {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  // The read with number `fail_at` (from 0) gives kIo.
  explicit CountingSource(std::shared_ptr<const ByteSource> base, std::uint64_t fail_at = kNever)
      : base_(std::move(base)), fail_at_(fail_at) {}
  // `base` must outlive the source.
  explicit CountingSource(const ByteSource& base, std::uint64_t fail_at = kNever)
      : CountingSource(not_owned(base), fail_at) {}
  std::uint64_t size() const override { return base_->size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    bytes_ += out.size();
    if (out.size() > largest_) largest_ = out.size();
    if (reads_++ == fail_at_)
      return Status(Code::kIo, name(), offset, {}, "read: Input/output error");
    return base_->read_at(offset, out);
  }
  const std::string& name() const override { return base_->name(); }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t bytes() const { return bytes_; }
  // Bytes of the largest read.
  std::uint64_t largest() const { return largest_; }

 private:
  const std::shared_ptr<const ByteSource> base_;
  const std::uint64_t fail_at_;
  mutable std::atomic<std::uint64_t> reads_{0}, bytes_{0}, largest_{0};
};

}  // namespace nmb::test
