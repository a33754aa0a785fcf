// Divides arrays into chunks (see values/rechunked_array.h).
#include "values/rechunked_array.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "values/array_source.h"
#include "values/chunk_cache.h"
#include "values/chunk_filters.h"
#include "values/open_array.h"
#include "wire/checked.h"
#include "wire/swap_values.h"

namespace nmb {

namespace {

// Calls visit(at) for each index of a box, in row-major order. `count` has no length of 0.
template <class Visit>
Status for_each_index(std::span<const std::uint64_t> count, const Visit& visit) {
  std::vector<std::uint64_t> at(count.size(), 0);
  for (;;) {
    NMB_TRY(visit(std::as_const(at)));
    std::size_t i = count.size();
    while (i > 0 && ++at[i - 1] == count[i - 1]) at[--i] = 0;
    if (i == 0) return {};
  }
}

// Returns the position of an index in an array.
std::uint64_t position(std::span<const std::uint64_t> lengths,
                       std::span<const std::uint64_t> index) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) out = out * lengths[i] + index[i];
  return out;
}

}  // namespace

Result<RechunkedArray> RechunkedArray::open(const Dataset& dataset, VarId variable,
                                            std::span<const hdf5::Property> properties,
                                            std::vector<std::uint64_t> chunk,
                                            std::uint64_t cache_bytes) {
  const Extension* const extension = dataset.metadata.extension().get();
  const Storage* const storage = extension ? extension->storage_of(variable) : nullptr;
  RechunkedArray out;
  NMB_ASSIGN(const VariableShape shape,
             find_shape(dataset.metadata, dataset.layout, variable, dataset.records));
  out.lengths_ = shape.lengths;
  out.chunk_ = std::move(chunk);
  out.fill_ = extension ? unstored_value(properties, variable, shape.element_size)
                        : fill_value(dataset.metadata, variable);
  out.is_hole_ = storage && storage->kind == StorageKind::kNone;
  out.chunk_bytes_ = shape.element_size;
  bool is_shared = false;
  for (std::size_t i = 0; i < out.chunk_.size(); ++i) {
    if (!checked_mul(out.chunk_bytes_, out.chunk_[i], &out.chunk_bytes_) ||
        !checked_mul(out.chunks_, chunks_along(out.lengths_[i], out.chunk_[i]), &out.chunks_))
      return Status(Code::kLimit, "found chunks of more bytes than 64 bits count");
    is_shared =
        is_shared || (storage && storage->kind == StorageKind::kChunked &&
                      out.chunk_[i] < out.lengths_[i] && out.chunk_[i] % storage->chunk[i] != 0);
  }
  if (out.chunks_ == 0 || out.is_hole_) return out;
  if (storage && storage->kind == StorageKind::kChunked && !is_shared) {
    NMB_TRY(check_filters(storage->filters));
    const std::uint64_t begin = dataset.metadata.begin(variable), length = storage->region_length;
    if (begin > dataset.extent->size() || length > dataset.extent->size() - begin)
      return Status(Code::kDamaged, "found chunks behind the end of the values");
    out.table_.emplace(std::make_shared<RangeSource>(dataset.extent, begin, length), *storage,
                       shape.element_size);
    out.stored_chunk_ = storage->chunk;
    return out;
  }
  NMB_ASSIGN(const ValueArray array,
             stored_array(dataset.metadata, dataset.layout, dataset.records, variable,
                          dataset.extent, properties, std::make_shared<ChunkCache>(cache_bytes)));
  if (array.shape.record_size) {
    Source records =
        record_array(array.source, array.shape, dataset.metadata.array_bytes(variable).value_or(0));
    const std::uint64_t size = records->size();
    out.array_.emplace(std::move(records), 0, size);
  } else {
    out.array_.emplace(array.source, array.shape.begin, array.source->size() - array.shape.begin);
  }
  return out;
}

std::vector<std::uint64_t> RechunkedArray::start(std::uint64_t number) const {
  std::vector<std::uint64_t> first(lengths_.size());
  for (std::size_t i = first.size(); i-- > 0;) {
    const std::uint64_t along = chunks_along(lengths_[i], chunk_[i]);
    first[i] = number % along * chunk_[i];
    number /= along;
  }
  return first;
}

std::vector<std::byte> RechunkedArray::filled() const {
  std::vector<std::byte> out(chunk_bytes_);
  if (std::ranges::all_of(fill_, [](std::byte b) { return b == std::byte{0}; })) return out;
  if (out.empty()) return out;
  std::ranges::copy(fill_, out.begin());
  // Each step doubles the part that is filled.
  for (std::uint64_t done = fill_.size(); done < chunk_bytes_; done *= 2)
    std::memcpy(out.data() + done, out.data(), std::min(done, chunk_bytes_ - done));
  return out;
}

Result<std::vector<std::byte>> RechunkedArray::chunk(std::uint64_t number) const {
  NMB_ASSIGN(std::vector<std::byte> values, stored_values(number));
  if (is_swapped_)
    swap_values(values.data(), values.data(), values.size() / value_size(), value_size());
  return values;
}

Result<std::vector<std::byte>> RechunkedArray::stored_values(std::uint64_t number) const {
  if (is_hole_) return std::vector<std::byte>();
  const std::vector<std::uint64_t> first = start(number);
  if (table_) return gathered(first);
  std::vector<std::byte> out;
  NMB_TRY(cut(first, &out));
  return out;
}

// Copies the stored chunks that begin within the new chunk at `first`.
Result<std::vector<std::byte>> RechunkedArray::gathered(
    std::span<const std::uint64_t> first) const {
  const std::size_t rank = lengths_.size();
  const std::uint64_t size = fill_.size();
  if (stored_chunk_ == chunk_) {
    std::vector<std::uint64_t> place(rank), along(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      place[i] = first[i] / chunk_[i];
      along[i] = chunks_along(lengths_[i], chunk_[i]);
    }
    return table_->load(position(along, place));
  }
  std::vector<std::uint64_t> from(rank), count(rank), along(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint64_t end = std::min(lengths_[i], first[i] + chunk_[i]);
    from[i] = first[i] / stored_chunk_[i];
    count[i] = chunks_along(end, stored_chunk_[i]) - from[i];
    along[i] = chunks_along(lengths_[i], stored_chunk_[i]);
  }
  std::vector<std::byte> out;
  std::vector<std::uint64_t> place(rank), rows(rank), to(rank);
  NMB_TRY(for_each_index(count, [&](const std::vector<std::uint64_t>& at) -> Status {
    for (std::size_t i = 0; i < rank; ++i) {
      place[i] = from[i] + at[i];
      to[i] = place[i] * stored_chunk_[i] - first[i];
      rows[i] = std::min(
          {stored_chunk_[i], lengths_[i] - place[i] * stored_chunk_[i], chunk_[i] - to[i]});
    }
    NMB_ASSIGN(const std::vector<std::byte> stored, table_->load(position(along, place)));
    if (stored.empty()) return {};
    if (out.empty()) out = filled();
    // Dimensions that both chunks have whole are one run.
    std::size_t last = rank - 1;
    std::uint64_t run = rows[last];
    while (last > 0 && rows[last] == stored_chunk_[last] && rows[last] == chunk_[last])
      run *= rows[--last];
    const std::vector<std::uint64_t> outer(rows.begin(),
                                           rows.begin() + static_cast<std::ptrdiff_t>(last));
    std::vector<std::uint64_t> source(rank, 0), target(to);
    return for_each_index(outer, [&](const std::vector<std::uint64_t>& row) -> Status {
      for (std::size_t i = 0; i < last; ++i) {
        source[i] = row[i];
        target[i] = to[i] + row[i];
      }
      std::memcpy(out.data() + position(chunk_, target) * size,
                  stored.data() + position(stored_chunk_, source) * size, run * size);
      return {};
    });
  }));
  return out;
}

Status RechunkedArray::cut(std::span<const std::uint64_t> first,
                           std::vector<std::byte>* out) const {
  const std::size_t rank = lengths_.size();
  const std::uint64_t size = fill_.size();
  std::vector<std::uint64_t> count(rank);
  for (std::size_t i = 0; i < rank; ++i) count[i] = std::min(chunk_[i], lengths_[i] - first[i]);
  if (count == chunk_)
    out->resize(chunk_bytes_);
  else
    *out = filled();
  if (rank == 0) return array_->read_at(0, *out);
  // Dimensions that the chunk and the array have whole are one run.
  std::size_t last = rank - 1;
  std::uint64_t run = count[last];
  while (last > 0 && count[last] == lengths_[last] && count[last] == chunk_[last])
    run *= count[--last];
  const std::vector<std::uint64_t> outer(count.begin(),
                                         count.begin() + static_cast<std::ptrdiff_t>(last));
  std::vector<std::uint64_t> source(first.begin(), first.end()), target(rank, 0);
  return for_each_index(outer, [&](const std::vector<std::uint64_t>& row) -> Status {
    for (std::size_t i = 0; i < last; ++i) {
      source[i] = first[i] + row[i];
      target[i] = row[i];
    }
    return array_->read_at(position(lengths_, source) * size,
                           std::span(*out).subspan(position(chunk_, target) * size, run * size));
  });
}

}  // namespace nmb
