// Computes the positions of variables' elements, and checks selections (spec/format.md, section
// 10).
#include <algorithm>
#include <string>

#include "model/name_rules.h"
#include "model/values.h"
#include "values/run_cursor.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {
namespace {

Status usage(std::size_t d, const std::string& found, const std::string& expected) {
  return failure(Code::kUsage, "hyperslab, dimension ", d, ": found ", found, ", expected ",
                 expected);
}

}  // namespace

Result<VariableShape> find_shape(const Metadata& metadata, const ClassicLayout& layout,
                                 VarId variable, std::uint64_t records) {
  const Variable v = metadata.variable(variable);
  if (v.begin < layout.header_length)
    return Status(
        Code::kDamaged, {}, v.begin, "R-CH-13",
        joined_text("found begin ", v.begin, ", which is in the header, expected at least ",
                    layout.header_length));
  const bool is_record = metadata.is_record_variable(variable);
  VariableShape shape;
  shape.element_size = metadata.value_size(v.type);
  shape.begin = v.begin - layout.header_length;
  shape.record_size = is_record ? layout.record_size : 0;
  shape.lengths.reserve(v.dimensions.size());
  for (DimId dim : v.dimensions) shape.lengths.push_back(metadata.dimension(dim).length);
  if (is_record) shape.lengths[0] = records;

  const auto slice = metadata.slice_bytes(variable);
  std::uint64_t bytes = slice.value_or(0), end = 0;
  bool fits = slice.has_value();
  // The offset of every element and the number of elements must fit into 64 bits.
  if (fits && is_record) fits = checked_mul(records, std::max(bytes, layout.record_size), &bytes);
  if (!fits || !checked_add(bytes, shape.begin, &end))
    return Status(Code::kDamaged, {}, v.begin, "R-CH-14",
                  "found a variable with 2^64 bytes or more");
  return shape;
}

Result<VariableShape> shape_of(const Metadata& metadata, const ClassicLayout& layout,
                               VarId variable, std::uint64_t records) {
  Result<VariableShape> shape = find_shape(metadata, layout, variable, records);
  if (shape.ok()) return shape;
  return shape.status().of_object(joined_text("variable ", metadata.variable(variable).name));
}

Status check_hyperslab(const VariableShape& shape, const Hyperslab& slab, bool may_grow) {
  const std::size_t rank = shape.lengths.size();
  if (slab.start.size() != rank || slab.count.size() != rank ||
      (!slab.stride.empty() && slab.stride.size() != rank))
    return failure(Code::kUsage, "hyperslab: found ", slab.start.size(), " starts, ",
                   slab.count.size(), " counts and ", slab.stride.size(), " strides, expected ",
                   rank);
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::uint64_t start = slab.start[d], count = slab.count[d], stride = stride_of(slab, d);
    const std::uint64_t given = slab.stride.empty() ? 1 : slab.stride[d];
    if (given == 0) return usage(d, "stride 0", "at least 1");
    for (const std::uint64_t number : {start, count, given})
      if (const auto negative = static_cast<std::int64_t>(number); negative < 0)
        return usage(d, std::to_string(negative), "no negative number");
    const bool grows = d == 0 && may_grow && shape.record_size > 0;
    std::uint64_t end = start;
    bool fits = true;
    if (count > 0)
      fits = checked_mul(count - 1, stride, &end) && checked_add(end, start, &end) &&
             checked_add(end, 1, &end);
    if (fits && grows) {
      std::uint64_t bytes = 0;
      fits = checked_mul(end, shape.record_size, &bytes) && checked_add(bytes, shape.begin, &bytes);
    }
    if (!fits || (end > shape.lengths[d] && !grows))
      return usage(d, joined_text("start ", start, ", count ", count, ", stride ", stride),
                   grows ? "records that end within 2^64 bytes"
                         : joined_text("a selection within ", shape.lengths[d]));
    if (!checked_mul(elements, count, &elements))
      return usage(d, joined_text("count ", count), "fewer than 2^64 elements");
  }
  return {};
}

Status check_count(std::uint64_t values, std::uint64_t expected) {
  if (values == expected) return {};
  return failure(Code::kUsage, "found ", values, " values, expected ", expected);
}

Status check_not_null(ConstArray values, std::string_view object, std::string_view name) {
  if (!values.is_null()) return {};
  return Status(Code::kUsage,
                joined_text(object, " ", in_quotes(name), ": the text is a null pointer"));
}

std::uint64_t element_count(const Hyperslab& slab) {
  std::uint64_t elements = 1;
  for (std::uint64_t count : slab.count) elements *= count;
  return elements;
}

}  // namespace nmb
