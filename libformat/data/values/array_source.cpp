// Implements the array sources (see values/array_source.h).
#include "values/array_source.h"

#include <algorithm>
#include <memory>

#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kBuffer = 1 << 20;

// Base class of all array sources. An array source takes its bytes from another source.
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
                   " from offset ", begin, " on");
  return Source(std::make_shared<RangeSource>(std::move(extent), begin, length));
}

Source record_array(Source extent, const VariableShape& shape, std::uint64_t slice) {
  return std::make_shared<RecordArray>(std::move(extent), shape, slice);
}

Source converted_array(Source source, ValueConversion conversion) {
  return std::make_shared<ConvertedArray>(std::move(source), std::move(conversion));
}

Source named_array(Source source, std::string object) {
  return std::make_shared<NamedArray>(std::move(source), std::move(object));
}

}  // namespace nmb
