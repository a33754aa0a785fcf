// LaidValues: values of variables, wherever they are, as they lie in a classic file.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "nmb/dataset.h"

namespace nmb {

// Bytes between variables are zero. Reads one variable's part, or a record's, at a time.
// Thread-safe once all variables are added.
class LaidValues final : public ByteSource {
 public:
  LaidValues(const ClassicLayout& layout, std::uint64_t records, std::string name)
      : name_(std::move(name)),
        header_length_(layout.header_length),
        size_((records > 0 ? layout.end(records) : layout.fixed_end) - layout.header_length),
        record_begin_(layout.record_begin - layout.header_length),
        record_size_(layout.record_size) {}

  // The values of a variable, which begin at `offset` of `source`; those of a record lie `step`
  // behind those of the one before. metadata: of the layout; variables come in ascending order of
  // their places.
  void add(const Metadata& metadata, VarId variable, std::shared_ptr<const ByteSource> source,
           std::uint64_t offset, std::uint64_t step) {
    const std::uint64_t length = metadata.slice_bytes(variable).value_or(0);
    if (length == 0) return;
    const std::uint64_t to = metadata.begin(variable) - header_length_;
    if (metadata.is_record_variable(variable))
      record_.push_back({to - record_begin_, length, offset, step, std::move(source)});
    else
      fixed_.push_back({to, length, offset, 0, std::move(source)});
  }

  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{0});
    NMB_TRY(read_slices(fixed_, 0, 0, offset, out));
    const std::uint64_t end = offset + out.size();
    // Variables of no bytes have none of a record either.
    if (record_.empty() || end <= record_begin_) return {};
    if (is_one_run()) {
      const std::uint64_t from = std::max(offset, record_begin_);
      return record_.front().source->read_at(record_.front().offset + (from - record_begin_),
                                             out.subspan(from - offset));
    }
    const std::uint64_t first = (std::max(offset, record_begin_) - record_begin_) / record_size_;
    for (std::uint64_t r = first; record_begin_ + r * record_size_ < end; ++r)
      NMB_TRY(read_slices(record_, record_begin_ + r * record_size_, r, offset, out));
    return {};
  }

 private:
  struct Slice {
    std::uint64_t to, length;
    std::uint64_t offset, step;  // in the source
    std::shared_ptr<const ByteSource> source;
  };

  // Records of one variable lie as they do in its source.
  bool is_one_run() const {
    return record_.size() == 1 && record_.front().length == record_size_ &&
           record_.front().step == record_size_;
  }

  // Of slices, in ascending order, that lie `to` further behind; of a record.
  static Status read_slices(const std::vector<Slice>& slices, std::uint64_t to,
                            std::uint64_t record, std::uint64_t offset, std::span<std::byte> out) {
    auto slice = std::upper_bound(
        slices.begin(), slices.end(), offset,
        [&](std::uint64_t at, const Slice& s) { return at < to + s.to + s.length; });
    const std::uint64_t end = offset + out.size();
    for (; slice != slices.end() && to + slice->to < end; ++slice) {
      const std::uint64_t begin = to + slice->to;
      const std::uint64_t from = std::max(begin, offset);
      const std::uint64_t until = std::min(begin + slice->length, end);
      NMB_TRY(slice->source->read_at(slice->offset + record * slice->step + (from - begin),
                                     out.subspan(from - offset, until - from)));
    }
    return {};
  }

  const std::string name_;
  const std::uint64_t header_length_, size_, record_begin_, record_size_;
  std::vector<Slice> fixed_, record_;
};

// The values of a classic dataset in another layout of its definitions, which `metadata` has. Keeps
// the dataset's extent, not the dataset.
inline std::shared_ptr<const LaidValues> relaid_values(const Dataset& dataset,
                                                       const Metadata& metadata,
                                                       const ClassicLayout& layout) {
  auto values = std::make_shared<LaidValues>(layout, dataset.records, dataset.extent->name());
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    values->add(metadata, v, dataset.extent,
                dataset.metadata.begin(v) - dataset.layout.header_length,
                dataset.layout.record_size);
  return values;
}

}  // namespace nmb
