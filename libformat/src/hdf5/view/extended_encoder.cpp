// Writes the objects of a block from HDF5 (see extended_encoder.h).
#include "hdf5/view/extended_encoder.h"

#include <algorithm>

#include "hdf5/bytes/datatype_message.h"
#include "hdf5/bytes/dimension_messages.h"
#include "hdf5/model/memory_layout.h"
#include "hdf5/model/netcdf_marks.h"
#include "hdf5/model/type_header.h"
#include "model/paths.h"
#include "nmb/text.h"
#include "values/chunk_table.h"
#include "wire/checked.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

namespace {

using hdf5::Creation;
using hdf5::Layout;
using hdf5::Link;
using hdf5::LinkKind;
using hdf5::Property;
using hdf5::Space;
using hdf5::SpaceClass;
using Number = Property::Number;

constexpr unsigned kConstantMessage = 1, kSharedMessage = 2;  // flags of a message
constexpr unsigned kLayoutOfVersion3 = 3;
constexpr std::uint64_t kMostChunkBytes = ~std::uint32_t{0};
constexpr std::size_t kMostMessage = 0xFFFF;
constexpr std::size_t kMostChunks = 1 << 24;  // limited, because the tree is made in memory
constexpr std::size_t kMostRank = 32;

void put_space(const Space& space, Hdf5Bytes& out) {
  switch (space.space_class) {
    case SpaceClass::kScalar:
      return put_scalar_space(out);
    case SpaceClass::kNull:
      return put_null_space(out);
    case SpaceClass::kSimple:
      return put_simple_space(out, space.lengths, space.maximum);
  }
}

// Writes a reference to a named datatype.
void put_named_type(std::uint64_t address, Hdf5Bytes& out) {
  constexpr unsigned kVersion = 3, kCommitted = 2;
  out.put8(kVersion);
  out.put8(kCommitted);
  out.put64(address);
}

// Returns a path without the slashes at its beginning, as keys of objects have it.
std::string_view relative(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

}  // namespace

Status ExtendedEncoder::leave_out(std::string object, LeftOutReason reason, std::string why) {
  if (!shared_.on_left_out) return {};
  return shared_.on_left_out({std::move(object), reason, std::move(why)});
}

std::string ExtendedEncoder::path_of(std::string_view name) const {
  return joined_path(block_.name, name);
}

std::string ExtendedEncoder::object(std::string_view kind, std::string_view name) const {
  return joined_text(kind, " \"", printable(path_of(name)), "\"");
}

Status ExtendedEncoder::encode(ViewGroup* group) {
  const std::string text = object("block", "");
  const auto of_block = [&](const Status& status) {
    return Status(status.code(), status.file(), kNoOffset, status.rule(),
                  text + ": " + status.message());
  };
  Result<hdf5::BlockProperties> properties = hdf5::BlockProperties::of(metadata_);
  if (!properties.ok()) return of_block(properties.status());
  properties_ = std::move(*properties);
  source_ = group->source;
  const hdf5::Order order = properties_.order(kGlobal);
  if (const Property* p = properties_.find(Number::kUserBlock))
    NMB_TRY(leave_out("user block of " + text, LeftOutReason::kUserBlock,
                      joined_text("the user block has ", p->bytes.size(), " bytes")));
  group->is_extended = true;
  group->link_order = order.links;
  group->attribute_order = order.attributes;
  NMB_TRY(encode_types(&group->links));
  is_shown_.assign(metadata_.variable_count(), false);
  for (VarId id = 0; id < metadata_.variable_count(); ++id) {
    const Status status = encode_variable(id, &group->links);
    if (!status.ok())
      return Status(status.code(), status.file(), status.offset(), status.rule(),
                    object("variable", metadata_.variable(id).name) + ": " + status.message());
  }
  NMB_TRY(arrange_links(group));
  header_.start(order.attributes);
  const std::size_t empty = header_.bytes().size();
  NMB_TRY(add_shared_messages(kGlobal, KnownObjects::key_of_path(block_.name), header_));
  if (const Status status = add_attributes(metadata_, kGlobal, text, true, header_); !status.ok())
    return of_block(status);
  const auto messages = header_.bytes().bytes().subspan(empty);
  group->messages.assign(messages.begin(), messages.end());
  return {};
}

// Encodes the named datatypes whose first link is in this group.
Status ExtendedEncoder::encode_types(LinkList* links) {
  const Property* const p = properties_.find(Number::kLinks);
  if (!p) return {};
  for (const Link& link : p->links) {
    if (link.kind != LinkKind::kType) continue;
    const auto type = static_cast<Type>(link.number);
    if (link.number > 0xFFFF || !TypeTable::is_extended(type) || !types_.has(type) ||
        types_.at(type).name.empty())
      return failure(Code::kDamaged, object("group", ""), ": found a link to type ", link.number,
                     ", which is not a named type");
    Hdf5Bytes message;
    if (const Status status = put_datatype(types_, type, message); !status.ok()) {
      if (status.code() != Code::kUnsupported) return status;
      left_out_links_.insert(link.name);
      NMB_TRY(
          leave_out(object("named datatype", link.name), LeftOutReason::kType, status.message()));
      continue;
    }
    const Digest key = KnownObjects::key_of_type(types_.at(type).name, message.bytes());
    shared_.now.link_type(key);
    const Property* attributes = nullptr;
    for (const Property& property : properties_.all())
      if (property.number == Number::kTypeAttributes && property.type == type)
        attributes = &property;
    std::uint64_t address = shared_.now.address(key);
    if (address == 0) NMB_TRY(encode_type(type, attributes, &address));
    shared_.now.place(KnownObjects::key_of_path(path_of(link.name)), address);
    links->add(link.name, address, link.character_set);
  }
  return {};
}

Status ExtendedEncoder::encode_type(Type type, const Property* attributes, std::uint64_t* address) {
  ObjectHeader header;
  header.start();
  header.begin(HeaderMessage::kDatatype, kConstantMessage);
  const std::size_t at = header.bytes().size();
  NMB_TRY(put_datatype(types_, type, header.bytes()));
  const Digest key =
      KnownObjects::key_of_type(types_.at(type).name, header.bytes().bytes().subspan(at));
  (void)header.end();
  for (const Property& property : properties_.all())
    if (property.number == Number::kTypeComment && property.type == type) {
      header.begin(HeaderMessage::kComment);
      header.bytes().put(std::span<const std::byte>(property.bytes));
      header.bytes().put8(0);
      if (!header.end()) header.drop();
    }
  add_link_count(KnownObjects::key_of_path(relative(types_.at(type).name)), header);
  if (attributes) {
    NMB_ASSIGN(const ClassicHeader decoded,
               hdf5::decode_type_attributes(attributes->bytes, types_));
    NMB_TRY(add_attributes(decoded.metadata, kGlobal,
                           object("named datatype", types_.at(type).name), false, header));
  }
  NMB_ASSIGN(*address, shared_.out.append(header.finish()));
  shared_.now.place(key, *address);
  return {};
}

// Writes the message of a type, or of a reference to a named datatype. Returns whether the message
// is a reference.
Result<bool> ExtendedEncoder::put_named_or_plain(Type type, Hdf5Bytes& out) {
  if (!TypeTable::is_extended(type) || types_.at(type).name.empty()) {
    NMB_TRY(put_datatype(types_, type, out));
    return false;
  }
  Hdf5Bytes message;
  NMB_TRY(put_datatype(types_, type, message));
  const Digest key = KnownObjects::key_of_type(types_.at(type).name, message.bytes());
  shared_.now.use_type(key);
  // No link leads to this type, so the first object that uses the type writes it.
  if (shared_.before.is_unlinked_type(key) && !shared_.now.is_placed(key)) {
    std::uint64_t unused = 0;
    NMB_TRY(encode_type(type, nullptr, &unused));
  }
  put_named_type(shared_.before.address(key), out);
  return true;
}

Creation ExtendedEncoder::creation_of(VarId id) const {
  Creation creation;
  const Storage* const storage = metadata_.extension()->storage_of(id);
  const bool has_chunks = storage && storage->kind == StorageKind::kChunked;
  if (const Property* p = properties_.find(Number::kCreation, id)) {
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

Status ExtendedEncoder::encode_variable(VarId id, LinkList* links) {
  const Variable variable = metadata_.variable(id);
  NMB_ASSIGN(const Space space, properties_.space(metadata_, block_.records, id));
  if (is_dimension_scale(metadata_, id)) {
    const std::vector<std::int64_t> number = integers(metadata_, id, kDimensionId, 1);
    shared_.now.count_dimension(
        source_, number.empty() ? std::nullopt : std::optional<std::int64_t>(number[0]));
  }
  const auto left_out = [&](LeftOutReason reason, std::string why) -> Status {
    NMB_TRY(leave_out(object("variable", variable.name), reason, std::move(why)));
    return is_dimension_scale(metadata_, id) ? encode_dimension(id, space, links) : Status();
  };
  if (types_.needs_heap(variable.type))
    return left_out(LeftOutReason::kVariableLength,
                    joined_text("the values have type ", types_.text(variable.type)));
  if (properties_.find(Number::kVirtual, id))
    return left_out(LeftOutReason::kVirtual, "the values are in other data sets");
  if (properties_.find(Number::kExternalFiles, id))
    return left_out(LeftOutReason::kElsewhere, "the values are in external files of HDF5");
  if (space.lengths.size() > kMostRank)
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the variable has ", space.lengths.size(), " dimensions"));
  const Creation creation = creation_of(id);
  // A named datatype may have to be written first.
  Hdf5Bytes type;
  const Result<bool> is_named = put_named_or_plain(variable.type, type);
  if (!is_named.ok()) {
    if (is_named.status().code() != Code::kUnsupported) return is_named.status();
    return left_out(LeftOutReason::kType, is_named.status().message());
  }
  header_.start(properties_.order(id).attributes);
  header_.begin(HeaderMessage::kDataspace);
  put_space(space, header_.bytes());
  (void)header_.end();
  header_.begin(HeaderMessage::kDatatype, kConstantMessage | (*is_named ? kSharedMessage : 0));
  header_.bytes().put(type.bytes());
  (void)header_.end();
  header_.begin(HeaderMessage::kFillValue);
  add_fill_value(creation);
  if (!header_.end())
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the fill value has ", creation.fill_value.size(), " bytes"));
  NMB_ASSIGN(Refused refused, add_layout(id, space, creation));
  if (!refused && creation.layout == Layout::kChunked && space.space_class == SpaceClass::kSimple)
    refused = add_filters(creation.filters);
  if (refused) return left_out(refused->reason, std::move(refused->why));
  const Digest key = KnownObjects::key_of_path(path_of(variable.name));
  NMB_TRY(add_shared_messages(id, key, header_));
  NMB_TRY(add_attributes(metadata_, id, object("variable", variable.name), true, header_));
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  shared_.now.place(key, address);
  links->add(variable.name, address);
  is_shown_[id] = true;
  return {};
}

// Encodes the dimension of a scale that is left out. Other variables use the dimension.
Status ExtendedEncoder::encode_dimension(VarId id, const Space& space, LinkList* links) {
  constexpr std::uint64_t kMostLength = std::uint64_t{1} << 60;
  if (space.lengths.empty() || space.lengths[0] > kMostLength) return {};
  const std::vector<std::int64_t> number = integers(metadata_, id, kDimensionId, 1);
  std::optional<std::uint64_t> shown;
  if (!number.empty() && number[0] >= 0)
    shown = static_cast<std::uint64_t>(number[0]) + shared_.before.first_dimension(source_);
  const std::string text = text_of_dimension(space.lengths[0]);
  const std::string_view name = metadata_.variable(id).name;
  const Digest key = KnownObjects::key_of_path(path_of(name));
  header_.start();
  add_dimension_messages(header_, space.lengths[0], space.maximum[0] == hdf5::kUnlimitedLength);
  add_link_count(key, header_);
  (void)add_scale_attributes(header_, text, text.size() + 1, shown);
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  shared_.now.place(key, address);
  links->add(name, address);
  is_shown_[id] = true;
  return {};
}

void ExtendedEncoder::add_fill_value(const Creation& creation) {
  constexpr unsigned kVersion = 3, kUndefined = 0x10, kDefined = 0x20;
  Hdf5Bytes& out = header_.bytes();
  const bool is_user = creation.fill_state == hdf5::FillState::kUser;
  out.put8(kVersion);
  out.put8(static_cast<unsigned>(creation.allocation) |
           static_cast<unsigned>(creation.fill_time) << 2 |
           (is_user                                              ? kDefined
            : creation.fill_state == hdf5::FillState::kUndefined ? kUndefined
                                                                 : 0));
  if (!is_user) return;
  out.put32(creation.fill_value.size());
  out.put(std::span<const std::byte>(creation.fill_value));
}

Result<ExtendedEncoder::Refused> ExtendedEncoder::add_layout(VarId id, const Space& space,
                                                             const Creation& creation) {
  const Storage* const storage = metadata_.extension()->storage_of(id);
  const bool is_simple = space.space_class == SpaceClass::kSimple;
  std::uint64_t bytes = space.space_class == SpaceClass::kNull
                            ? 0
                            : metadata_.value_size(metadata_.variable(id).type);
  for (const std::uint64_t length : space.lengths)
    if (!checked_mul(bytes, length, &bytes))
      return Refused({LeftOutReason::kTooLarge, "the values have 2^64 bytes or more"});
  const bool is_chunked = creation.layout == Layout::kChunked && is_simple;
  if (is_chunked && creation.chunk.size() != space.lengths.size())
    return failure(Code::kDamaged, "found a chunk of ", creation.chunk.size(),
                   " dimensions, expected ", space.lengths.size());
  if (storage && storage->kind == StorageKind::kChunked) {
    if (!is_chunked) return failure(Code::kDamaged, "found stored chunks of a data set whose layout is not chunked");
    return add_chunks(id, *storage, space);
  }
  const bool is_stored = bytes > 0 && !storage;
  if (is_stored && !places_.ok())
    return Refused({LeftOutReason::kPieces, places_.status().message()});
  // HDF5 stores values that may grow in chunks.
  const bool grows = space.lengths != space.maximum;
  if (is_stored && (is_chunked || grows)) return add_rows(id, space, creation);
  if (is_chunked) return add_chunked(id, {}, {creation.chunk, {}});
  if (grows) return add_chunked(id, {}, {std::vector<std::uint64_t>(space.lengths.size(), 1), {}});
  if (creation.layout == Layout::kCompact && (is_stored || bytes == 0))
    return add_compact(id, bytes);
  return add_contiguous(id, bytes, is_stored, creation);
}

// Returns whether values that were never written read as zero in NMB and in HDF5.
bool ExtendedEncoder::unwritten_is_zero(VarId id, const Creation& creation) const {
  return TypeTable::is_extended(metadata_.variable(id).type) &&
         (creation.fill_state != hdf5::FillState::kUser || all_zero(creation.fill_value));
}

Result<ExtendedEncoder::Refused> ExtendedEncoder::find(VarId id, const Creation& creation,
                                                       std::uint64_t offset, std::uint64_t bytes,
                                                       std::uint64_t* position) const {
  const Result<std::uint64_t> found = places_->find(offset, bytes);
  if (!found.ok()) {
    if (found.status().code() != Code::kUnsupported) return found.status();
    return Refused({LeftOutReason::kPieces, found.status().message()});
  }
  if (*found == 0 && !unwritten_is_zero(id, creation))
    return Refused({LeftOutReason::kUnwritten, "some values were never written"});
  *position = *found == 0 ? kUndefinedAddress : *found;
  return Refused();
}

// Copies the values into the header. HDF5 also stores compact values there.
Result<ExtendedEncoder::Refused> ExtendedEncoder::add_compact(VarId id, std::uint64_t bytes) {
  constexpr unsigned kCompact = 0;
  if (bytes > kMostMessage)
    return Refused(
        {LeftOutReason::kTooLarge, joined_text("the compact values have ", bytes, " bytes")});
  std::vector<std::byte> values(bytes);
  if (bytes > 0) NMB_TRY(block_.extent->read_at(metadata_.begin(id), values));
  header_.begin(HeaderMessage::kLayout);
  Hdf5Bytes& out = header_.bytes();
  out.put8(kLayoutOfVersion3);
  out.put8(kCompact);
  out.put16(bytes);
  out.put(std::span<const std::byte>(values));
  if (!header_.end())
    return Refused(
        {LeftOutReason::kTooLarge, joined_text("the compact values have ", bytes, " bytes")});
  return Refused();
}

Result<ExtendedEncoder::Refused> ExtendedEncoder::add_contiguous(VarId id, std::uint64_t bytes,
                                                                 bool is_stored,
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

// Shows an array in chunks of whole rows of the slowest dimension. A chunk of a record variable has
// one row. Other arrays have the least number of equal chunks.
Result<ExtendedEncoder::Refused> ExtendedEncoder::add_rows(VarId id, const Space& space,
                                                           const Creation& creation) {
  const std::uint64_t rows = space.lengths[0];
  const bool has_records = metadata_.is_record_variable(id);
  std::uint64_t row = metadata_.value_size(metadata_.variable(id).type);
  for (std::size_t i = 1; i < space.lengths.size(); ++i) row *= space.lengths[i];
  const auto too_large = [&] {
    return Refused({LeftOutReason::kTooLarge, joined_text(rows, " rows of ", row,
                                                          " bytes need too many chunks")});
  };
  if (row > kMostChunkBytes) return too_large();
  constexpr std::uint64_t kMostParts = 65536;
  const std::uint64_t fits = kMostChunkBytes / row;
  std::uint64_t parts = has_records ? rows : (rows + fits - 1) / fits;
  while (parts <= kMostParts && rows % parts != 0) ++parts;
  if (parts > (has_records ? kMostChunks : kMostParts)) return too_large();
  ChunkGrid grid{space.lengths, std::vector<std::uint64_t>(space.lengths.size(), 1)};
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

// Returns the end of the hole in which bytes of the extent lie, or 0 if some of the bytes are
// stored.
std::uint64_t ExtendedEncoder::end_of_hole(std::uint64_t offset, std::uint64_t bytes) const {
  if (!places_.ok()) return 0;
  const Result<std::uint64_t> found = places_->find(offset, bytes);
  return found.ok() && *found == 0 ? places_->run_end(offset) : 0;
}

Result<ExtendedEncoder::Refused> ExtendedEncoder::add_chunks(VarId id, const Storage& storage,
                                                             const Space& space) {
  constexpr std::uint64_t kRows = 4096;  // rows of the table that are read at a time
  ChunkGrid grid{storage.chunk, {}};
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < grid.chunk.size(); ++i) {
    grid.counts.push_back((space.lengths[i] + grid.chunk[i] - 1) / grid.chunk[i]);
    if (!checked_mul(count, grid.counts[i], &count) ||
        count > storage.region_length / ChunkRow::kLength)
      return failure(Code::kDamaged, "found a table of chunks that is too short");
  }
  const std::uint64_t begin = metadata_.begin(id);
  const ChunkTable table(std::make_shared<RangeSource>(block_.extent, begin, storage.region_length),
                         storage, metadata_.value_size(metadata_.variable(id).type));
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
        return Refused({LeftOutReason::kTooLarge, chunks.size() == kMostChunks
                            ? joined_text("more than ", kMostChunks, " chunks are stored")
                            : joined_text("chunk ", first + i, " has ", row.stored_length,
                                          " bytes")});
      const Result<std::uint64_t> position = places_->find(begin + row.offset, row.stored_length);
      if (!position.ok()) {
        if (position.status().code() != Code::kUnsupported) return position.status();
        return Refused({LeftOutReason::kPieces, position.status().message()});
      }
      if (*position == 0)
        return Refused({LeftOutReason::kUnwritten, joined_text("the bytes of chunk ", first + i, " were never written")});
      chunks.push_back(
          {first + i, *position, static_cast<std::uint32_t>(row.stored_length), row.filter_mask});
    }
  }
  return add_chunked(id, chunks, grid);
}

Result<ExtendedEncoder::Refused> ExtendedEncoder::add_chunked(VarId id,
                                                              const std::vector<ViewChunk>& chunks,
                                                              const ChunkGrid& grid) {
  constexpr unsigned kChunkedLayout = 2;
  const std::uint64_t size = metadata_.value_size(metadata_.variable(id).type);
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

ExtendedEncoder::Refused ExtendedEncoder::add_filters(const std::vector<Filter>& filters) {
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

// Adds the comment of an object. If several hard links lead to the object, adds their number.
Status ExtendedEncoder::add_shared_messages(VarId owner, const Digest& key, ObjectHeader& header) {
  if (const Property* p = properties_.find(Number::kComment, owner)) {
    header.begin(HeaderMessage::kComment);
    header.bytes().put(std::span<const std::byte>(p->bytes));
    header.bytes().put8(0);
    if (!header.end()) {
      header.drop();
      NMB_TRY(
          leave_out(object("comment of", owner == kGlobal ? "" : metadata_.variable(owner).name),
                    LeftOutReason::kTooLarge,
                    joined_text("the comment has ", p->bytes.size(), " bytes")));
    }
  }
  add_link_count(key, header);
  return {};
}

void ExtendedEncoder::add_link_count(const Digest& key, ObjectHeader& header) const {
  const std::uint32_t links = shared_.before.links(key);
  if (links == 1) return;
  header.begin(HeaderMessage::kLinkCount);
  header.bytes().put8(0);
  header.bytes().put32(links);
  (void)header.end();
}

Status ExtendedEncoder::add_attributes(const Metadata& metadata, VarId owner,
                                       const std::string& object, bool has_properties,
                                       ObjectHeader& header) {
  std::uint32_t number = 0;
  add_attribute_info(header, metadata.attribute_count(owner),
                     has_properties ? properties_.order(owner).attributes : 0);
  return metadata.try_each_attribute(owner, [&](const Attribute& attribute) -> Status {
    Space space = hdf5::usual_space(attribute);
    CharacterSet characters = hdf5::usual_character_set(attribute.name);
    if (has_properties) {
      NMB_ASSIGN(space, properties_.space(owner, number, attribute));
      if (const Property* p = properties_.find(Number::kCharacterSet, owner, number))
        characters = p->character_set;
    }
    std::vector<std::byte> bytes;
    const Attribute shown =
        has_properties && owner != kGlobal ? renumbered(owner, attribute, &bytes) : attribute;
    return add_attribute(shown, number++, space, characters, object, header);
  });
}

Status ExtendedEncoder::add_attribute(const Attribute& attribute, std::uint32_t number,
                                      const Space& space, CharacterSet characters,
                                      const std::string& object, ObjectHeader& header) {
  const auto left_out = [&](LeftOutReason reason, std::string why) {
    return leave_out(
        joined_text(object, ", attribute \"", printable(attribute.name.substr(0, 80)), "\""),
        reason, std::move(why));
  };
  if (attribute.name.empty() || attribute.name.find('\0') != attribute.name.npos)
    return left_out(LeftOutReason::kName, "the name is empty or has a NUL");
  if (attribute.name.size() >= kMostMessage || attribute.values.size() > 16 * kMostMessage ||
      number > kMostMessage || space.lengths.size() > kMostRank)
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the attribute has ", attribute.values.size(), " bytes"));
  Hdf5Bytes type, extent, values;
  const Result<bool> is_named = put_named_or_plain(attribute.type, type);
  if (!is_named.ok()) {
    if (is_named.status().code() != Code::kUnsupported) return is_named.status();
    return left_out(LeftOutReason::kType, is_named.status().message());
  }
  put_space(space, extent);
  // Check the length first, so that an attribute that is too long adds no objects to a heap.
  const std::uint64_t size = hdf5::memory_size(types_, attribute.type, hdf5::kStringInFile);
  if (size * attribute.count > kMostMessage)
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the attribute has ", size * attribute.count, " bytes"));
  const Status converted = values_.put(attribute, values);
  if (!converted.ok()) {
    if (converted.code() != Code::kUnsupported) return converted;
    return left_out(values_.reason(), converted.message());
  }
  header.begin(HeaderMessage::kAttribute, 0, number);
  Hdf5Bytes& out = header.bytes();
  put_attribute_prefix(out, attribute.name, type.size(), extent.size(),
                       characters == CharacterSet::kUtf8, *is_named);
  out.put(type.bytes());
  out.put(extent.bytes());
  out.put(values.bytes());
  if (header.end()) return {};
  header.drop();
  return left_out(LeftOutReason::kTooLarge,
                  joined_text("the attribute has ", values.size(), " bytes"));
}

// netCDF tells the dimensions of a file apart by their numbers. Each source file of blocks gets a
// range of numbers, so adds the first number of the range.
Attribute ExtendedEncoder::renumbered(VarId owner, const Attribute& attribute,
                                      std::vector<std::byte>* bytes) const {
  const std::uint64_t first = shared_.before.first_dimension(source_);
  if (first == 0 || (attribute.name != kDimensionId && attribute.name != kCoordinates))
    return attribute;
  const std::vector<std::int64_t> numbers = integers(metadata_, owner, attribute.name);
  if (numbers.size() != attribute.count) return attribute;
  Attribute shown = attribute;
  const bool swapped = types_.is_swapped(attribute.type);
  bytes->assign(attribute.values.begin(), attribute.values.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0) continue;
    const auto number = static_cast<std::uint32_t>(static_cast<std::uint64_t>(numbers[i]) + first);
    swapped ? store_le(bytes->data() + 4 * i, number) : store_be(bytes->data() + 4 * i, number);
  }
  shown.values = *bytes;
  return shown;
}

// Adds the links that lead to no new object, and notes the order of all links of the group.
Status ExtendedEncoder::arrange_links(ViewGroup* group) {
  const Property* const p = properties_.find(Number::kLinks);
  if (!p) return {};
  for (const Link& link : p->links) {
    if (link.kind == LinkKind::kVariable) {
      if (link.number >= metadata_.variable_count())
        return failure(Code::kDamaged, object("group", ""), ": found a link to variable ",
                       link.number, ", but the block has only ", metadata_.variable_count(),
                       " variables");
      if (is_shown_[link.number])
        group->order.push_back(
            {std::string(metadata_.variable(link.number).name), link.character_set});
      continue;
    }
    NMB_TRY(add_link(link, group));
    if (!left_out_links_.contains(link.name))
      group->order.push_back({link.name, link.character_set});
  }
  return {};
}

Status ExtendedEncoder::add_link(const Link& link, ViewGroup* group) {
  const auto left_out = [&](LeftOutReason reason, std::string why) {
    left_out_links_.insert(link.name);
    return leave_out(object("link", link.name), reason, std::move(why));
  };
  if (link.content.size() + link.name.size() > kMostMessage / 2)
    return left_out(LeftOutReason::kTooLarge, joined_text("the link has ", link.content.size(), " bytes"));
  switch (link.kind) {
    case LinkKind::kVariable:
    case LinkKind::kGroup:
    case LinkKind::kType:
      return {};
    case LinkKind::kSoft:
      group->links.add(link.name, kSoftLink, link.content, link.character_set);
      return {};
    case LinkKind::kExternal: {
      std::string content(1, static_cast<char>(link.number & 0xF));
      content += link.content;
      content += '\0';
      group->links.add(link.name, kExternalLink, content, link.character_set);
      return {};
    }
    case LinkKind::kHard: {
      const Digest target = KnownObjects::key_of_path(relative(link.content));
      shared_.now.count_hard_link(target);
      if (shared_.before.is_absent(target))
        return left_out(LeftOutReason::kLink, "the view leaves out the object of the link");
      group->links.add(link.name, shared_.before.address(target), link.character_set);
      return {};
    }
    case LinkKind::kUserDefined:
      if (link.number < kExternalLink + 1 || link.number > 255)
        return failure(Code::kDamaged, object("link", link.name), ": found link class ", link.number,
                       ", expected 65 to 255");
      group->links.add(link.name, static_cast<std::uint8_t>(link.number), link.content,
                       link.character_set);
      return {};
  }
  return {};
}

}  // namespace nmb
