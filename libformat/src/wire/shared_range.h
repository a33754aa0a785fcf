// SharedRange: a range of a source that it keeps alive.
#pragma once

#include <memory>

#include "nmb/bytes.h"

namespace nmb {

class SharedRange final : public ByteSource {
 public:
  // offset + size must not exceed base->size().
  SharedRange(std::shared_ptr<const ByteSource> base, std::uint64_t offset, std::uint64_t size)
      : base_(std::move(base)), offset_(offset), range_(*base_, offset, size) {}
  std::uint64_t size() const override { return range_.size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return range_.read_at(offset, out);
  }
  const std::string& name() const override { return range_.name(); }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return range_.is_unallocated(offset, length);
  }
  bool may_be_sparse() const override { return range_.may_be_sparse(); }
  const std::shared_ptr<const ByteSource>& base() const { return base_; }
  std::uint64_t offset() const { return offset_; }

 private:
  std::shared_ptr<const ByteSource> base_;
  std::uint64_t offset_;
  RangeSource range_;
};

}  // namespace nmb
