// Values as they lie in a classic file (see convert/laid_values.h).
#include "convert/laid_values.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace nmb {

namespace {

// Bytes of a variable's records that are read at a time: they stay in a core's cache.
constexpr std::uint64_t kMostColumn = 128 << 10;

// `count` values of `length` bytes, one after the other, to places `step` bytes apart.
void spread(const std::byte* from, std::size_t length, std::uint64_t count, std::byte* to,
            std::uint64_t step) {
  const auto each = [&](auto size) {
    for (std::uint64_t i = 0; i < count; ++i, from += size, to += step) std::memcpy(to, from, size);
  };
  if (length == 4)
    each(std::integral_constant<std::size_t, 4>());
  else if (length == 8)
    each(std::integral_constant<std::size_t, 8>());
  else
    each(length);
}

}  // namespace

void LaidValues::add(const Metadata& metadata, VarId variable,
                     std::shared_ptr<const ByteSource> source, std::uint64_t offset,
                     std::uint64_t step) {
  const std::uint64_t count = metadata.is_record_variable(variable) ? records_ : 1;
  std::vector<LaidPart> parts;
  parts.push_back({std::move(source), 0, count, offset, step});
  add(metadata, variable, std::move(parts));
}

void LaidValues::add(const Metadata& metadata, VarId variable, std::vector<LaidPart> parts,
                     std::size_t axis) {
  const std::uint64_t length = metadata.slice_bytes(variable).value_or(0);
  std::erase_if(parts, [](const LaidPart& part) { return part.count == 0; });
  if (length == 0 || parts.empty()) return;
  const bool is_record = metadata.is_record_variable(variable);
  Slice slice{metadata.begin(variable) - header_length_, length, 0, 0, {}};
  if (!is_record || axis > 0) {
    const Variable found = metadata.variable(variable);
    std::uint64_t rows = 1;
    for (std::size_t d = is_record ? 1 : 0; d < axis; ++d)
      rows *= metadata.dimension(found.dimensions[d]).length;
    slice.indexes = parts.back().first + parts.back().count;
    slice.unit = length / rows / slice.indexes;
  }
  slice.parts = std::move(parts);
  if (is_record) {
    slice.to -= record_begin_;
    in_record_ += length;
  }
  (is_record ? record_ : fixed_).push_back(std::move(slice));
}

const LaidPart& LaidValues::Slice::part_of(std::uint64_t index) const {
  return *std::prev(std::ranges::upper_bound(parts, index, {}, &LaidPart::first));
}

Status LaidValues::Slice::read(std::uint64_t record, std::uint64_t at,
                               std::span<std::byte> out) const {
  if (unit == 0) {
    const LaidPart& part = part_of(record);
    return part.source->read_at(part.offset + (record - part.first) * part.step + at, out);
  }
  const std::uint64_t row_bytes = unit * indexes;
  while (!out.empty()) {
    const std::uint64_t row = at / row_bytes, in_row = at % row_bytes, index = in_row / unit;
    const LaidPart& part = part_of(index);
    const std::uint64_t end = part.step == unit ? part.first + part.count : index + 1;
    const auto here = out.first(std::min<std::uint64_t>(out.size(), end * unit - in_row));
    const std::uint64_t from = part.offset + record * part.record_step + row * part.row_step +
                               (index - part.first) * part.step + in_row % unit;
    NMB_TRY(part.source->read_at(from, here));
    out = out.subspan(here.size());
    at += here.size();
  }
  return {};
}

const LaidPart* LaidValues::whole_records(std::uint64_t record) const {
  if (in_record_ != record_size_) return nullptr;
  if (record_.front().unit != 0) return nullptr;
  const LaidPart& first = record_.front().part_of(record);
  if (first.step != record_size_) return nullptr;
  for (const Slice& slice : record_) {
    if (slice.unit != 0) return nullptr;
    const LaidPart& part = slice.part_of(record);
    if (part.source != first.source || part.step != record_size_ || part.first != first.first ||
        part.offset - first.offset != slice.to)
      return nullptr;
  }
  return &first;
}

Status LaidValues::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const std::uint64_t end = offset + out.size();
  // Variables of no bytes have none of a record either.
  std::uint64_t from = record_.empty() ? end : std::clamp(record_begin_, offset, end);
  NMB_TRY(read_slices(fixed_, 0, 0, offset, out.first(from - offset)));
  while (from < end) {
    const std::uint64_t record = (from - record_begin_) / record_size_;
    std::uint64_t until = record_begin_ + (record + 1) * record_size_;
    if (const LaidPart* part = whole_records(record)) {
      until = std::min(end, record_begin_ + (part->first + part->count) * record_size_);
      const std::uint64_t ahead = from - record_begin_ - part->first * record_size_;
      NMB_TRY(
          part->source->read_at(part->offset + ahead, out.subspan(from - offset, until - from)));
    } else if (const std::uint64_t count = (end - from) / record_size_;
               count > 1 && (from - record_begin_) % record_size_ == 0) {
      until = from + count * record_size_;
      NMB_TRY(read_records(record, count, out.subspan(from - offset, until - from)));
    } else {
      until = std::min(until, end);
      NMB_TRY(read_slices(record_, record_begin_ + record * record_size_, record, from,
                          out.subspan(from - offset, until - from)));
    }
    from = until;
  }
  return {};
}

Status LaidValues::read_records(std::uint64_t record, std::uint64_t count,
                                std::span<std::byte> out) const {
  if (in_record_ != record_size_) std::ranges::fill(out, std::byte{0});
  std::vector<std::byte> column;
  for (const Slice& slice : record_) {
    for (std::uint64_t done = 0; done < count;) {
      std::byte* to = out.data() + done * record_size_ + slice.to;
      const LaidPart& part = slice.part_of(slice.unit == 0 ? record + done : 0);
      if (slice.unit != 0 || part.step != slice.length) {
        NMB_TRY(slice.read(record + done++, 0, {to, slice.length}));
        continue;
      }
      const std::uint64_t ahead = record + done - part.first;
      const std::uint64_t most = std::max<std::uint64_t>(1, kMostColumn / slice.length);
      const std::uint64_t values = std::min({count - done, part.count - ahead, most});
      column.resize(std::max<std::size_t>(column.size(), values * slice.length));
      NMB_TRY(part.source->read_at(part.offset + ahead * part.step,
                                   std::span(column).first(values * slice.length)));
      spread(column.data(), slice.length, values, to, record_size_);
      done += values;
    }
  }
  return {};
}

Status LaidValues::read_slices(const std::vector<Slice>& slices, std::uint64_t to,
                               std::uint64_t record, std::uint64_t offset,
                               std::span<std::byte> out) {
  auto slice =
      std::upper_bound(slices.begin(), slices.end(), offset,
                       [&](std::uint64_t at, const Slice& s) { return at < to + s.to + s.length; });
  const std::uint64_t end = offset + out.size();
  for (; slice != slices.end() && to + slice->to < end; ++slice) {
    const std::uint64_t begin = to + slice->to;
    const std::uint64_t from = std::max(begin, offset);
    const std::uint64_t until = std::min(begin + slice->length, end);
    // What no slice has is padding.
    std::ranges::fill(out.first(from - offset), std::byte{0});
    out = out.subspan(from - offset);
    NMB_TRY(slice->read(record, from - begin, out.first(until - from)));
    out = out.subspan(until - from);
    offset = until;
  }
  std::ranges::fill(out, std::byte{0});
  return {};
}

std::shared_ptr<const LaidValues> relaid_values(const Dataset& dataset, const Metadata& metadata,
                                                const ClassicLayout& layout) {
  auto values = std::make_shared<LaidValues>(layout, dataset.records, dataset.extent->name());
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    values->add(metadata, v, dataset.extent,
                dataset.metadata.begin(v) - dataset.layout.header_length,
                dataset.layout.record_size);
  return values;
}

}  // namespace nmb
