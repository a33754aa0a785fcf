#include "view/storage_encoder.h"

#include <algorithm>
#include <memory>

#include "hdf5_types/memory_layout.h"
#include "sources/value_source.h"
#include "values/chunk_table.h"
#include "wire/checked.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

namespace {

using hdf5::Creation;
using hdf5::Layout;
using hdf5::Space;
using hdf5::SpaceClass;

constexpr unsigned kLayoutOfVersion3 = 3;
constexpr std::uint64_t kMostChunkBytes = ~std::uint32_t{0};
constexpr std::size_t kMostChunks = 1 << 24;  // limited, because the chunk tree is built in memory

}  // namespace

Creation creation_of(const Metadata& metadata, const hdf5::PropertyTable& properties, VarId id) {
  Creation creation;
  const Storage* const storage = metadata.extension()->storage_of(id);
  const bool has_chunks = storage && storage->kind == StorageKind::kChunked;
  if (const hdf5::Property* p = properties.find(hdf5::Property::Number::kCreation, id)) {
    creation = p->creation;
  } else if (has_chunks) {
    creation.layout = Layout::kChunked;
    creation.allocation = hdf5::Allocation::kIncremental;
  }
  if (has_chunks) {
    creation.chunk = storage->chunk;
    creation.filters = storage->filters;
  }
  return creation;
}

// Returns the size of a value of the variable in an HDF5 file.
std::uint64_t StorageEncoder::size_in_file(VarId id) const {
  return hdf5::memory_size(types_, metadata_.variable(id).type, hdf5::kStringInFile);
}

Result<Refused> StorageEncoder::add_storage(VarId id, const Space& space,
                                            const Creation& creation) {
  NMB_ASSIGN(Refused refused, add_fill_value(id, creation));
  if (refused) return refused;
  NMB_ASSIGN(refused, add_layout(id, space, creation));
  if (refused || creation.layout != Layout::kChunked || space.space_class != SpaceClass::kSimple)
    return refused;
  return add_filters(creation.filters);
}

Result<Refused> StorageEncoder::add_fill_value(VarId id, const Creation& creation) {
  constexpr unsigned kVersion = 3, kUndefined = 0x10, kDefined = 0x20;
  Hdf5Bytes& out = header_.bytes();
  const bool is_user = creation.fill_state == hdf5::FillState::kUser;
  header_.begin(HeaderMessage::kFillValue);
  out.put8(kVersion);
  out.put8(static_cast<unsigned>(creation.allocation) |
           static_cast<unsigned>(creation.fill_time) << 2 |
           (is_user                                              ? kDefined
            : creation.fill_state == hdf5::FillState::kUndefined ? kUndefined
                                                                 : 0));
  const Type type = metadata_.variable(id).type;
  if (is_user && types_.needs_heap(type)) {
    if (creation.fill_value.size() < types_.value_size(type))
      return failure(Code::kDamaged, "found a fill value of ", creation.fill_value.size(),
                     " bytes");
    out.put32(size_in_file(id));
    const Status converted = values_.put(type, creation.fill_value, 1, out);
    if (converted.code() == Code::kUnsupported)
      return Refused({values_.reason(), "fill value: " + converted.message()});
    NMB_TRY(converted);
  } else if (is_user) {
    out.put32(creation.fill_value.size());
    out.put(std::span<const std::byte>(creation.fill_value));
  }
  if (header_.end()) return Refused();
  return Refused({LeftOutReason::kTooLarge,
                  joined_text("the fill value has ", creation.fill_value.size(), " bytes")});
}

template <class Take>
Result<Refused> StorageEncoder::convert_values(VarId id, std::uint64_t count, bool adds_to_heap,
                                               Take take) {
  constexpr std::uint64_t kPart = std::uint64_t{1} << 16;
  const Type type = metadata_.variable(id).type;
  const std::uint64_t size = types_.value_size(type);
  const std::uint64_t most = 8 * std::max<std::uint64_t>(kPart / (8 * size), 1);
  const ValueSource region(form::Slice{block_.extent, metadata_.begin(id),
                                       metadata_.extension()->storage_of(id)->region_length});
  if (count > region.size() / size)
    return failure(Code::kDamaged, "found values of ", region.size(), " bytes, expected ", count,
                   " values of ", size, " bytes");
  values_.start(region, adds_to_heap);
  std::vector<std::byte> stored;
  Hdf5Bytes converted;
  for (std::uint64_t first = 0; first < count; first += most) {
    const std::uint64_t values = std::min(most, count - first);
    stored.resize(values * size);
    NMB_TRY(region.read_at(first * size, stored));
    converted.clear();
    const Status status = values_.convert(type, stored, values, converted);
    if (status.code() == Code::kUnsupported) return Refused({values_.reason(), status.message()});
    NMB_TRY(status);
    NMB_TRY(take(converted));
  }
  return Refused();
}

// Writes an array with the values of a variable, if all of them can be converted. Compact values
// are only checked.
Result<Refused> StorageEncoder::copy_values(VarId id, std::uint64_t count, bool is_compact) {
  const auto drop = [](Hdf5Bytes&) { return Status(); };
  NMB_ASSIGN(const Refused refused, convert_values(id, count, false, drop));
  if (refused) return refused;
  copy_ = is_compact ? 0 : shared_.out.position();
  if (is_compact) return Refused();
  if (!shared_.writes) {
    NMB_TRY(shared_.out.skip(count * size_in_file(id)));
    return Refused();
  }
  return convert_values(id, count, true,
                        [&](Hdf5Bytes& part) { return shared_.out.append(part.bytes()).status(); });
}

Result<Refused> StorageEncoder::add_layout(VarId id, const Space& space, const Creation& creation) {
  const Storage* const storage = metadata_.extension()->storage_of(id);
  const bool is_simple = space.space_class == SpaceClass::kSimple;
  const std::uint64_t size = size_in_file(id);
  std::uint64_t bytes = space.space_class == SpaceClass::kNull ? 0 : size;
  for (const std::uint64_t length : space.lengths)
    if (!checked_mul(bytes, length, &bytes))
      return Refused({LeftOutReason::kTooLarge, "the values have 2^64 bytes or more"});
  copy_.reset();
  const bool is_chunked = creation.layout == Layout::kChunked && is_simple;
  if (is_chunked && creation.chunk.size() != space.lengths.size())
    return failure(Code::kDamaged, "found a chunk of ", creation.chunk.size(),
                   " dimensions, expected ", space.lengths.size());
  if (storage && storage->kind == StorageKind::kChunked) {
    if (!is_chunked)
      return failure(Code::kDamaged,
                     "found stored chunks of a data set whose layout is not chunked");
    return add_chunks(id, *storage, space);
  }
  const bool is_heap = storage && storage->kind == StorageKind::kHeap;
  const bool is_stored = bytes > 0 && (!storage || is_heap);
  // If the array may grow, HDF5 stores it in chunks.
  const bool grows = space.lengths != space.maximum;
  const bool is_compact = creation.layout == Layout::kCompact && !grows;
  if (is_stored && is_heap) {
    NMB_ASSIGN(const Refused refused, copy_values(id, bytes / size, is_compact));
    if (refused) return refused;
  } else if (is_stored && !places_.ok()) {
    return Refused({LeftOutReason::kPieces, places_.status().message()});
  }
  if (is_stored && (is_chunked || grows)) return add_rows(id, space, creation);
  if (is_chunked) return add_chunked(id, {}, {creation.chunk, {}});
  if (grows) return add_chunked(id, {}, {std::vector<std::uint64_t>(space.lengths.size(), 1), {}});
  if (is_compact && (is_stored || bytes == 0)) return add_compact(id, bytes);
  return add_contiguous(id, bytes, is_stored, creation);
}

// Returns whether NMB and HDF5 return the same for values that were never written.
bool StorageEncoder::reads_unwritten(VarId id, const Creation& creation) const {
  if (unwritten_ == Unwritten::kFill) return true;
  return TypeTable::is_extended(metadata_.variable(id).type) &&
         (creation.fill_state != hdf5::FillState::kUser || all_zero(creation.fill_value));
}

Result<Refused> StorageEncoder::find(VarId id, const Creation& creation, std::uint64_t offset,
                                     std::uint64_t bytes, std::uint64_t* position) const {
  if (copy_) {
    *position = *copy_ + (offset - metadata_.begin(id));
    return Refused();
  }
  const Result<std::uint64_t> found = places_->find(offset, bytes);
  if (!found.ok()) {
    if (found.status().code() != Code::kUnsupported) return found.status();
    return Refused({LeftOutReason::kPieces, found.status().message()});
  }
  if (*found == 0 && !reads_unwritten(id, creation))
    return Refused({LeftOutReason::kUnwritten, "some values were never written"});
  *position = *found == 0 ? kUndefinedAddress : *found;
  return Refused();
}

// Copies the values into the object header, where HDF5 stores compact values.
Result<Refused> StorageEncoder::add_compact(VarId id, std::uint64_t bytes) {
  constexpr unsigned kCompact = 0;
  if (bytes > kMostMessage)
    return Refused(
        {LeftOutReason::kTooLarge, joined_text("the compact values have ", bytes, " bytes")});
  header_.begin(HeaderMessage::kLayout);
  Hdf5Bytes& out = header_.bytes();
  out.put8(kLayoutOfVersion3);
  out.put8(kCompact);
  out.put16(bytes);
  if (copy_) {
    NMB_ASSIGN(const Refused refused,
               convert_values(id, bytes / size_in_file(id), shared_.writes, [&](Hdf5Bytes& part) {
                 out.put(part.bytes());
                 return Status();
               }));
    if (refused) return refused;
  } else if (bytes > 0) {
    std::vector<std::byte> values(bytes);
    NMB_TRY(block_.extent->read_at(metadata_.begin(id), values));
    out.put(std::span<const std::byte>(values));
  }
  if (!header_.end())
    return Refused(
        {LeftOutReason::kTooLarge, joined_text("the compact values have ", bytes, " bytes")});
  return Refused();
}

Result<Refused> StorageEncoder::add_contiguous(VarId id, std::uint64_t bytes, bool is_stored,
                                               const Creation& creation) {
  constexpr unsigned kContiguousLayout = 1;
  std::uint64_t position = kUndefinedAddress;
  if (is_stored) {
    NMB_ASSIGN(Refused refused, find(id, creation, metadata_.begin(id), bytes, &position));
    if (refused) return refused;
  }
  header_.begin(HeaderMessage::kLayout);
  Hdf5Bytes& out = header_.bytes();
  out.put8(kLayoutOfVersion3);
  out.put8(kContiguousLayout);
  out.put64(position);
  out.put64(bytes);
  (void)header_.end();
  return Refused();
}

// Shows an array as chunks. Each chunk consists of whole rows along the slowest dimension. A chunk
// of a record variable has one row. Other arrays have as few chunks as possible, all of the same
// size.
Result<Refused> StorageEncoder::add_rows(VarId id, const Space& space, const Creation& creation) {
  const std::uint64_t rows = space.lengths[0];
  const bool has_records = metadata_.is_record_variable(id);
  std::uint64_t row = size_in_file(id);
  for (std::size_t i = 1; i < space.lengths.size(); ++i) row *= space.lengths[i];
  const auto too_large = [&] {
    return Refused({LeftOutReason::kTooLarge,
                    joined_text(rows, " rows of ", row, " bytes need too many chunks")});
  };
  if (row > kMostChunkBytes) return too_large();
  constexpr std::uint64_t kMostParts = 65536;
  const std::uint64_t fits = kMostChunkBytes / row;
  std::uint64_t parts = has_records ? rows : (rows + fits - 1) / fits;
  while (parts <= kMostParts && rows % parts != 0) ++parts;
  if (parts > (has_records ? kMostChunks : kMostParts)) return too_large();
  ViewGrid grid{space.lengths, std::vector<std::uint64_t>(space.lengths.size(), 1)};
  grid.chunk[0] = rows / parts;
  grid.counts[0] = parts;
  const std::uint64_t bytes = grid.chunk[0] * row;
  const std::uint64_t step = has_records ? block_.layout.record_size : bytes;
  // The filters of the data set were not applied to these values.
  const std::size_t filters = creation.layout == Layout::kChunked ? creation.filters.size() : 0;
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << filters) - 1);
  std::vector<ViewChunk> chunks;
  for (std::uint64_t n = 0; n < parts; ++n) {
    std::uint64_t position = 0;
    NMB_ASSIGN(Refused refused,
               find(id, creation, metadata_.begin(id) + n * step, bytes, &position));
    if (refused) return refused;
    if (position != kUndefinedAddress)
      chunks.push_back({n, position, static_cast<std::uint32_t>(bytes), mask});
  }
  return add_chunked(id, chunks, grid);
}

// If a byte range of the extent lies in a hole, returns the end of the hole. Returns 0 if some
// bytes of the range are stored.
std::uint64_t StorageEncoder::end_of_hole(std::uint64_t offset, std::uint64_t bytes) const {
  if (!places_.ok()) return 0;
  const Result<std::uint64_t> found = places_->find(offset, bytes);
  return found.ok() && *found == 0 ? places_->run_end(offset) : 0;
}

Result<Refused> StorageEncoder::add_chunks(VarId id, const Storage& storage, const Space& space) {
  constexpr std::uint64_t kRows = 4096;  // rows of the table that are read at a time
  ViewGrid grid{storage.chunk, {}};
  for (std::size_t i = 0; i < grid.chunk.size(); ++i)
    grid.counts.push_back((space.lengths[i] + grid.chunk[i] - 1) / grid.chunk[i]);
  // If one length is 0, there are no chunks, however large the product of the others is.
  std::uint64_t count = std::ranges::count(grid.counts, 0) > 0 ? 0 : 1;
  for (const std::uint64_t along : grid.counts)
    if (!checked_mul(count, along, &count) || count > storage.region_length / ChunkRow::kLength)
      return failure(Code::kDamaged, "found a table of chunks that is too short");
  const std::uint64_t begin = metadata_.begin(id);
  const ChunkTable table(run_of(block_.extent, begin, storage.region_length), storage,
                         metadata_.value_size(metadata_.variable(id).type));
  std::vector<ViewChunk> chunks;
  std::uint64_t next = 0;
  for (std::uint64_t first = 0; first < count; first = next) {
    next = std::min(first + kRows, count);
    if (const std::uint64_t hole =
            end_of_hole(begin + first * ChunkRow::kLength, (next - first) * ChunkRow::kLength);
        hole > 0) {
      next = std::max(next, (hole - begin) / ChunkRow::kLength);
      continue;
    }
    NMB_ASSIGN(const std::vector<ChunkRow> rows, table.rows(first, next - first));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ChunkRow& row = rows[i];
      if (row.stored_length == 0) continue;
      NMB_TRY(table.check_place(first + i, row));
      if (!places_.ok()) return Refused({LeftOutReason::kPieces, places_.status().message()});
      if (row.stored_length > kMostChunkBytes || chunks.size() == kMostChunks)
        return Refused(
            {LeftOutReason::kTooLarge,
             chunks.size() == kMostChunks
                 ? joined_text("more than ", kMostChunks, " chunks are stored")
                 : joined_text("chunk ", first + i, " has ", row.stored_length, " bytes")});
      const Result<std::uint64_t> position = places_->find(begin + row.offset, row.stored_length);
      if (!position.ok()) {
        if (position.status().code() != Code::kUnsupported) return position.status();
        return Refused({LeftOutReason::kPieces, position.status().message()});
      }
      if (*position == 0)
        return Refused({LeftOutReason::kUnwritten,
                        joined_text("the bytes of chunk ", first + i, " were never written")});
      chunks.push_back(
          {first + i, *position, static_cast<std::uint32_t>(row.stored_length), row.filter_mask});
    }
  }
  return add_chunked(id, chunks, grid);
}

Result<Refused> StorageEncoder::add_chunked(VarId id, const std::vector<ViewChunk>& chunks,
                                            const ViewGrid& grid) {
  constexpr unsigned kChunkedLayout = 2;
  const std::uint64_t size = size_in_file(id);
  std::uint64_t bytes = size;
  for (const std::uint64_t length : grid.chunk)
    if (!checked_mul(bytes, length, &bytes) || bytes > kMostChunkBytes)
      return Refused({LeftOutReason::kTooLarge, "a chunk has 2^32 bytes or more"});
  shared_.chunks += chunks.size();
  if (shared_.chunks > shared_.most_chunks)
    return failure(Code::kUnsupported, "the blocks have more than ", shared_.most_chunks,
                   " chunks, which is too many for a view");
  shared_.now.count_tree(chunks.size(), grid.chunk.size());
  NMB_ASSIGN(const std::uint64_t tree,
             append_chunk_tree(chunks, grid, shared_.before.node_rank(), shared_.out));
  header_.begin(HeaderMessage::kLayout);
  Hdf5Bytes& out = header_.bytes();
  out.put8(kLayoutOfVersion3);
  out.put8(kChunkedLayout);
  out.put8(static_cast<unsigned>(grid.chunk.size() + 1));
  out.put64(tree);
  for (const std::uint64_t length : grid.chunk) out.put32(std::max<std::uint64_t>(length, 1));
  out.put32(size);
  (void)header_.end();
  return Refused();
}

Refused StorageEncoder::add_filters(const std::vector<Filter>& filters) {
  constexpr unsigned kVersion = 2;
  constexpr std::uint32_t kFirstNamed = 256;
  if (filters.empty()) return {};
  header_.begin(HeaderMessage::kFilters);
  Hdf5Bytes& out = header_.bytes();
  out.put8(kVersion);
  out.put8(static_cast<unsigned>(filters.size()));
  bool fits = true;
  for (const Filter& filter : filters) {
    const bool has_name = filter.id >= kFirstNamed && !filter.name.empty();
    const std::string_view name = std::string_view(filter.name).substr(0, filter.name.find('\0'));
    fits = fits && filter.id <= kMostMessage && filter.parameters.size() <= kMostMessage &&
           name.size() < kMostMessage;
    out.put16(filter.id);
    if (filter.id >= kFirstNamed) out.put16(has_name ? name.size() + 1 : 0);
    out.put16(filter.flags & kMostMessage);
    out.put16(filter.parameters.size());
    if (has_name) {
      out.put(name);
      out.put8(0);
    }
    for (const std::uint32_t parameter : filter.parameters) out.put32(parameter);
  }
  fits = header_.end() && fits;
  if (fits) return {};
  return Refusal{LeftOutReason::kTooLarge, "the filters need more than 65,535 bytes"};
}

}  // namespace nmb
