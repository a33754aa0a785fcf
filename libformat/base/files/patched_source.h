// PatchedSource: a file with a new head and a new tail, which are in memory. The file itself is not
// changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nmb/bytes.h"
#include "wire/joined_text.h"

namespace nmb {

// Thread-safe after head() and tail() were set. Bytes between the end of the file and the tail are
// zero.
class PatchedSource final : public ByteSource {
 public:
  // Shows the bytes of `base` before position `tail_begin`.
  PatchedSource(std::shared_ptr<const ByteSource> base, std::uint64_t tail_begin)
      : base_(std::move(base)), tail_begin_(tail_begin) {}

  std::vector<std::byte>& head() { return head_; }
  std::vector<std::byte>& tail() { return tail_; }

  std::uint64_t size() const override { return tail_begin_ + tail_.size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size() || out.size() > size() - offset)
      return Status(Code::kDamaged, name(), size(), "R-FL-1",
                    joined_text("cut: found ", size(), " bytes, expected ", out.size(),
                                " bytes at offset ", offset));
    // Takes the part of `out` before `end`. Afterwards, `out` begins at `offset` again.
    const auto before = [&](std::uint64_t end) {
      const auto part =
          out.first(offset < end ? std::min<std::uint64_t>(out.size(), end - offset) : 0);
      out = out.subspan(part.size());
      offset += part.size();
      return part;
    };
    const std::uint64_t from_head = offset;
    if (const auto part = before(head_.size()); !part.empty())
      std::ranges::copy(std::span(head_).subspan(from_head, part.size()), part.begin());
    const std::uint64_t from_base = offset;
    if (const auto part = before(std::min(base_->size(), tail_begin_)); !part.empty())
      NMB_TRY(base_->read_at(from_base, part));
    std::ranges::fill(before(tail_begin_), std::byte{0});
    if (!out.empty())
      std::ranges::copy(std::span(tail_).subspan(offset - tail_begin_, out.size()), out.begin());
    return {};
  }
  const std::string& name() const override { return base_->name(); }
  const std::string* path() const override { return base_->path(); }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return offset >= head_.size() && offset <= tail_begin_ && length <= tail_begin_ - offset &&
           base_->is_unallocated(offset, length);
  }
  bool may_be_sparse() const override { return base_->may_be_sparse(); }

 private:
  const std::shared_ptr<const ByteSource> base_;
  const std::uint64_t tail_begin_;
  std::vector<std::byte> head_, tail_;
};

}  // namespace nmb
