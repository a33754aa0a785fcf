// Arrays are written in slabs, in the data set's own type, so that no byte changes. Values of
// variable length are converted to HDF5's form in memory. Chunks are written in their stored form.
#include "export/values_out.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "export/data_set_out.h"
#include "export/deferred_chunks.h"
#include "export/filters_out.h"
#include "hdf5_error.h"
#include "slabs.h"
#include "sources/value_source.h"
#include "values/chunk_coding.h"
#include "values/rechunked_array.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/joined_text.h"
#include "wire/memory_budget.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint64_t kSlab = 8 << 20;     // maximum bytes of values at a time
constexpr std::uint64_t kWindow = 16 << 20;  // maximum bytes of records at a time
// maximum bytes of strings, sequences and references in a slab
constexpr std::uint64_t kMostHeld = 64 << 20;
// maximum bytes of strings, sequences and references in one value
constexpr std::uint64_t kMostOfOne = 1 << 30;
constexpr std::uint64_t kMostChunk = ~std::uint32_t{0};

class ValuesOut {
 public:
  ValuesOut(ExportSource& source, VarId variable, hid_t data_set, const FindObject& find_object)
      : source_(source),
        id_(variable),
        variable_(source.metadata().variable(variable)),
        data_set_(data_set),
        find_object_(find_object),
        value_size_(source.metadata().value_size(variable_.type)) {}

  Status write() {
    const Storage* const storage = source_.storage_of(id_);
    if (storage && storage->kind == StorageKind::kNone) return {};
    NMB_TRY(prepare());
    if (space_.space_class == SpaceClass::kNull) return {};
    const bool has_chunks = storage && storage->kind == StorageKind::kChunked;
    if (const auto& relayout = source_.style().relayout) {
      if (relayout->is_rehearsal) return write_placeholders();
      const bool keeps_chunks =
          has_chunks && storage->chunk == creation_.chunk && storage->filters == creation_.filters;
      if (!keeps_chunks && source_.new_chunks(id_)) return write_coded(relayout->threads);
    }
    if (has_chunks) return write_chunks(*storage);
    NMB_TRY(use_filters(creation_.filters, FilterUse::kRun, data_set_));
    return storage ? write_heap() : write_array();
  }

  Status prepare() {
    NMB_ASSIGN(space_, source_.space(id_));
    if (space_.space_class == SpaceClass::kNull) return {};
    creation_ = creation_of(source_, id_, space_);
    return check_region();
  }
  // Writes `count` records of a record variable, from record `first` on. Call this function after
  // prepare(). In `from`, the records begin record_size_ bytes apart. The first byte of `from` is
  // byte `offset` of the extent.
  Status put_column(std::uint64_t first, std::uint64_t count, const std::byte* from,
                    std::uint64_t offset, std::vector<std::byte>* column) {
    column->resize(count * region_);
    const std::byte* value = from + (begin_ + first * record_size_ - offset);
    for (std::size_t i = 0; i < count; ++i, value += record_size_)
      std::memcpy(column->data() + i * region_, value, region_);
    Slab slab;
    slab.start.assign(space_.lengths.size(), 0);
    slab.count.assign(space_.lengths.begin(), space_.lengths.end());
    slab.start[0] = first;
    slab.count[0] = count;
    return put(slab, column->data());
  }
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return begin_ + region_; }  // end of the values of the first record
  Status named(const Status& status) const { return status.of_object(source_.text(id_)); }

 private:
  // Checks that the extent contains all bytes of the variable.
  Status check_region() {
    const std::uint64_t header = source_.block().layout.header_length;
    const std::uint64_t size = source_.block().extent->size();
    if (variable_.begin < header) return damaged("the variable begins inside the header");
    begin_ = variable_.begin - header;
    region_ = source_.metadata().slice_bytes(id_).value_or(~std::uint64_t{0});
    std::uint64_t end = 0;
    record_size_ =
        source_.metadata().is_record_variable(id_) ? source_.block().layout.record_size : 0;
    if (record_size_ > 0) {
      const std::uint64_t records = source_.block().records;
      if (records == 0) return {};
      if (!checked_mul(records - 1, record_size_, &end)) end = ~std::uint64_t{0};
    }
    if (checked_add(end, begin_, &end) && checked_add(end, region_, &end) && end <= size) return {};
    return damaged("found values of ", region_, " bytes at ", begin_,
                   ", which exceed the extent's length of ", size);
  }

  std::uint64_t rows_of_chunk() const {
    return creation_.layout == Layout::kChunked && !creation_.chunk.empty() ? creation_.chunk[0]
                                                                            : 1;
  }

  // Reads the elements of a slab as bytes. The records of a variable are not adjacent in the
  // extent, so each record is read separately.
  Status read_elements(const Slab& slab, std::span<std::byte> out) const {
    const ByteSource& extent = *source_.block().extent;
    if (record_size_ == 0) return extent.read_at(begin_ + slab.first * value_size_, out);
    const std::uint64_t record = region_;  // bytes of one record
    std::uint64_t at = slab.first * value_size_;
    while (!out.empty()) {
      const std::uint64_t within = at % record;
      const std::uint64_t bytes = std::min<std::uint64_t>(record - within, out.size());
      NMB_TRY(extent.read_at(begin_ + at / record * record_size_ + within, out.first(bytes)));
      out = out.subspan(bytes);
      at += bytes;
    }
    return {};
  }

  Status put(const Slab& slab, const std::byte* values) {
    NMB_ASSIGN(const hid_t memory_type, source_.types().plain(variable_.type));
    if (slab.count.empty())
      return check_hdf5(H5Dwrite(data_set_, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
                        "values");
    NMB_ASSIGN(const Handle file_space, check_handle(H5Dget_space(data_set_), "a space"));
    NMB_TRY(check_hdf5(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, slab.start.data(),
                                           nullptr, slab.count.data(), nullptr),
                       "a slab"));
    NMB_ASSIGN(const Handle memory_space,
               check_handle(H5Screate_simple(static_cast<int>(slab.count.size()), slab.count.data(),
                                             nullptr),
                            "a space"));
    return check_hdf5(
        H5Dwrite(data_set_, memory_type, memory_space.get(), file_space.get(), H5P_DEFAULT, values),
        "values");
  }

  Status write_array() {
    const std::uint64_t most = std::max<std::uint64_t>(memory_budget(kSlab) / value_size_, 1);
    std::vector<std::byte> values;
    return for_each_slab(space_.lengths, most, rows_of_chunk(), [&](const Slab& slab) -> Status {
      values.resize(slab.elements * value_size_);
      NMB_TRY(read_elements(slab, values));
      return put(slab, values.data());
    });
  }

  // Writes the array in new chunks.
  Status write_coded(unsigned threads) {
    NMB_ASSIGN(const RechunkedArray array,
               RechunkedArray::open(source_.block(), id_, source_.properties(), creation_.chunk,
                                    kCodedAtOnce));
    const auto load = [&](std::uint64_t number) { return array.chunk(number); };
    const auto take = [&](std::uint64_t first, std::span<const CodedChunk> coded) -> Status {
      for (const CodedChunk& chunk : coded) {
        const std::vector<std::uint64_t> start = array.grid().first_of(first++);
        if (chunk.bytes.empty()) continue;
        NMB_TRY(put_chunk({start.begin(), start.end()}, chunk.mask, chunk.bytes));
      }
      return {};
    };
    return code_chunks({array.grid(), creation_.filters, load, 0}, {threads}, take);
  }

  // Writes one byte in place of each stored chunk. If a data set has no filters, HDF5 has already
  // allocated its chunks.
  Status write_placeholders() {
    if (creation_.layout != Layout::kChunked || creation_.filters.empty()) return {};
    const Storage* const storage = source_.storage_of(id_);
    constexpr std::byte kByte{0};
    if (storage && storage->kind == StorageKind::kChunked && storage->chunk == creation_.chunk)
      return for_each_chunk(*storage, [&](const ChunkRow& row, const std::vector<hsize_t>& start) {
        return row.stored_length == 0 ? Status() : put_chunk(start, 0, {&kByte, 1});
      });
    NMB_ASSIGN(const ChunkGrid grid, ChunkGrid::make({space_.lengths.begin(), space_.lengths.end()},
                                                     creation_.chunk, value_size_));
    for (std::uint64_t number = 0; number < grid.count(); ++number) {
      const std::vector<std::uint64_t> start = grid.first_of(number);
      NMB_TRY(put_chunk({start.begin(), start.end()}, 0, {&kByte, 1}));
    }
    return {};
  }

  Status put_chunk(const std::vector<hsize_t>& start, std::uint32_t mask,
                   std::span<const std::byte> bytes) {
    if (bytes.size() > kMostChunk)
      return failure(Code::kLimit, "a chunk of ", bytes.size(), " bytes is too long for HDF5");
    return check_hdf5(
        H5Dwrite_chunk(data_set_, H5P_DEFAULT, mask, start.data(), bytes.size(), bytes.data()),
        "a chunk");
  }

  Status write_heap() {
    NMB_TRY(source_.types().plain(variable_.type).status());
    const ValueSource region(form::Slice{source_.block().extent, begin_, region_});
    HeapOut heap(source_.types(), region, find_object_);
    const std::uint64_t most = std::max<std::uint64_t>(kSlab / value_size_, 1);
    return for_each_slab(space_.lengths, most, rows_of_chunk(),
                         [&](const Slab& slab) { return put_heap(slab, region, heap); });
  }

  // Writes a slab. If the strings, sequences and references of the slab have too many bytes, writes
  // the slab in two halves.
  Status put_heap(const Slab& slab, const ByteSource& region, HeapOut& heap) {
    std::vector<std::byte> values(slab.elements * value_size_);
    NMB_TRY(region.read_at(slab.first * value_size_, values));
    std::vector<std::byte> memory(slab.elements * source_.types().memory_bytes(variable_.type));
    const Status made = heap.convert(variable_.type, values, slab.elements,
                                     slab.elements == 1 ? kMostOfOne : kMostHeld, memory.data());
    const bool halve = heap.too_much() && slab.elements > 1;
    Status status = made;
    if (made.ok()) status = put(slab, memory.data());
    heap.release();
    if (!halve) return status;
    std::size_t cut = 0;
    while (slab.count[cut] == 1) ++cut;
    Slab half = slab;
    half.count[cut] = slab.count[cut] / 2;
    half.elements = slab.elements / slab.count[cut] * half.count[cut];
    NMB_TRY(put_heap(half, region, heap));
    half.start[cut] += half.count[cut];
    half.first += half.elements;
    half.count[cut] = slab.count[cut] - half.count[cut];
    half.elements = slab.elements - half.elements;
    return put_heap(half, region, heap);
  }

  Status write_chunks(const Storage& storage) {
    NMB_TRY(use_filters(storage.filters, FilterUse::kKeep, data_set_));
    if (creation_.allocation == Allocation::kLate) NMB_TRY(allocate_first(storage));
    std::vector<std::byte> bytes;
    return for_each_chunk(storage, [&](const ChunkRow& row, const std::vector<hsize_t>& start) {
      return write_chunk(row, storage, start, &bytes);
    });
  }

  // Allocates only the first chunk. With late allocation, HDF5 allocates all chunks when the first
  // one is written, so the data set is made small meanwhile; chunks that the source lacks stay
  // absent.
  Status allocate_first(const Storage& storage) {
    const std::size_t rank = storage.chunk.size();
    if (rank != space_.lengths.size() || region_ < ChunkRow::kLength) return {};
    std::vector<hsize_t> whole(space_.lengths.begin(), space_.lengths.end()), small = whole;
    for (std::size_t i = 0; i < rank; ++i) small[i] = std::min<hsize_t>(small[i], storage.chunk[i]);
    std::array<std::byte, ChunkRow::kLength> row;
    NMB_TRY(source_.block().extent->read_at(begin_, row));
    const ChunkRow first{load_le<std::uint64_t>(row.data()), load_le<std::uint64_t>(row.data() + 8),
                         load_le<std::uint32_t>(row.data() + 16)};
    if (small == whole || first.stored_length == 0) return {};
    NMB_TRY(check_hdf5(H5Dset_extent(data_set_, small.data()), "an extent"));
    const std::vector<hsize_t> start(rank, 0);
    std::vector<std::byte> bytes;
    if (storage.filters.empty()) {
      NMB_TRY(write_chunk(first, storage, start, &bytes));
    } else {
      // The chunk is written again, so it must have another length now (see forget_mask()).
      bytes.resize(first.stored_length == 1 ? 2 : 1);
      NMB_TRY(put_chunk(start, 0, bytes));
    }
    return check_hdf5(H5Dset_extent(data_set_, whole.data()), "an extent");
  }

  // Calls visit(row, start) for each chunk of the table, in order. `start` is the index of the
  // chunk's first value.
  template <class Visit>
  Status for_each_chunk(const Storage& storage, const Visit& visit) {
    const std::size_t rank = storage.chunk.size();
    if (rank != space_.lengths.size())
      return damaged("chunks do not have as many dimensions as the variable");
    std::uint64_t chunks = 1, chunk_bytes = value_size_;
    std::vector<std::uint64_t> counts(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      const std::uint64_t chunk = storage.chunk[i];
      if (chunk == 0 || !checked_mul(chunk_bytes, chunk, &chunk_bytes))
        return damaged("found a chunk of no bytes, or of more than 2^64 bytes");
      counts[i] = space_.lengths[i] / chunk + (space_.lengths[i] % chunk != 0);
      if (!checked_mul(chunks, counts[i], &chunks)) return damaged("found more than 2^64 chunks");
    }
    std::uint64_t table = 0;
    if (!checked_mul(chunks, ChunkRow::kLength, &table) || table > region_)
      return damaged("a table of ", chunks, " chunks does not fit in ", region_, " bytes");
    std::uint64_t left = region_ - table;
    constexpr std::uint64_t kRows = 4096;  // number of rows that are read at a time
    const ByteSource& extent = *source_.block().extent;
    std::vector<std::byte> rows;
    // `place` is the position of the chunk in each dimension, in chunks.
    std::vector<hsize_t> place(rank, 0), start(rank);
    for (std::uint64_t n = 0; n < chunks; ++n) {
      if (n % kRows == 0) {
        rows.resize(std::min(kRows, chunks - n) * ChunkRow::kLength);
        NMB_TRY(extent.read_at(begin_ + n * ChunkRow::kLength, rows));
      }
      const std::byte* const row = rows.data() + n % kRows * ChunkRow::kLength;
      for (std::size_t i = 0; i < rank; ++i) start[i] = place[i] * storage.chunk[i];
      const ChunkRow chunk{load_le<std::uint64_t>(row), load_le<std::uint64_t>(row + 8),
                           load_le<std::uint32_t>(row + 16)};
      if (chunk.stored_length > left)
        return damaged("the table and the chunks have more than the region's ", region_,
                       " bytes (R-XC-2)");
      left -= chunk.stored_length;
      NMB_TRY(visit(chunk, std::as_const(start)));
      for (std::size_t i = rank; i-- > 0 && ++place[i] == counts[i];) place[i] = 0;
    }
    return {};
  }

  Status write_chunk(const ChunkRow& row, const Storage& storage, const std::vector<hsize_t>& start,
                     std::vector<std::byte>* bytes) {
    if (row.stored_length == 0) return {};
    if (row.offset > region_ || row.stored_length > region_ - row.offset ||
        row.stored_length > kMostChunk)
      return damaged("found a chunk of ", row.stored_length, " bytes at ", row.offset,
                     ", which exceeds the region's length of ", region_);
    const std::size_t filters = storage.filters.size();
    if (filters < 32 && row.filter_mask >> filters)
      return damaged("found filter mask ", row.filter_mask, ", expected a mask for ", filters,
                     " filters");
    const bool is_raw = filters == 0 || row.filter_mask == ~std::uint32_t{0} >> (32 - filters);
    std::uint64_t chunk_bytes = value_size_;
    for (const std::uint64_t length : storage.chunk) chunk_bytes *= length;
    if (is_raw && row.stored_length != chunk_bytes)
      return damaged("found an unfiltered chunk of ", row.stored_length, " bytes, expected ",
                     chunk_bytes);
    if (DeferredChunks* const deferred = source_.style().deferred;
        deferred && creation_.allocation == Allocation::kIncremental)
      return deferred->write(data_set_, start.data(), row.filter_mask, source_.block().extent,
                             begin_ + row.offset, row.stored_length);
    bytes->resize(row.stored_length);
    NMB_TRY(source_.block().extent->read_at(begin_ + row.offset, *bytes));
    if (filters > 0 && creation_.allocation != Allocation::kIncremental)
      NMB_TRY(forget_mask(start, bytes->size()));
    return put_chunk(start, row.filter_mask, *bytes);
  }

  // Makes HDF5 forget the filter mask of a chunk: if an allocated chunk is overwritten with a chunk
  // of the same length, HDF5 keeps the old mask. Therefore, if the chunk already has `bytes` bytes,
  // this function first writes a chunk of another length, which may also allocate the chunk.
  Status forget_mask(const std::vector<hsize_t>& start, std::size_t bytes) {
    hsize_t allocated = 0;
    // The call fails if the chunk is not allocated.
    if (H5Dget_chunk_storage_size(data_set_, start.data(), &allocated) < 0) return {};
    if (allocated != 0 && allocated != bytes) return {};
    constexpr std::array<std::byte, 2> kOther{};
    const std::size_t length = bytes == 1 ? 2 : 1;
    return check_hdf5(
        H5Dwrite_chunk(data_set_, H5P_DEFAULT, 0, start.data(), length, kOther.data()), "a chunk");
  }

  ExportSource& source_;
  const VarId id_;
  const Variable variable_;
  const hid_t data_set_;
  const FindObject& find_object_;
  const std::uint64_t value_size_;
  Space space_;
  Creation creation_;
  std::uint64_t begin_ = 0;  // offset in the extent
  // Bytes of the variable's values; for a record variable, bytes of its values in one record.
  std::uint64_t region_ = 0;
  std::uint64_t record_size_ = 0;
};

}  // namespace

Status write_values(ExportSource& source, VarId variable, hid_t data_set,
                    const FindObject& find_object) {
  ValuesOut values(source, variable, data_set, find_object);
  return values.named(values.write());
}

bool is_column(const ExportSource& source, VarId variable) {
  constexpr std::uint64_t kMostSlice = 64 << 10;
  const Metadata& metadata = source.metadata();
  if (!source.is_classic() || !metadata.is_record_variable(variable)) return false;
  const std::uint64_t slice = metadata.slice_bytes(variable).value_or(0);
  const std::uint64_t record_size = source.block().layout.record_size;
  return slice > 0 && slice < kMostSlice && slice < record_size && record_size <= kWindow;
}

Status write_columns(ExportSource& source, std::span<const std::pair<VarId, hid_t>> data_sets,
                     const FindObject& find_object) {
  const std::uint64_t records = source.block().records;
  const std::uint64_t record_size = source.block().layout.record_size;
  if (records == 0 || data_sets.empty()) return {};
  std::vector<ValuesOut> columns;
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (const auto& [variable, data_set] : data_sets) {
    columns.emplace_back(source, variable, data_set, find_object);
    NMB_TRY(columns.back().named(columns.back().prepare()));
    begin = std::min(begin, columns.back().begin());
    end = std::max(end, columns.back().end());
  }
  std::vector<std::byte> window, column;
  const std::uint64_t rows = std::max<std::uint64_t>(kWindow / record_size, 1);
  for (std::uint64_t first = 0; first < records; first += rows) {
    const std::uint64_t count = std::min(rows, records - first);
    const std::uint64_t offset = begin + first * record_size;
    window.resize((count - 1) * record_size + (end - begin));
    NMB_TRY(source.block().extent->read_at(offset, window));
    for (ValuesOut& one : columns)
      NMB_TRY(one.named(one.put_column(first, count, window.data(), offset, &column)));
  }
  return {};
}

}  // namespace nmb::hdf5
