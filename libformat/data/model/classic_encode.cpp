// Encodes classic netCDF headers (spec/classic_header.md, grammar).
#include <cassert>
#include <cstring>
#include <string>

#include "files/sink.h"
#include "model/classic.h"
#include "model/classic_grammar.h"
#include "model/extension_codec.h"
#include "model/name_rules.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

class ClassicEncoder {
 public:
  ClassicEncoder(const Metadata& metadata, Kind kind, const Sink::Emit& emit)
      : metadata_(metadata), kind_(kind), widths_(classic::widths(kind)), sink_(emit) {}

  Status encode(std::uint64_t records) {
    sink_.put_be<std::uint32_t>(0x43444600 | static_cast<std::uint32_t>(kind_));
    if (records == kStreamingRecords)
      records = classic::streaming(kind_);
    else if (records >= classic::streaming(kind_))
      refuse("records", records);
    put_count(records, "records");
    if (kind_ == Kind::kExtended) put_count(0, "header");  // length of the header, set later
    put_dimensions();
    put_attributes(kGlobal);
    put_list(classic::kVariableTag, metadata_.variable_count());
    for (VarId id = 0; id < metadata_.variable_count() && status_.ok(); ++id) put_variable(id);
    NMB_TRY(status_);
    return sink_.finish();
  }

 private:
  void refuse(std::string_view what, std::uint64_t value) {
    if (status_.ok())
      status_ = failure(Code::kUnsupported, in_quotes(what), ": found ", value,
                        ", expected a number that CDF-", static_cast<unsigned>(kind_), " can hold");
  }
  // what: the object that a message names.
  void put_count(std::uint64_t value, std::string_view what) {
    if (widths_.count == 8) return sink_.put_be(value);
    if (value > classic::kMaxU32) refuse(what, value);
    sink_.put_be(static_cast<std::uint32_t>(value));
  }
  void put_list(std::uint32_t tag, std::uint64_t count) {
    sink_.put_be(count == 0 ? classic::kAbsentTag : tag);
    put_count(count, "list");
  }
  void put_padded(const void* bytes, std::size_t count) {
    constexpr std::uint32_t kZero = 0;
    constexpr std::size_t kShort = 256;
    if (count > 0 && count <= kShort) {
      const auto whole = classic::padded(count);
      std::byte* const room = sink_.claim(whole);
      std::memcpy(room + whole - sizeof kZero, &kZero, sizeof kZero);
      std::memcpy(room, bytes, count);
      return;
    }
    sink_.put(bytes, count);
    sink_.put(&kZero, classic::padded(count) - count);
  }
  void put_name(std::string_view name) {
    put_count(name.size(), "name");
    put_padded(name.data(), name.size());
  }
  void put_type(std::string_view name, Type type) {
    const auto code = static_cast<std::uint32_t>(type);
    if (!classic::has_type(kind_, code) &&
        !(kind_ == Kind::kExtended && metadata_.extension()->types.has(type)))
      refuse(name, code);
    sink_.put_be(code);
  }

  void put_dimensions() {
    put_list(classic::kDimensionTag, metadata_.dimension_count());
    for (DimId id = 0; id < metadata_.dimension_count(); ++id) {
      const Dimension dimension = metadata_.dimension(id);
      put_name(dimension.name);
      put_count(dimension.is_record() ? 0 : dimension.length, dimension.name);
    }
  }

  void put_attributes(VarId owner) {
    put_list(classic::kAttributeTag, metadata_.attribute_count(owner));
    metadata_.for_each_attribute(owner, [this](const Attribute& attribute) {
      put_name(attribute.name);
      put_type(attribute.name, attribute.type);
      put_count(attribute.count, attribute.name);
      if (TypeTable::is_extended(attribute.type))
        put_count(attribute.values.size(), attribute.name);
      put_padded(attribute.values.data(), attribute.values.size());
    });
  }

  void put_variable(VarId id) {
    const Variable variable = metadata_.variable(id);
    put_name(variable.name);
    put_count(variable.dimensions.size(), variable.name);
    for (const DimId dimension : variable.dimensions) put_count(dimension, variable.name);
    put_attributes(id);
    put_type(variable.name, variable.type);
    const std::optional<std::uint64_t> bytes = metadata_.slice_bytes(id);
    if (!bytes || *bytes > classic::kMaxOffset - 3) {
      status_ = Status(Code::kLimit, "variable " + in_quotes(variable.name) +
                                         ": found a size of more than 2^63 - 4 bytes");
      return;
    }
    put_count(classic::vsize(kind_, *bytes), variable.name);
    if (variable.begin > classic::largest_begin(kind_)) refuse(variable.name, variable.begin);
    if (widths_.offset == 8)
      sink_.put_be(variable.begin);
    else
      sink_.put_be(static_cast<std::uint32_t>(variable.begin));
  }

  const Metadata& metadata_;
  const Kind kind_;
  const classic::Widths widths_;
  Sink sink_;
  Status status_;
};

}  // namespace

Status encode_classic_header(const Metadata& metadata, Kind kind, std::uint64_t records,
                             const std::function<Status(std::span<const std::byte>)>& emit) {
  if (!is_classic(kind))
    return failure(Code::kUnsupported, "found body kind ", static_cast<unsigned>(kind),
                   ", expected a classic one");
  return ClassicEncoder(metadata, kind, emit).encode(records);
}

Result<std::vector<std::byte>> encode_extended_body(const Metadata& metadata,
                                                    std::uint64_t records) {
  assert(metadata.extension());
  std::vector<std::byte> body;
  const Sink::Emit emit = [&](std::span<const std::byte> piece) {
    body.insert(body.end(), piece.begin(), piece.end());
    return Status();
  };
  NMB_TRY(ClassicEncoder(metadata, Kind::kExtended, emit).encode(records));
  constexpr std::size_t kLengthField = 12;  // offset of the length, after magic and numrecs
  store_be(body.data() + kLengthField, std::uint64_t{body.size()});
  body.resize(round_up(body.size(), 8));
  append_sections(*metadata.extension(), &body);
  return body;
}

}  // namespace nmb
