#include "compare/content_values.h"

#include <algorithm>
#include <utility>

#include "sources/tiled_values.h"
#include "sources/value_source.h"
#include "values/gather.h"
#include "values/open_array.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// A window has about this many canonical bytes.
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 20;
// Number of bytes that are read together.
constexpr std::uint64_t kBytesAtOnce = 128 << 10;
// Number of elements of variable length in a window.
constexpr std::uint64_t kWindowValues = 65536;
// Records with fewer bytes are gathered: one read gets many records, with the values of other
// variables between them.
constexpr std::uint64_t kShortRecord = 8 << 10;

const Storage* storage_of(const DatasetContent& block, std::size_t number) {
  const auto& extension = block.dataset().metadata.extension();
  return extension ? extension->storage_of(block.id(number)) : nullptr;
}

// Returns the number of bytes in a row of chunks; 0 if the values are not stored in chunks. The
// product of the lengths must have been checked.
std::uint64_t row_of_chunks(const DatasetContent& block, std::size_t number,
                            const std::vector<AxisContent>& axes) {
  const Storage* const storage = storage_of(block, number);
  if (!storage || storage->kind != StorageKind::kChunked || axes.empty()) return 0;
  std::uint64_t bytes =
      block.types().stored_bytes(block.type(number)) * std::min(storage->chunk[0], axes[0].length);
  for (std::size_t i = 1; i < axes.size(); ++i) bytes *= axes[i].length;
  return bytes;
}

}  // namespace

Status ContentValues::of_variable(const Status& status) const {
  return block_.of_variable(status, number_);
}

Result<ContentValues::Extent> ContentValues::extent_of(const DatasetContent& block,
                                                       std::size_t number, ReadBudget budget) {
  const Type type = block.type(number);
  Extent extent{1, kWindowValues, 0, kWindowValues};
  const Status status = [&]() -> Status {
    NMB_TRY(block.types().check(type));
    if (!block.types().has_heap(type)) {
      const std::uint64_t bytes = block.types().canonical_bytes(type);
      extent.window = std::max<std::uint64_t>(1, kWindowBytes / bytes);
      extent.at_once = std::max<std::uint64_t>(1, kBytesAtOnce / bytes);
    }
    NMB_ASSIGN(const std::vector<AxisContent> axes, block.axes(number));
    // Checks the product of all lengths that are not 0, so that positions fit into 64 bits.
    std::uint64_t bytes = block.types().stored_bytes(type);
    bool is_empty = block.is_null(number);
    for (const AxisContent& axis : axes) {
      is_empty |= axis.length == 0;
      if (!checked_mul(bytes, std::max<std::uint64_t>(axis.length, 1), &bytes) || bytes >> 62 != 0)
        return Status(Code::kLimit, "found more than 2^62 bytes of values");
      extent.elements *= axis.length;
    }
    if (is_empty) extent.elements = 0;
    extent.bytes = is_empty ? 0 : bytes;
    if (row_of_chunks(block, number, axes) > budget.chunks && !block.types().has_heap(type))
      extent.at_once = std::max(extent.window, budget.values / block.types().stored_bytes(type) /
                                                   extent.window * extent.window);
    if (!storage_of(block, number)) {
      NMB_ASSIGN(const VariableShape shape, block.dataset().shape(block.id(number)));
      extent.record_bytes = shape.record_size;
    }
    return {};
  }();
  if (!status.ok()) return block.of_variable(status, number);
  return extent;
}

Result<std::shared_ptr<const ContentValues>> ContentValues::open(
    const DatasetContent& block, std::size_t number, const std::shared_ptr<ChunkCache>& cache) {
  const std::shared_ptr<ContentValues> values(new ContentValues(block, number));
  const Status status = [&]() -> Status {
    const Dataset& dataset = block.dataset();
    NMB_ASSIGN(const std::vector<AxisContent> axes, block.axes(number));
    NMB_ASSIGN(values->array_,
               open_array(dataset.metadata, dataset.layout, dataset.records, block.id(number),
                          dataset.extent, block.properties(number), cache));
    values->stored_bytes_ = values->array_.shape.element_size;
    if (!block.types().has_heap(block.type(number)))
      values->element_bytes_ = block.types().canonical_bytes(block.type(number));
    return values->find_source(axes);
  }();
  if (!status.ok()) return values->of_variable(status);
  return std::shared_ptr<const ContentValues>(values);
}

Status ContentValues::find_source(const std::vector<AxisContent>& axes) {
  const VariableShape& shape = array_.shape;
  std::vector<std::uint64_t> lengths;
  for (const AxisContent& axis : axes) lengths.push_back(axis.length);
  const bool is_padded = lengths != shape.lengths;
  source_ = array_.source;
  if (shape.record_size > 0) {
    std::uint64_t slice = shape.element_size;
    for (std::size_t i = 1; i < shape.lengths.size(); ++i) slice *= shape.lengths[i];
    gathers_ = slice < kShortRecord && slice < shape.record_size && !is_padded;
  }
  if (!gathers_ && (shape.record_size > 0 || source_ == block_.dataset().extent)) {
    NMB_ASSIGN(source_, variable_array(source_, shape, "the variable"));
  }
  if (!is_padded) return {};
  // netCDF shows fill values behind the last stored values.
  std::vector<std::byte> value = TypeTable::is_extended(array_.type)
                                     ? std::vector<std::byte>()
                                     : default_fill_value(array_.type);
  value.resize(stored_bytes_);
  for (const hdf5::Property& p : block_.properties(number_)) {
    if (p.attribute != hdf5::kNoAttribute || p.number != hdf5::Property::Number::kCreation ||
        p.creation.fill_state != hdf5::FillState::kUser ||
        p.creation.fill_value.size() < stored_bytes_)
      continue;
    if (element_bytes_ == 0)
      return Status(Code::kUnsupported,
                    "the variable is shorter than its unlimited dimension, and its fill value has "
                    "variable length; such values cannot be compared");
    value = fill(p.creation.fill_value);
  }
  source_ = padded_array(std::move(source_), shape.lengths, lengths, std::move(value));
  return {};
}

// Returns the fill value in the form of the elements of `source_`.
std::vector<std::byte> ContentValues::fill(const std::vector<std::byte>& stored) const {
  std::vector<std::byte> value(stored.begin(),
                               stored.begin() + static_cast<std::ptrdiff_t>(stored_bytes_));
  const Type type = block_.type(number_);
  if (!TypeTable::is_extended(array_.type) && TypeTable::is_extended(type) &&
      block_.types().table()->is_swapped(type))
    std::ranges::reverse(value);
  return value;
}

Status ContentValues::read_stored(std::uint64_t first, std::uint64_t count,
                                  std::span<std::byte> out) const {
  if (!gathers_) return source_->read_at(first * stored_bytes_, out);
  const VariableShape& shape = array_.shape;
  std::uint64_t in_record = 1;
  for (std::size_t i = 1; i < shape.lengths.size(); ++i) in_record *= shape.lengths[i];
  Hyperslab slab;
  slab.start.assign(shape.lengths.size(), 0);
  slab.count = shape.lengths;
  slab.start[0] = first / in_record;
  slab.count[0] = (first + count - 1) / in_record + 1 - slab.start[0];
  // Elements of the first record that come before `first` are read too, and dropped.
  std::uint64_t dropped = first % in_record * stored_bytes_;
  return gather(shape, slab, *source_, [&](std::span<const std::byte> values) -> Status {
    const std::uint64_t skip = std::min<std::uint64_t>(dropped, values.size());
    dropped -= skip;
    values = values.subspan(skip);
    values = values.first(std::min(values.size(), out.size()));
    std::ranges::copy(values, out.begin());
    out = out.subspan(values.size());
    return {};
  });
}

Status ContentValues::read(std::uint64_t first, std::uint64_t count,
                           std::vector<std::byte>* out) const {
  NMB_TRY(read_bits(first, count, out));
  make_canonical(*out);
  return {};
}

Status ContentValues::read_bits(std::uint64_t first, std::uint64_t count,
                                std::vector<std::byte>* out) const {
  if (TypeTable::is_extended(array_.type)) {
    out->clear();
    out->reserve(count * element_bytes_);
    return each(first, count, [out](std::span<const std::byte> element) {
      out->insert(out->end(), element.begin(), element.end());
      return Status();
    });
  }
  out->resize(count * stored_bytes_);
  return of_variable(read_stored(first, count, *out));
}

Status ContentValues::parts(std::uint64_t element,
                            const std::function<void(std::span<const std::byte>)>& take) const {
  const CanonicalTypes& types = block_.types();
  // An element that is an array is read and converted in units, which are the values of the array.
  Type unit = array_.type;
  while (TypeTable::is_extended(unit) && types.table()->at(unit).type_class == TypeClass::kArray)
    unit = types.table()->at(unit).base;
  const std::uint64_t size = types.stored_bytes(unit);
  const std::uint64_t most = std::max<std::uint64_t>(1, kWindowBytes / size) * size;
  std::vector<std::byte> stored, canonical;
  std::uint64_t budget = 0;  // a unit has no parts of variable length
  for (std::uint64_t from = 0; from < stored_bytes_; from += stored.size()) {
    stored.resize(std::min(most, stored_bytes_ - from));
    NMB_TRY(of_variable(read_part(element, from, stored)));
    canonical.clear();
    for (std::uint64_t at = 0; at < stored.size(); at += size)
      NMB_TRY(of_variable(types.append(unit, stored.data() + at, *source_, &budget, &canonical)));
    take(canonical);
  }
  return {};
}

Status ContentValues::read_part(std::uint64_t element, std::uint64_t from,
                                std::span<std::byte> out) const {
  if (!gathers_) return source_->read_at(element * stored_bytes_ + from, out);
  std::vector<std::byte> whole(stored_bytes_);  // a short record
  NMB_TRY(read_stored(element, 1, whole));
  std::ranges::copy(std::span(whole).subspan(from, out.size()), out.begin());
  return {};
}

Status ContentValues::each(std::uint64_t first, std::uint64_t count,
                           const std::function<Status(std::span<const std::byte>)>& take) const {
  const ByteSource& region = array_.region ? *array_.region : *source_;
  std::uint64_t left = region.size();
  const std::uint64_t most = std::max<std::uint64_t>(1, kWindowBytes / stored_bytes_);
  std::vector<std::byte> stored, canonical;
  const Status status = [&]() -> Status {
    for (const std::uint64_t end = first + count; first < end;) {
      const std::uint64_t here = std::min(most, end - first);
      stored.resize(here * stored_bytes_);
      NMB_TRY(read_stored(first, here, stored));
      for (std::uint64_t i = 0; i < here; ++i) {
        canonical.clear();
        NMB_TRY(block_.types().append(array_.type, stored.data() + i * stored_bytes_, region, &left,
                                      &canonical));
        NMB_TRY(take(canonical));
      }
      first += here;
    }
    return {};
  }();
  return of_variable(status);
}

}  // namespace nmb
