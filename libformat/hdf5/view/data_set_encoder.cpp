#include "view/data_set_encoder.h"

#include <algorithm>

#include "encoding/chunk_tree.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "model/text.h"
#include "model/values.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr unsigned kConstant = 1;  // flag of a message
constexpr unsigned kLayoutVersion = 3, kContiguous = 1, kChunked = 2;
constexpr unsigned kFillVersion = 3, kFillDefined = 0x20, kWriteIfSet = 2 << 2;
constexpr unsigned kAllocateLate = 2, kAllocateByChunk = 3;

}  // namespace

std::string DataSetEncoder::object(std::string_view kind, std::string_view name) const {
  return joined_text(kind, " \"", printable(joined_path(entry_.name, name)), "\"");
}

Status DataSetEncoder::refused(const std::string& object, const std::string& found,
                               const std::string& expected) const {
  return Status(Code::kUnsupported,
                "HDF5 view: " + object + ": found " + found + ", expected " + expected);
}

Status DataSetEncoder::too_long(const std::string& object) const {
  return refused(object, "an attribute with its name and values of more than 65535 bytes",
                 "at most 65535 bytes in an HDF5 message");
}

std::uint64_t DataSetEncoder::length(DimId id) const {
  const Dimension dimension = metadata_.dimension(id);
  return dimension.is_record() ? entry_.records : dimension.length;
}

Status DataSetEncoder::encode(ViewGroup* group) {
  const std::uint32_t dimensions = shared_.dimensions ? metadata_.dimension_count() : 0;
  if (!shared_.references.grow(dimensions))
    return Status(Code::kDamaged, "", kNoOffset, "R-SB-8",
                  "found more dimensions than the superblock's totals say");
  NMB_TRY(find_shown());
  dimensions_.find({}, is_shown_);
  NMB_TRY(dimensions_.encode(&group->links));
  for (VarId id = 0; id < metadata_.variable_count(); ++id)
    if (is_shown_[id]) NMB_TRY(encode_variable(id, &group->links));
  ObjectHeader attributes;
  const std::size_t empty = attributes.bytes().size();
  add_attribute_info(attributes, metadata_.attribute_count(kGlobal));
  NMB_TRY(add_attributes(kGlobal, attributes));
  const auto messages = attributes.bytes().bytes().subspan(empty);
  group->messages.assign(messages.begin(), messages.end());
  return {};
}

Status DataSetEncoder::encode_variable(VarId id, LinkList* links) {
  const Variable variable = metadata_.variable(id);
  const auto what = [&] { return object("variable", variable.name); };
  if (!is_type(static_cast<std::uint32_t>(variable.type)))
    return refused(what(), "a type of HDF5", "a type of classic netCDF");
  constexpr std::size_t kMostRank =
      31;  // HDF5 allows 32, and a chunk has one more dimension than its variable
  if (variable.dimensions.size() > kMostRank)
    return refused(what(), joined_text(variable.dimensions.size(), " dimensions"), "at most 31");
  const bool grows = metadata_.is_record_variable(id);
  const auto bytes = metadata_.array_bytes(id);
  if (!bytes) return refused(what(), "values of 2^64 bytes or more", "fewer bytes");
  // The tree of chunks is written before the header, because the header contains the tree's
  // address.
  header_.start();
  Hdf5Bytes& out = header_.bytes();
  std::vector<std::uint64_t> lengths;
  for (const DimId dimension : variable.dimensions) lengths.push_back(length(dimension));
  header_.begin(HeaderMessage::kDataspace);
  lengths.empty() ? put_scalar_space(out) : put_simple_space(out, lengths, grows);
  (void)header_.end();
  header_.begin(HeaderMessage::kDatatype, kConstant);
  put_type(out, variable.type);
  (void)header_.end();
  std::optional<Chunks> chunks;
  if (const std::uint64_t piece = piece_length(id); piece > 0) {
    NMB_ASSIGN(chunks, piece_chunks(id, piece));
  } else if (grows) {
    NMB_ASSIGN(chunks, record_chunks(id, *bytes));
  }
  NMB_TRY(add_fill_value(id, chunks.has_value()));
  NMB_TRY(chunks ? add_chunked(id, *chunks) : add_contiguous(id, *bytes));
  NMB_TRY(dimensions_.add_attributes(id));
  NMB_TRY(add_attributes(id, header_));
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  dimensions_.place(id, address);
  links->add(dimensions_.name_of(id), address);
  return {};
}

Status DataSetEncoder::add_fill_value(VarId id, bool has_chunks) {
  header_.begin(HeaderMessage::kFillValue);
  Hdf5Bytes& out = header_.bytes();
  const std::vector<std::byte> value = fill_value(metadata_, id);
  out.put8(kFillVersion);
  out.put8(kFillDefined | kWriteIfSet | (has_chunks ? kAllocateByChunk : kAllocateLate));
  out.put32(value.size());
  out.put(value);
  (void)header_.end();
  return {};
}

Status DataSetEncoder::add_contiguous(VarId id, std::uint64_t bytes) {
  std::uint64_t position = 0;
  if (bytes != 0) {
    const Result<std::uint64_t> found =
        places_.find(metadata_.begin(id) - layout_.header_length, bytes);
    if (!found.ok() && found.status().code() == Code::kUnsupported)
      return Status(Code::kUnsupported,
                    "HDF5 view: " + object("variable", metadata_.variable(id).name) + ": " +
                        found.status().message());
    NMB_ASSIGN(position, found);
  }
  header_.begin(HeaderMessage::kLayout);
  Hdf5Bytes& out = header_.bytes();
  out.put8(kLayoutVersion);
  out.put8(kContiguous);
  out.put64(position == 0 ? kUndefinedAddress : position);
  out.put64(bytes);
  (void)header_.end();
  return {};
}

// Returns the number of a variable's slices: its records, or 1 if it has no record dimension.
std::uint64_t DataSetEncoder::slices(VarId id) const {
  return metadata_.is_record_variable(id) ? entry_.records : 1;
}

// Returns the offset of a variable's slice in the extent.
std::uint64_t DataSetEncoder::offset(VarId id, std::uint64_t slice) const {
  return metadata_.begin(id) - layout_.header_length + slice * layout_.record_size;
}

// Returns the length of the first coded piece of a variable, or 0 if it has no coded piece.
std::uint64_t DataSetEncoder::piece_length(VarId id) const {
  const std::optional<std::uint64_t> bytes = metadata_.array_bytes(id);
  if (!places_.has_coded() || !bytes || *bytes == 0) return 0;
  for (std::uint64_t slice = 0; slice < slices(id); ++slice)
    if (const std::uint64_t length = places_.coded_length(offset(id, slice), *bytes); length > 0)
      return length;
  return 0;
}

// Checks the pieces of a variable. If some are coded, all of them must have the form of HDF5 chunks
// (see piece_chunks()); otherwise the values must be contiguous in the file, slice by slice.
// Errors: kUnsupported.
Status DataSetEncoder::check_pieces(VarId id) const {
  if (const std::uint64_t piece = piece_length(id); piece > 0)
    return piece_chunks(id, piece).status();
  const std::optional<std::uint64_t> bytes = metadata_.array_bytes(id);
  if (!bytes || *bytes == 0) return {};
  for (std::uint64_t slice = 0; slice < slices(id); ++slice)
    NMB_TRY(places_.find(offset(id, slice), *bytes).status());
  return {};
}

Status DataSetEncoder::find_shown() {
  is_shown_.assign(metadata_.variable_count(), true);
  if (!places_.has_coded()) return {};
  for (VarId id = 0; id < metadata_.variable_count(); ++id) {
    const Status status = check_pieces(id);
    if (status.ok()) continue;
    if (status.code() != Code::kUnsupported) return status;
    is_shown_[id] = false;
    if (shared_.on_left_out)
      NMB_TRY(shared_.on_left_out({.path = joined_path(entry_.name, metadata_.variable(id).name),
                                   .reason = LeftOutReason::kPieces,
                                   .why = status.message()}));
  }
  return {};
}

// Returns the chunks of a variable with coded pieces; the first piece has `piece` bytes. All pieces
// must be chunks of the same shape: before some dimension, the lengths of a chunk are 1; along that
// dimension, the length divides the variable's; after it, the lengths equal the variable's.
Result<DataSetEncoder::Chunks> DataSetEncoder::piece_chunks(VarId id, std::uint64_t piece) const {
  const Variable variable = metadata_.variable(id);
  const std::size_t rank = variable.dimensions.size();
  std::vector<std::uint64_t> lengths;
  for (const DimId dimension : variable.dimensions) lengths.push_back(length(dimension));
  Chunks out;
  out.has_filter = true;
  // The dimension along which chunks are cut, and the bytes of an element along it.
  std::size_t cut = rank;
  std::uint64_t row = 0, bytes = type_size(variable.type);
  for (std::size_t i = rank; i-- > 0 && bytes <= piece; bytes *= lengths[i]) {
    const std::uint64_t rows = piece / bytes;
    if (piece % bytes != 0 || rows > lengths[i] || lengths[i] % rows != 0) continue;
    cut = i;
    row = bytes;
  }
  const bool has_records = metadata_.is_record_variable(id);
  constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 24;
  const auto refuse = [] {
    return failure(Code::kUnsupported, "found compressed pieces that are not chunks of HDF5");
  };
  if (cut == rank || (has_records && cut == 0 && row != piece)) return refuse();
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint64_t chunk = i < cut ? 1 : i == cut ? piece / row : lengths[i];
    out.grid.chunk.push_back(chunk);
    out.grid.counts.push_back(lengths[i] / chunk);
  }
  const std::uint64_t in_slice = *metadata_.array_bytes(id) / piece;
  if (in_slice > kMostChunks / std::max<std::uint64_t>(slices(id), 1)) return refuse();
  for (std::uint64_t n = 0; n < in_slice * slices(id); ++n) {
    NMB_ASSIGN(const ValuePlaces::Stored stored,
               places_.find_chunk(offset(id, n / in_slice) + n % in_slice * piece, piece));
    if (stored.position != 0)
      out.chunks.push_back({n, stored.position, static_cast<std::uint32_t>(stored.length),
                            stored.is_coded ? 0u : 1u});
  }
  return out;
}

// Returns the chunks of a variable with records: one chunk for each record.
Result<DataSetEncoder::Chunks> DataSetEncoder::record_chunks(VarId id, std::uint64_t record_bytes) {
  const Variable variable = metadata_.variable(id);
  const auto what = [&] { return object("variable", variable.name); };
  if (record_bytes > ~std::uint32_t{0})
    return refused(what(), joined_text("records of ", record_bytes, " bytes"), "fewer than 2^32");
  constexpr std::size_t kMostRecords = 1
                                       << 24;  // limited, because the chunk tree is built in memory
  Chunks out;
  for (std::uint64_t record = 0; record < entry_.records && record_bytes != 0; ++record) {
    const Result<std::uint64_t> found = places_.find(offset(id, record), record_bytes);
    if (!found.ok())
      return found.status().code() == Code::kUnsupported
                 ? failure(Code::kUnsupported, "HDF5 view: ", what(), ", record ", record, ": ",
                           found.status().message())
                 : found.status();
    if (*found == 0) {  // continue with the record in which this hole ends
      const std::uint64_t hole = places_.run_end(offset(id, record)) - offset(id, 0);
      record = std::max(record + 1, hole / layout_.record_size) - 1;
      continue;
    }
    if (out.chunks.size() == kMostRecords)
      return refused(what(), joined_text("more than ", kMostRecords, " records"), "fewer");
    out.chunks.push_back({record, *found, static_cast<std::uint32_t>(record_bytes)});
    if (shared_.chunks + out.chunks.size() > shared_.most_chunks) break;  // refused below
  }
  out.grid = {{1}, {std::max<std::uint64_t>(entry_.records, 1)}};
  for (const DimId dimension : variable.dimensions.subspan(1)) {
    out.grid.chunk.push_back(length(dimension));
    out.grid.counts.push_back(1);
  }
  return out;
}

Status DataSetEncoder::add_chunked(VarId id, const Chunks& chunks) {
  constexpr unsigned kFiltersVersion = 2, kDeflate = 1, kOptional = 1, kUsualLevel = 6;
  shared_.chunks += chunks.chunks.size();
  if (shared_.chunks > shared_.most_chunks)
    return failure(Code::kUnsupported, "HDF5 view: found more than ", shared_.most_chunks,
                   " records of variables, which is too many for a view");
  NMB_ASSIGN(const std::uint64_t tree,
             append_chunk_tree(chunks.chunks, chunks.grid, shared_.node_rank, shared_.out));
  header_.begin(HeaderMessage::kLayout);
  Hdf5Bytes& out = header_.bytes();
  out.put8(kLayoutVersion);
  out.put8(kChunked);
  out.put8(static_cast<unsigned>(chunks.grid.chunk.size() + 1));
  out.put64(tree);
  for (const std::uint64_t length : chunks.grid.chunk) out.put32(length);
  out.put32(type_size(metadata_.variable(id).type));
  (void)header_.end();
  if (!chunks.has_filter) return {};
  header_.begin(HeaderMessage::kFilters);
  out.put8(kFiltersVersion);
  out.put8(1);
  out.put16(kDeflate);
  out.put16(kOptional);
  out.put16(1);  // number of parameters
  out.put32(kUsualLevel);
  (void)header_.end();
  return {};
}

Status DataSetEncoder::add_attributes(VarId owner, ObjectHeader& header) const {
  Status status;
  const auto of = [&] {
    return owner == kGlobal ? "block \"" + printable(entry_.name) + "\""
                            : object("variable", metadata_.variable(owner).name);
  };
  metadata_.for_each_attribute(owner, [&](const Attribute& attribute) {
    if (!status.ok()) return;
    const auto what = [&] { return of() + ", attribute \"" + printable(attribute.name) + "\""; };
    if (attribute.name.empty() || attribute.name.find('\0') != attribute.name.npos)
      status = refused(what(), "a name that HDF5 cannot hold", "a name without NUL");
    else if (attribute.name.size() > kMostNetcdfName)
      status = refused(of() + ", attribute \"" + printable(attribute.name.substr(0, 80)) + "\"",
                       joined_text("a name of ", attribute.name.size(), " bytes"),
                       joined_text("at most ", kMostNetcdfName));
    else if (owner != kGlobal && is_name_of_dimensions(attribute.name))
      status = refused(what(), "a name that netCDF-4 uses for dimensions", "another name");
    else if (!is_type(static_cast<std::uint32_t>(attribute.type)))
      status = refused(what(), "a type of HDF5", "a type of classic netCDF");
    else if (const bool fits =
                 attribute.type == Type::kChar
                     ? add_text_attribute(header, attribute.name,
                                          {reinterpret_cast<const char*>(attribute.values.data()),
                                           attribute.values.size()},
                                          attribute.values.size())
                     : add_number_attribute(header, attribute.name, attribute.type, attribute.count,
                                            attribute.values);
             !fits)
      status = too_long(what());
  });
  return status;
}

}  // namespace nmb
