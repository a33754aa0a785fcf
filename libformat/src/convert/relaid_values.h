// RelaidValues: the values of a dataset as they lie in a file of another layout.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "nmb/dataset.h"

namespace nmb {

// Bytes between variables are zero. Reads one variable's part, or a record's, at a time; keeps the
// dataset's extent, not the dataset. Thread-safe.
class RelaidValues final : public ByteSource {
 public:
  // metadata: of `dataset`, with the places of the other layout.
  RelaidValues(const Dataset& dataset, const Metadata& metadata, const ClassicLayout& layout)
      : extent_(dataset.extent),
        size_((dataset.records > 0 ? layout.end(dataset.records) : layout.fixed_end) -
              layout.header_length),
        record_begin_(layout.record_begin - layout.header_length),
        record_size_(layout.record_size),
        source_record_size_(dataset.layout.record_size) {
    for (VarId v = 0; v < metadata.variable_count(); ++v) {
      const std::uint64_t length = metadata.slice_bytes(v).value_or(0);
      if (length == 0) continue;
      const std::uint64_t source = dataset.metadata.begin(v) - dataset.layout.header_length;
      const std::uint64_t to = metadata.begin(v) - layout.header_length;
      if (metadata.is_record_variable(v))
        record_.push_back({to - record_begin_, source, length});
      else
        fixed_.push_back({to, source, length});
    }
    // Variables of no bytes have none of a record either.
    if (record_.empty()) record_size_ = 0;
  }

  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return extent_->name(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::memset(out.data(), 0, out.size());
    NMB_TRY(read_slices(fixed_, 0, 0, offset, out));
    const std::uint64_t end = offset + out.size();
    if (record_size_ == 0 || end <= record_begin_) return {};
    const std::uint64_t first = (std::max(offset, record_begin_) - record_begin_) / record_size_;
    for (std::uint64_t r = first; record_begin_ + r * record_size_ < end; ++r)
      NMB_TRY(read_slices(record_, record_begin_ + r * record_size_, r * source_record_size_,
                          offset, out));
    return {};
  }

 private:
  struct Slice {
    std::uint64_t to, source, length;
  };

  // Of slices, in ascending order, that lie `to` and `source` further behind.
  Status read_slices(const std::vector<Slice>& slices, std::uint64_t to, std::uint64_t source,
                     std::uint64_t offset, std::span<std::byte> out) const {
    auto slice = std::upper_bound(
        slices.begin(), slices.end(), offset,
        [&](std::uint64_t at, const Slice& s) { return at < to + s.to + s.length; });
    const std::uint64_t end = offset + out.size();
    for (; slice != slices.end() && to + slice->to < end; ++slice) {
      const std::uint64_t begin = to + slice->to;
      const std::uint64_t from = std::max(begin, offset);
      const std::uint64_t until = std::min(begin + slice->length, end);
      NMB_TRY(extent_->read_at(source + slice->source + (from - begin),
                               out.subspan(from - offset, until - from)));
    }
    return {};
  }

  std::shared_ptr<const ByteSource> extent_;
  std::vector<Slice> fixed_, record_;
  std::uint64_t size_, record_begin_, record_size_, source_record_size_;
};

}  // namespace nmb
