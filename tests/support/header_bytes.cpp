// See header_bytes.h.
#include "support/header_bytes.h"

#include <algorithm>
#include <array>

namespace nmb::test {

namespace {

using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t limit) { return random() % limit; }

std::string random_name(Random& random, std::uint64_t number) {
  static constexpr std::array<std::string_view, 6> kParts = {
      "a", "lat", "temperature", "\xc3\xa9t\xc3\xa9", "b c", "x.y-z"};
  std::string name;
  for (std::uint64_t parts = below(random, 4); parts > 0; --parts)
    name += kParts[below(random, kParts.size())];
  return name + std::to_string(number);
}

Type random_type(Kind kind, Random& random) {
  return static_cast<Type>(1 + below(random, kind == Kind::kCdf5 ? 11 : 6));
}

void add_attributes(Metadata& metadata, VarId owner, Kind kind, Random& random) {
  const std::uint64_t count = below(random, 20) == 0 ? 40 : below(random, 4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Type type = random_type(kind, random);
    std::vector<std::byte> values(below(random, 7) * type_size(type));
    for (std::byte& value : values) value = static_cast<std::byte>(random());
    (void)metadata.put_att(owner, random_name(random, i), type, values).ok();
  }
}

std::string attributes_text(const Metadata& metadata, VarId owner) {
  std::string text;
  metadata.for_each_attribute(owner, [&](const Attribute& a) {
    text += std::string(a.name) + '\0' + std::string(type_name(a.type)) + '\0' +
            std::to_string(a.count) + '\0' +
            std::string(reinterpret_cast<const char*>(a.values.data()), a.values.size()) + '\0';
  });
  return text;
}

}  // namespace

Result<std::vector<std::byte>> encode(const Metadata& metadata, Kind kind, std::uint64_t records) {
  std::vector<std::byte> bytes;
  NMB_TRY(encode_classic_header(metadata, kind, records, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return Status();
  }));
  return bytes;
}

std::string difference(const Metadata& a, const Metadata& b) {
  if (a.dimension_count() != b.dimension_count()) return "number of dimensions";
  if (a.variable_count() != b.variable_count()) return "number of variables";
  if (a.record_dimension() != b.record_dimension()) return "record dimension";
  for (DimId id = 0; id < a.dimension_count(); ++id)
    if (a.dimension(id).name != b.dimension(id).name ||
        a.dimension(id).length != b.dimension(id).length)
      return "dimension " + std::to_string(id);
  if (attributes_text(a, kGlobal) != attributes_text(b, kGlobal)) return "global attributes";
  for (VarId id = 0; id < a.variable_count(); ++id) {
    const Variable x = a.variable(id), y = b.variable(id);
    if (x.name != y.name || x.type != y.type || x.begin != y.begin ||
        !std::ranges::equal(x.dimensions, y.dimensions))
      return "variable " + std::to_string(id);
    if (attributes_text(a, id) != attributes_text(b, id))
      return "attributes of variable " + std::to_string(id);
  }
  return {};
}

std::string reencoding_problem(const ClassicHeader& header, std::span<const std::byte> bytes) {
  const ClassicLayout& layout = header.layout;
  const bool streaming = layout.record_count == RecordCount::kStreaming;
  const auto again =
      encode(header.metadata, layout.kind, streaming ? kStreamingRecords : layout.records);
  if (!again.ok()) return again.status().text();
  if (again->size() != layout.header_length)
    return "encoded to " + std::to_string(again->size()) + " bytes, expected " +
           std::to_string(layout.header_length);
  const MemorySource source(*again);
  const auto decoded = decode_classic_header(source, {.values_follow = false});
  if (!decoded.ok()) return decoded.status().text();
  if (const std::string differs = difference(header.metadata, decoded->metadata); !differs.empty())
    return differs;
  const ClassicLayout& l = decoded->layout;
  if (l.header_length != layout.header_length || l.fixed_end != layout.fixed_end ||
      l.record_begin != layout.record_begin || l.record_size != layout.record_size ||
      l.record_count != layout.record_count || (!streaming && l.records != layout.records))
    return "layout";
  if (header.remark_count > header.remarks.size()) return {};
  for (const HeaderRemark& remark : header.remarks)
    if (remark.rule == "R-CH-6" || remark.rule == "R-CH-19" || remark.rule == "R-CH-20") return {};
  if (!std::ranges::equal(*again, bytes.first(layout.header_length))) return "bytes of the header";
  return {};
}

Metadata random_metadata(Kind kind, Random& random) {
  Metadata metadata;
  const std::uint64_t dimensions = below(random, 20) == 0 ? 50 : below(random, 6);
  const std::uint64_t record = below(random, 8);
  for (std::uint64_t i = 0; i < dimensions; ++i)
    (void)metadata.def_dim(random_name(random, i), i == record ? kUnlimited : 1 + below(random, 5))
        .ok();
  add_attributes(metadata, kGlobal, kind, random);
  const std::uint64_t variables = below(random, 20) == 0 ? 50 : below(random, 6);
  for (std::uint64_t i = 0; i < variables; ++i) {
    std::vector<DimId> shape;
    const std::optional<DimId> first = metadata.record_dimension();
    if (first && below(random, 2) == 0) shape.push_back(*first);
    for (std::uint64_t rank = dimensions == 0 ? 0 : below(random, 4); rank > 0; --rank) {
      const DimId id = static_cast<DimId>(below(random, dimensions));
      if (id != first) shape.push_back(id);
    }
    const auto id = metadata.def_var(random_name(random, i), random_type(kind, random), shape);
    if (id.ok()) add_attributes(metadata, *id, kind, random);
  }
  return metadata;
}

}  // namespace nmb::test
