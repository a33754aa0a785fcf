// Computes the positions of the header and the values in a new classic dataset (spec/format.md,
// "Classic header", canonical begins).
#include <string>

#include "model/classic.h"
#include "model/classic_grammar.h"
#include "model/name_rules.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using classic::padded;

std::string kind_text(Kind kind) { return joined_text("CDF-", static_cast<unsigned>(kind)); }

Status unsupported(Kind kind, const std::string& object, const std::string& found,
                   std::uint64_t most) {
  return failure(Code::kUnsupported, object, ": found ", found, ", expected at most ", most, " in ",
                 kind_text(kind));
}

std::string variable_text(const Metadata& metadata, VarId id) {
  return "variable " + in_quotes(metadata.variable(id).name);
}

// Adds the encoded length of an attribute list to *length. Fails if the kind cannot hold the list.
Status add_attribute_list(const Metadata& metadata, VarId owner, Kind kind, std::uint64_t* length) {
  const classic::Widths widths = classic::widths(kind);
  Status status;
  *length += widths.list();
  metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
    if (!classic::has_type(kind, attribute.type))
      status = failure(Code::kUnsupported, "attribute ", in_quotes(attribute.name), ": found type ",
                       type_name(attribute.type), ", expected one of ", kind_text(kind));
    *length += widths.count + padded(attribute.name.size()) + widths.list() +
               padded(attribute.values.size());
  });
  return status;
}

// Computes the header's length. Fails for lengths and types that the kind cannot hold. The sum
// cannot overflow, because heaps have at most 4 GiB, and there are fewer than 2^31 dimensions,
// variables and attributes each.
Status measure_header(const Metadata& metadata, Kind kind, std::uint64_t* length) {
  const classic::Widths widths = classic::widths(kind);
  *length = 4 + widths.count + 2 * widths.list();
  // PnetCDF makes dimensions of up to 2^31 - 1 in CDF-1, netCDF-C only of up to 2^31 - 4.
  const std::uint64_t longest = kind == Kind::kCdf1 ? 0x7FFFFFFF : classic::largest_variable(kind);
  for (DimId id = 0; id < metadata.dimension_count(); ++id) {
    const Dimension dimension = metadata.dimension(id);
    if (dimension.length == 0)
      return Status(Code::kUnsupported, "dimension " + in_quotes(dimension.name) +
                                            ": found length 0, expected at least 1 in " +
                                            kind_text(kind));
    if (dimension.length > longest && !dimension.is_record() && kind != Kind::kCdf5)
      return unsupported(kind, "dimension " + in_quotes(dimension.name),
                         joined_text("length ", dimension.length), longest);
    *length += widths.count + padded(dimension.name.size()) + widths.count;
  }
  NMB_TRY(add_attribute_list(metadata, kGlobal, kind, length));
  for (VarId id = 0; id < metadata.variable_count(); ++id) {
    const Variable variable = metadata.variable(id);
    if (!classic::has_type(kind, variable.type))
      return failure(Code::kUnsupported, variable_text(metadata, id), ": found type ",
                     type_name(variable.type), ", expected one of ", kind_text(kind));
    *length += widths.count + padded(variable.name.size()) + widths.count +
               variable.dimensions.size() * widths.count + 4 + widths.count + widths.offset;
    NMB_TRY(add_attribute_list(metadata, id, kind, length));
  }
  return {};
}

}  // namespace

Result<ClassicLayout> layout_classic(Metadata& metadata, Kind kind) {
  if (!is_classic(kind))
    return failure(Code::kUnsupported, "found body kind ", static_cast<unsigned>(kind),
                   ", expected a classic one");
  ClassicLayout layout;
  layout.kind = kind;
  NMB_TRY(measure_header(metadata, kind, &layout.header_length));

  const std::uint32_t count = metadata.variable_count();
  classic::LargeVariables large(kind);
  std::uint64_t next = layout.header_length, record_variables = 0;
  // Gives a variable the position `next`.
  const auto place = [&](VarId id) -> Status {
    const std::optional<std::uint64_t> bytes = metadata.slice_bytes(id);
    if (!bytes || *bytes > classic::kMaxOffset - 3 || padded(*bytes) > classic::kMaxOffset - next)
      return Status(Code::kLimit,
                    variable_text(metadata, id) + ": found values that end after byte 2^63 - 1");
    if (next > classic::largest_begin(kind))
      return unsupported(kind, variable_text(metadata, id), joined_text("begin ", next),
                         classic::largest_begin(kind));
    large.add(id, *bytes, metadata.is_record_variable(id));
    metadata.set_begin(id, next);
    next += padded(*bytes);
    layout.record_size = *bytes;
    return {};
  };
  for (VarId id = 0; id < count; ++id)
    if (!metadata.is_record_variable(id)) NMB_TRY(place(id));
  layout.record_size = 0;
  layout.fixed_end = layout.record_begin = next;
  for (VarId id = 0; id < count; ++id) {
    if (!metadata.is_record_variable(id)) continue;
    NMB_TRY(place(id));
    ++record_variables;
  }
  // The only record variable needs no padding, so the record size equals the size of its slice.
  if (record_variables > 1) layout.record_size = next - layout.record_begin;
  if (const std::optional<VarId> wrong = large.misplaced(); wrong && kind != Kind::kCdf5)
    return unsupported(kind, variable_text(metadata, *wrong),
                       joined_text(*metadata.slice_bytes(*wrong), " bytes before other variables"),
                       classic::largest_variable(kind));
  return layout;
}

}  // namespace nmb
