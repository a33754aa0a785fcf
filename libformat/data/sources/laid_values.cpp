#include "sources/laid_values.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace nmb {

namespace {

// Number of bytes of a variable's records that are read at a time; few enough to stay in a core's
// cache.
constexpr std::uint64_t kMostColumn = 128 << 10;

// Copies `count` adjacent values of `length` bytes to places `step` bytes apart.
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

LaidValues laid_values(const ClassicLayout& layout, std::uint64_t records, std::string name) {
  const std::uint64_t end = records > 0 ? layout.end(records) : layout.fixed_end;
  LaidValues values{std::move(name), end - layout.header_length,
                    layout.record_begin - layout.header_length, layout.record_size};
  values.header_length = layout.header_length;
  values.records = records;
  return values;
}

void LaidValues::add(const Metadata& metadata, VarId variable, Source source, std::uint64_t offset,
                     std::uint64_t step) {
  const std::uint64_t count = metadata.is_record_variable(variable) ? records : 1;
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
  LaidSlice slice{metadata.begin(variable) - header_length, length, 0, 0, {}};
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
    slice.to -= record_begin;
    in_record += length;
  }
  (is_record ? record : fixed).push_back(std::move(slice));
}

const LaidPart& LaidSlice::part_of(std::uint64_t index) const {
  return *std::prev(std::ranges::upper_bound(parts, index, {}, &LaidPart::first));
}

Status LaidSlice::read(std::uint64_t record, std::uint64_t at, std::span<std::byte> out) const {
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

const LaidPart* LaidValues::whole_records(std::uint64_t number) const {
  if (in_record != record_size || record.front().unit != 0) return nullptr;
  const LaidPart& first = record.front().part_of(number);
  for (const LaidSlice& slice : record) {
    if (slice.unit != 0) return nullptr;
    const LaidPart& part = slice.part_of(number);
    if (part.source != first.source || part.step != record_size || part.first != first.first ||
        part.offset - first.offset != slice.to)
      return nullptr;
  }
  return &first;
}

namespace {

// Reads bytes from slices that are in ascending order. to: added to the offset of each slice.
// record: number of the record; 0 for slices without records.
Status read_slices(const std::vector<LaidSlice>& slices, std::uint64_t to, std::uint64_t record,
                   std::uint64_t offset, std::span<std::byte> out) {
  auto slice = std::upper_bound(
      slices.begin(), slices.end(), offset,
      [&](std::uint64_t at, const LaidSlice& s) { return at < to + s.to + s.length; });
  const std::uint64_t end = offset + out.size();
  for (; slice != slices.end() && to + slice->to < end; ++slice) {
    const std::uint64_t begin = to + slice->to;
    const std::uint64_t from = std::max(begin, offset);
    const std::uint64_t until = std::min(begin + slice->length, end);
    // Bytes between slices are padding.
    std::ranges::fill(out.first(from - offset), std::byte{0});
    out = out.subspan(from - offset);
    NMB_TRY(slice->read(record, from - begin, out.first(until - from)));
    out = out.subspan(until - from);
    offset = until;
  }
  std::ranges::fill(out, std::byte{0});
  return {};
}

}  // namespace

Status LaidValues::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const std::uint64_t end = offset + out.size();
  // The record size may be 0 if no variable has bytes in a record.
  std::uint64_t from = record.empty() ? end : std::clamp(record_begin, offset, end);
  NMB_TRY(read_slices(fixed, 0, 0, offset, out.first(from - offset)));
  while (from < end) {
    const std::uint64_t number = (from - record_begin) / record_size;
    std::uint64_t until = record_begin + (number + 1) * record_size;
    if (const LaidPart* part = whole_records(number)) {
      until = std::min(end, record_begin + (part->first + part->count) * record_size);
      const std::uint64_t ahead = from - record_begin - part->first * record_size;
      NMB_TRY(
          part->source->read_at(part->offset + ahead, out.subspan(from - offset, until - from)));
    } else if (const std::uint64_t count = (end - from) / record_size;
               count > 1 && (from - record_begin) % record_size == 0) {
      until = from + count * record_size;
      NMB_TRY(read_records(number, count, out.subspan(from - offset, until - from)));
    } else {
      until = std::min(until, end);
      NMB_TRY(read_slices(record, record_begin + number * record_size, number, from,
                          out.subspan(from - offset, until - from)));
    }
    from = until;
  }
  return {};
}

Status LaidValues::read_records(std::uint64_t first, std::uint64_t count,
                                std::span<std::byte> out) const {
  if (in_record != record_size) std::ranges::fill(out, std::byte{0});
  std::vector<std::byte> column;
  for (const LaidSlice& slice : record) {
    for (std::uint64_t done = 0; done < count;) {
      std::byte* to = out.data() + done * record_size + slice.to;
      const LaidPart& part = slice.part_of(slice.unit == 0 ? first + done : 0);
      if (slice.unit != 0 || part.step != slice.length) {
        NMB_TRY(slice.read(first + done++, 0, {to, slice.length}));
        continue;
      }
      const std::uint64_t ahead = first + done - part.first;
      const std::uint64_t most = std::max<std::uint64_t>(1, kMostColumn / slice.length);
      const std::uint64_t values = std::min({count - done, part.count - ahead, most});
      column.resize(std::max<std::size_t>(column.size(), values * slice.length));
      NMB_TRY(part.source->read_at(part.offset + ahead * part.step,
                                   std::span(column).first(values * slice.length)));
      spread(column.data(), slice.length, values, to, record_size);
      done += values;
    }
  }
  return {};
}

namespace {

// Removes the parts that contain no index of [first, end).
void keep_parts(std::uint64_t first, std::uint64_t end, std::vector<LaidPart>* parts) {
  std::erase_if(*parts, [&](const LaidPart& part) {
    return part.first >= end || part.first + part.count <= first;
  });
}

// Returns a range of the part's source that contains all bytes of the part in `wanted`.
ByteRange wanted_of_fixed(const LaidSlice& slice, const LaidPart& part, ByteRange wanted) {
  // Unless the variable is joined, its values are contiguous.
  if (part.count > 1 || slice.unit != slice.length) return {0, part.source->size()};
  const std::uint64_t from = std::max(wanted.begin, slice.to) - slice.to;
  const std::uint64_t end = std::min(wanted.end, slice.to + slice.length) - slice.to;
  return {part.offset + from, part.offset + end};
}

ByteRange wanted_of_records(const LaidValues& all, const LaidSlice& slice, const LaidPart& part,
                            ByteRange wanted) {
  if (slice.unit != 0) return {0, part.source->size()};
  const std::uint64_t begin = std::max(wanted.begin, all.record_begin) - all.record_begin;
  const std::uint64_t end = wanted.end - all.record_begin;
  const std::uint64_t first = std::max(part.first, begin / all.record_size);
  const std::uint64_t last = std::min(part.first + part.count, (end - 1) / all.record_size + 1);
  return {part.offset + (first - part.first) * part.step,
          part.offset + (last - 1 - part.first) * part.step + slice.length};
}

}  // namespace

Result<LaidValues> LaidValues::shortened(ByteRange wanted, const Shorter& shorter) const {
  LaidValues less{text, bytes, record_begin, record_size, in_record};
  for (const LaidSlice& slice : fixed) {
    const std::uint64_t from = std::max(wanted.begin, slice.to);
    const std::uint64_t end = std::min(wanted.end, slice.to + slice.length);
    if (from >= end) continue;
    LaidSlice& kept = less.fixed.emplace_back(slice);
    const std::uint64_t row = slice.unit * slice.indexes;
    if ((from - slice.to) / row != (end - 1 - slice.to) / row) continue;
    keep_parts((from - slice.to) % row / slice.unit, (end - 1 - slice.to) % row / slice.unit + 1,
               &kept.parts);
  }
  for (LaidSlice& slice : less.fixed)
    for (LaidPart& part : slice.parts) {
      NMB_ASSIGN(part.source, shorter(part.source, wanted_of_fixed(slice, part, wanted)));
    }
  if (record.empty() || wanted.end <= record_begin) return less;
  const std::uint64_t begin = std::max(wanted.begin, record_begin) - record_begin;
  const std::uint64_t last = (wanted.end - 1 - record_begin) / record_size;
  less.record = record;
  for (LaidSlice& slice : less.record)
    if (slice.unit == 0) keep_parts(begin / record_size, last + 1, &slice.parts);
  for (LaidSlice& slice : less.record)
    for (LaidPart& part : slice.parts) {
      NMB_ASSIGN(part.source, shorter(part.source, wanted_of_records(*this, slice, part, wanted)));
    }
  return less;
}

}  // namespace nmb
