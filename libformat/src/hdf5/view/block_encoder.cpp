// Writes the data sets of a block (see block_encoder.h).
#include "hdf5/view/block_encoder.h"

#include <algorithm>
#include <array>

#include "hdf5/bytes/chunk_tree.h"
#include "hdf5/bytes/dimension_messages.h"
#include "hdf5/model/netcdf_marks.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "nmb/text.h"
#include "nmb/values.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Attributes in which netCDF-4 stores metadata that classic netCDF stores in the header.
constexpr std::array<std::string_view, 6> kReserved{kScaleClass,      kScaleName,   kList,
                                                    "REFERENCE_LIST", kDimensionId, kCoordinates};
constexpr unsigned kConstant = 1;  // flag of a message
constexpr unsigned kLayoutVersion = 3, kContiguous = 1, kChunked = 2;
constexpr unsigned kFillVersion = 3, kFillDefined = 0x20, kWriteIfSet = 2 << 2;
constexpr unsigned kAllocateLate = 2, kAllocateByChunk = 3;

}  // namespace

std::string BlockEncoder::object(std::string_view kind, std::string_view name) const {
  return joined_text(kind, " \"", printable(joined_path(entry_.name, name)), "\"");
}

Status BlockEncoder::refused(const std::string& object, const std::string& found,
                             const std::string& expected) const {
  return Status(Code::kUnsupported,
                "HDF5 view: " + object + ": found " + found + ", expected " + expected);
}

Status BlockEncoder::too_long(const std::string& object) const {
  return refused(object, "an attribute with its name and values of more than 65535 bytes",
                 "at most 65535 bytes in an HDF5 message");
}

std::uint64_t BlockEncoder::length(DimId id) const {
  const Dimension dimension = metadata_.dimension(id);
  return dimension.is_record() ? entry_.records : dimension.length;
}

// For a variable with the name of dimension `id`, returns whether the first dimension of the
// variable is `id`.
bool BlockEncoder::is_coordinate(const Variable& variable, DimId id) const {
  return !variable.dimensions.empty() && variable.dimensions[0] == id;
}

Status BlockEncoder::encode(ViewGroup* group) {
  const std::uint32_t dimensions = metadata_.dimension_count();
  if (!shared_.references.grow(dimensions))
    return Status(Code::kDamaged, "", kNoOffset, "R-SB-8",
                  "found more dimensions than the superblock's totals say");
  coordinates_.assign(dimensions, kGlobal);
  for (DimId id = 0; id < dimensions; ++id) {
    const auto variable = metadata_.find_variable(metadata_.dimension(id).name);
    if (variable && is_coordinate(metadata_.variable(*variable), id)) coordinates_[id] = *variable;
  }
  for (DimId id = 0; id < dimensions; ++id)
    if (coordinates_[id] == kGlobal) NMB_TRY(encode_dimension(id, &group->links));
  for (VarId id = 0; id < metadata_.variable_count(); ++id)
    NMB_TRY(encode_variable(id, &group->links));
  ObjectHeader attributes;
  const std::size_t empty = attributes.bytes().size();
  add_attribute_info(attributes, metadata_.attribute_count(kGlobal));
  NMB_TRY(add_attributes(kGlobal, attributes));
  const auto messages = attributes.bytes().bytes().subspan(empty);
  group->messages.assign(messages.begin(), messages.end());
  shared_.next_dimension += dimensions;
  return {};
}

// Encodes a dimension without a variable as a data set without values.
Status BlockEncoder::encode_dimension(DimId id, LinkList* links) {
  const Dimension dimension = metadata_.dimension(id);
  const std::uint64_t count = length(id);
  constexpr std::uint64_t kMostLength = std::uint64_t{1} << 60;
  const auto what = [&] { return object("dimension", dimension.name); };
  if (count > kMostLength)
    return refused(what(), joined_text("length ", count), joined_text("at most ", kMostLength));
  header_.start();
  add_dimension_messages(header_, count, dimension.is_record());
  const std::string text = text_of_dimension(count);
  NMB_TRY(add_scale(text, text.size() + 1, id));
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  shared_.references.set(shared_.next_dimension + id, address);
  links->add(dimension.name, address);
  return {};
}

Status BlockEncoder::add_scale(std::string_view name, std::uint64_t text_bytes, DimId id) {
  if (add_scale_attributes(header_, name, text_bytes, shared_.first_number + id)) return {};
  return too_long(object("dimension", metadata_.dimension(id).name));
}

Status BlockEncoder::encode_variable(VarId id, LinkList* links) {
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
  NMB_TRY(add_fill_value(id, grows));
  NMB_TRY(grows ? add_chunked(id, *bytes) : add_contiguous(id, *bytes));
  std::string_view name = variable.name;
  std::string longer;
  const std::optional<DimId> dimension = metadata_.find_dimension(variable.name);
  const bool is_scale = dimension && coordinates_[*dimension] == id;
  if (!is_scale) add_attribute_info(header_, lengths.size() + metadata_.attribute_count(id));
  if (is_scale) {
    NMB_TRY(add_scale(name, name.size() + 1, *dimension));
  } else if (dimension) {
    longer = joined_text(kNonCoordinate, name);
    name = longer;
  }
  if (!lengths.empty() && (!is_scale || lengths.size() > 1)) NMB_TRY(add_coordinates(variable));
  if (!lengths.empty() && !is_scale) NMB_TRY(add_dimension_list(variable));
  NMB_TRY(add_attributes(id, header_));
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  if (is_scale) shared_.references.set(shared_.next_dimension + *dimension, address);
  links->add(name, address);
  return {};
}

Status BlockEncoder::add_fill_value(VarId id, bool grows) {
  header_.begin(HeaderMessage::kFillValue);
  Hdf5Bytes& out = header_.bytes();
  const std::vector<std::byte> value = fill_value(metadata_, id);
  out.put8(kFillVersion);
  out.put8(kFillDefined | kWriteIfSet | (grows ? kAllocateByChunk : kAllocateLate));
  out.put32(value.size());
  out.put(value);
  (void)header_.end();
  return {};
}

Status BlockEncoder::add_contiguous(VarId id, std::uint64_t bytes) {
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

Status BlockEncoder::add_chunked(VarId id, std::uint64_t record_bytes) {
  const Variable variable = metadata_.variable(id);
  const auto what = [&] { return object("variable", variable.name); };
  if (record_bytes > ~std::uint32_t{0})
    return refused(what(), joined_text("records of ", record_bytes, " bytes"), "fewer than 2^32");
  constexpr std::size_t kMostRecords = 1
                                       << 24;  // limited, because the chunk tree is built in memory
  std::vector<ViewChunk> chunks;
  const std::uint64_t first = variable.begin - layout_.header_length;
  for (std::uint64_t record = 0; record < entry_.records && record_bytes != 0; ++record) {
    const std::uint64_t offset = first + record * layout_.record_size;
    const Result<std::uint64_t> found = places_.find(offset, record_bytes);
    if (!found.ok())
      return found.status().code() == Code::kUnsupported
                 ? failure(Code::kUnsupported, "HDF5 view: ", what(), ", record ", record, ": ",
                           found.status().message())
                 : found.status();
    if (*found == 0) {  // continue with the record in which this hole ends
      record = std::max(record + 1, (places_.run_end(offset) - first) / layout_.record_size) - 1;
      continue;
    }
    if (++shared_.chunks > shared_.most_chunks)
      return failure(Code::kUnsupported, "HDF5 view: found more than ", shared_.most_chunks,
                     " records of variables, which is too many for a view");
    if (chunks.size() == kMostRecords)
      return refused(what(), joined_text("more than ", kMostRecords, " records"), "fewer");
    chunks.push_back({record, *found, static_cast<std::uint32_t>(record_bytes)});
  }
  const std::size_t rank = variable.dimensions.size();
  ViewGrid grid{{1}, {std::max<std::uint64_t>(entry_.records, 1)}};
  for (const DimId dimension : variable.dimensions.subspan(1)) {
    grid.chunk.push_back(length(dimension));
    grid.counts.push_back(1);
  }
  NMB_ASSIGN(const std::uint64_t tree,
             append_chunk_tree(chunks, grid, shared_.node_rank, shared_.out));
  header_.begin(HeaderMessage::kLayout);
  Hdf5Bytes& out = header_.bytes();
  out.put8(kLayoutVersion);
  out.put8(kChunked);
  out.put8(static_cast<unsigned>(rank + 1));
  out.put64(tree);
  for (const std::uint64_t length : grid.chunk) out.put32(length);
  out.put32(type_size(variable.type));
  (void)header_.end();
  return {};
}

Status BlockEncoder::add_coordinates(const Variable& variable) {
  header_.begin(HeaderMessage::kAttribute);
  Hdf5Bytes& out = header_.bytes();
  put_attribute_prefix(out, kCoordinates, 12, 12);
  put_int32_type(out);
  const std::uint64_t rank = variable.dimensions.size();
  put_simple_space(out, std::span(&rank, 1));
  for (const DimId dimension : variable.dimensions) out.put32(shared_.first_number + dimension);
  return header_.end() ? Status() : too_long(object("variable", variable.name));
}

Status BlockEncoder::add_dimension_list(const Variable& variable) {
  header_.begin(HeaderMessage::kAttribute);
  Hdf5Bytes& out = header_.bytes();
  put_attribute_prefix(out, kList, 16, 12);
  put_reference_list_type(out);
  const std::uint64_t rank = variable.dimensions.size();
  put_simple_space(out, std::span(&rank, 1));
  for (const DimId dimension : variable.dimensions)
    shared_.references.put_sequence(out, shared_.next_dimension + dimension);
  return header_.end() ? Status() : too_long(object("variable", variable.name));
}

Status BlockEncoder::add_attributes(VarId owner, ObjectHeader& header) const {
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
    else if (owner != kGlobal && std::ranges::count(kReserved, attribute.name) > 0)
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
