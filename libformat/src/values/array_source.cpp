// Sources of arrays (see values/array_source.h).
#include "values/array_source.h"

#include <algorithm>
#include <memory>

#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kBuffer = 1 << 20;

// The common base of all array sources: each takes its bytes from another source.
class ArraySource : public ByteSource {
 public:
  ArraySource(Source source, std::uint64_t size) : source_(std::move(source)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return source_->name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      return Status(Code::kDamaged, "a read goes beyond the end of a variable's values");
    while (!out.empty()) {
      NMB_ASSIGN(const std::size_t part, read_some(offset, out));
      offset += part;
      out = out.subspan(part);
    }
    return {};
  }

 protected:
  // Fills one or more bytes at the beginning of `out`, and returns their number.
  virtual Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const = 0;
  const ByteSource& source() const { return *source_; }

 private:
  const Source source_;
  const std::uint64_t size_;
};

class RecordArray final : public ArraySource {
 public:
  RecordArray(Source extent, const VariableShape& shape, std::uint64_t slice)
      : ArraySource(std::move(extent), shape.lengths.front() * slice),
        begin_(shape.begin),
        record_size_(shape.record_size),
        slice_(slice) {}

 private:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t within = offset % slice_;
    const auto part = std::min<std::uint64_t>(out.size(), slice_ - within);
    NMB_TRY(source().read_at(begin_ + offset / slice_ * record_size_ + within, out.first(part)));
    return part;
  }
  const std::uint64_t begin_, record_size_, slice_;
};

class ConvertedArray final : public ArraySource {
 public:
  ConvertedArray(Source source, ValueConversion conversion)
      : ArraySource(source, source->size() / conversion.from_bytes * conversion.to_bytes),
        conversion_(std::move(conversion)) {}

 private:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t to_bytes = conversion_.to_bytes;
    const std::uint64_t first = offset / to_bytes, within = offset % to_bytes;
    const std::uint64_t count = (within + out.size() + to_bytes - 1) / to_bytes;
    const bool is_whole = within == 0 && out.size() % to_bytes == 0;
    const std::uint64_t most =
        is_whole && conversion_.in_place ? count : kBuffer / conversion_.from_bytes;
    const std::uint64_t length = std::clamp<std::uint64_t>(most, 1, count) * to_bytes;
    if (is_whole) {
      NMB_TRY(read_whole(first, out.first(length)));
      return length;
    }
    const auto values = std::make_unique_for_overwrite<std::byte[]>(length);
    NMB_TRY(read_whole(first, {values.get(), length}));
    const std::size_t part = std::min<std::size_t>(out.size(), length - within);
    std::copy_n(values.get() + within, part, out.begin());
    return part;
  }
  // Reads whole values, beginning with value number `first`.
  Status read_whole(std::uint64_t first, std::span<std::byte> out) const {
    const std::uint64_t at = first * conversion_.from_bytes;
    if (conversion_.in_place) {
      NMB_TRY(source().read_at(at, out));
      conversion_.convert(out, out);
      return {};
    }
    const std::size_t length = out.size() / conversion_.to_bytes * conversion_.from_bytes;
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(length);
    const std::span<std::byte> from(buffer.get(), length);
    NMB_TRY(source().read_at(at, from));
    conversion_.convert(from, out);
    return {};
  }
  const ValueConversion conversion_;
};

std::uint64_t bytes_of(std::span<const std::uint64_t> lengths, std::uint64_t element) {
  for (const std::uint64_t n : lengths) element *= n;
  return element;
}

// An array with additional elements. A row consists of the last dimension whose lengths differ and
// of all dimensions after it.
class PaddedArray final : public ArraySource {
 public:
  PaddedArray(Source source, const std::vector<std::uint64_t>& from,
              const std::vector<std::uint64_t>& to, std::vector<std::byte> fill)
      : ArraySource(std::move(source), bytes_of(to, fill.size())),
        fill_(std::move(fill)),
        from_(from),
        to_(to) {
    while (from_.size() > 1 && from_.back() == to_.back()) {
      inner_ *= from_.back();
      from_.pop_back();
      to_.pop_back();
    }
    inner_ *= fill_.size();
    from_row_ = from_.back() * inner_;
    to_row_ = to_.back() * inner_;
    from_.pop_back();
    to_.pop_back();
  }

 private:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t within = offset % to_row_;
    std::uint64_t row = offset / to_row_, from_row = 0, rows = 1;
    bool is_there = true;
    for (std::size_t i = to_.size(); i-- > 0; row /= to_[i]) {
      is_there = is_there && row % to_[i] < from_[i];
      from_row += row % to_[i] * rows;
      rows *= from_[i];
    }
    const bool is_stored = is_there && within < from_row_;
    const std::uint64_t left = (is_stored ? from_row_ : to_row_) - within;
    const auto part = std::min<std::uint64_t>(out.size(), left);
    if (is_stored)
      NMB_TRY(source().read_at(from_row * from_row_ + within, out.first(part)));
    else
      for (std::size_t i = 0; i < part; ++i) out[i] = fill_[(offset + i) % fill_.size()];
    return part;
  }
  const std::vector<std::byte> fill_;
  std::vector<std::uint64_t> from_, to_;  // lengths of the dimensions before a row
  std::uint64_t inner_ = 1, from_row_ = 0, to_row_ = 0;
};

class NamedArray final : public ByteSourceLayer {
 public:
  NamedArray(Source source, std::string object)
      : ByteSourceLayer(std::move(source)), object_(std::move(object)) {}
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return base()->read_at(offset, out).of_object(object_);
  }

 private:
  const std::string object_;
};

}  // namespace

Result<Source> range_of(Source extent, std::uint64_t begin, std::uint64_t length,
                        std::string_view object) {
  const std::uint64_t size = extent->size();
  if (begin > size || length > size - begin)
    return failure(Code::kDamaged, object, ": found ", size, " bytes of values, expected ", length,
                   " from ", begin, " on");
  return Source(std::make_shared<RangeSource>(std::move(extent), begin, length));
}

Source record_array(Source extent, const VariableShape& shape, std::uint64_t slice) {
  return std::make_shared<RecordArray>(std::move(extent), shape, slice);
}

Source converted_array(Source source, ValueConversion conversion) {
  return std::make_shared<ConvertedArray>(std::move(source), std::move(conversion));
}

Source padded_array(Source source, const std::vector<std::uint64_t>& from,
                    const std::vector<std::uint64_t>& to, std::vector<std::byte> fill) {
  return std::make_shared<PaddedArray>(std::move(source), from, to, std::move(fill));
}

Source named_array(Source source, std::string object) {
  return std::make_shared<NamedArray>(std::move(source), std::move(object));
}

}  // namespace nmb
