// SplicedSource: a source that consists of ranges of other sources, with zeros between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nmb/bytes.h"

namespace nmb {

class SplicedSource final : public ByteSource {
 public:
  struct Run {
    std::uint64_t offset = 0, length = 0;  // range in this source
    std::uint64_t source = 0;              // offset in the other source
    std::uint32_t from = 0;                // index of the other source
    std::uint64_t end() const { return offset + length; }
  };

  // runs: must be in ascending order and must not overlap. Each run must lie within the first
  // `size` bytes of this source, and within the other source. name: name of the source in messages.
  SplicedSource(std::vector<std::shared_ptr<const ByteSource>> sources, std::vector<Run> runs,
                std::uint64_t size, std::string name)
      : sources_(std::move(sources)), runs_(std::move(runs)), size_(size), name_(std::move(name)) {}

  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      return Status(Code::kDamaged, name_, offset, "", "a read goes beyond the end of the values");
    auto run = std::ranges::upper_bound(runs_, offset, {}, &Run::offset);
    if (run != runs_.begin()) --run;
    while (!out.empty()) {
      while (run != runs_.end() && run->end() <= offset) ++run;
      const bool between = run == runs_.end() || offset < run->offset;
      const std::uint64_t end = run == runs_.end() ? size_ : between ? run->offset : run->end();
      const std::span<std::byte> part =
          out.first(std::min<std::uint64_t>(out.size(), end - offset));
      if (between)
        std::ranges::fill(part, std::byte{0});
      else
        NMB_TRY(sources_[run->from]->read_at(run->source + (offset - run->offset), part));
      offset += part.size();
      out = out.subspan(part.size());
    }
    return {};
  }
  // A range that does not lie within a single run counts as allocated.
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    auto run = std::ranges::upper_bound(runs_, offset, {}, &Run::offset);
    if (run == runs_.begin()) return false;
    --run;
    const std::uint64_t from = offset - run->offset;
    return from <= run->length && length <= run->length - from &&
           sources_[run->from]->is_unallocated(run->source + from, length);
  }
  const std::vector<std::shared_ptr<const ByteSource>>& sources() const { return sources_; }
  const std::vector<Run>& runs() const { return runs_; }
  bool may_be_sparse() const override {
    return std::ranges::any_of(sources_,
                               [](const auto& source) { return source->may_be_sparse(); });
  }

 private:
  const std::vector<std::shared_ptr<const ByteSource>> sources_;
  const std::vector<Run> runs_;
  const std::uint64_t size_;
  const std::string name_;
};

}  // namespace nmb
