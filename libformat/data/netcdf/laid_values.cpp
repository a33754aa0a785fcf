// Arranges values in the layout of a classic file (see netcdf/laid_values.h).
#include "netcdf/laid_values.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "netcdf/shared_dimensions.h"

namespace nmb {

namespace {

// Number of bytes of a variable's records that are read at a time. The number is so small that the
// bytes stay in a core's cache.
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
  LaidSlice slice{metadata.begin(variable) - header_length_, length, 0, 0, {}};
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
    slice.to -= form_.record_begin;
    form_.in_record += length;
  }
  (is_record ? form_.record : form_.fixed).push_back(std::move(slice));
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

const LaidPart* LaidValues::whole_records(std::uint64_t record) const {
  if (form_.in_record != form_.record_size) return nullptr;
  if (form_.record.front().unit != 0) return nullptr;
  const LaidPart& first = form_.record.front().part_of(record);
  if (first.step != form_.record_size) return nullptr;
  for (const LaidSlice& slice : form_.record) {
    if (slice.unit != 0) return nullptr;
    const LaidPart& part = slice.part_of(record);
    if (part.source != first.source || part.step != form_.record_size ||
        part.first != first.first || part.offset - first.offset != slice.to)
      return nullptr;
  }
  return &first;
}

Status LaidValues::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const std::uint64_t end = offset + out.size();
  // If no variable has bytes in a record, the record size may be 0.
  std::uint64_t from = form_.record.empty() ? end : std::clamp(form_.record_begin, offset, end);
  NMB_TRY(read_slices(form_.fixed, 0, 0, offset, out.first(from - offset)));
  while (from < end) {
    const std::uint64_t record = (from - form_.record_begin) / form_.record_size;
    std::uint64_t until = form_.record_begin + (record + 1) * form_.record_size;
    if (const LaidPart* part = whole_records(record)) {
      until = std::min(end, form_.record_begin + (part->first + part->count) * form_.record_size);
      const std::uint64_t ahead = from - form_.record_begin - part->first * form_.record_size;
      NMB_TRY(
          part->source->read_at(part->offset + ahead, out.subspan(from - offset, until - from)));
    } else if (const std::uint64_t count = (end - from) / form_.record_size;
               count > 1 && (from - form_.record_begin) % form_.record_size == 0) {
      until = from + count * form_.record_size;
      NMB_TRY(read_records(record, count, out.subspan(from - offset, until - from)));
    } else {
      until = std::min(until, end);
      NMB_TRY(read_slices(form_.record, form_.record_begin + record * form_.record_size, record,
                          from, out.subspan(from - offset, until - from)));
    }
    from = until;
  }
  return {};
}

Status LaidValues::read_records(std::uint64_t record, std::uint64_t count,
                                std::span<std::byte> out) const {
  if (form_.in_record != form_.record_size) std::ranges::fill(out, std::byte{0});
  std::vector<std::byte> column;
  for (const LaidSlice& slice : form_.record) {
    for (std::uint64_t done = 0; done < count;) {
      std::byte* to = out.data() + done * form_.record_size + slice.to;
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
      spread(column.data(), slice.length, values, to, form_.record_size);
      done += values;
    }
  }
  return {};
}

Status LaidValues::read_slices(const std::vector<LaidSlice>& slices, std::uint64_t to,
                               std::uint64_t record, std::uint64_t offset,
                               std::span<std::byte> out) {
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

namespace {

// Removes all parts that contain no index of [first, end).
void keep_parts(std::uint64_t first, std::uint64_t end, std::vector<LaidPart>* parts) {
  std::erase_if(*parts, [&](const LaidPart& part) {
    return part.first >= end || part.first + part.count <= first;
  });
}

}  // namespace

LaidForm LaidValues::form_of(ByteRange wanted) const {
  LaidForm form{form_.size, form_.record_begin, form_.record_size, form_.in_record};
  for (const LaidSlice& slice : form_.fixed) {
    const std::uint64_t from = std::max(wanted.begin, slice.to);
    const std::uint64_t end = std::min(wanted.end, slice.to + slice.length);
    if (from >= end) continue;
    LaidSlice& kept = form.fixed.emplace_back(slice);
    const std::uint64_t row = slice.unit * slice.indexes;
    if ((from - slice.to) / row != (end - 1 - slice.to) / row) continue;
    keep_parts((from - slice.to) % row / slice.unit, (end - 1 - slice.to) % row / slice.unit + 1,
               &kept.parts);
  }
  if (form_.record.empty() || wanted.end <= form_.record_begin) return form;
  const std::uint64_t begin = std::max(wanted.begin, form_.record_begin) - form_.record_begin;
  const std::uint64_t last = (wanted.end - 1 - form_.record_begin) / form_.record_size;
  form.record = form_.record;
  for (LaidSlice& slice : form.record)
    if (slice.unit == 0) keep_parts(begin / form_.record_size, last + 1, &slice.parts);
  return form;
}

std::shared_ptr<const Dataset> laid_dataset(std::shared_ptr<const Dataset> of, Metadata metadata,
                                            ClassicLayout layout, std::uint64_t records,
                                            std::shared_ptr<const LaidValues> values) {
  Dataset dataset;
  dataset.name = of->name;
  dataset.metadata = std::move(metadata);
  dataset.layout = layout;
  dataset.layout.records = records;
  dataset.records = records;
  dataset.extent = std::move(values);
  return dataset_keeping(std::move(of), std::move(dataset));
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
