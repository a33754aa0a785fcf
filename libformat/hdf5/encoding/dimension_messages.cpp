#include "encoding/dimension_messages.h"

#include <span>

#include "hdf5_types/netcdf_marks.h"

namespace nmb {

void add_dimension_messages(ObjectHeader& header, std::uint64_t length, bool grows) {
  constexpr unsigned kConstant = 1, kFillVersion = 3, kWriteIfSet = 2 << 2;
  constexpr unsigned kAllocateLate = 2, kAllocateByChunk = 3;
  constexpr unsigned kLayoutVersion = 3, kContiguous = 1, kChunked = 2;
  Hdf5Bytes& out = header.bytes();
  header.begin(HeaderMessage::kDataspace);
  put_simple_space(out, std::span(&length, 1), grows);
  (void)header.end();
  header.begin(HeaderMessage::kDatatype, kConstant);
  put_type(out, Type::kFloat);
  (void)header.end();
  header.begin(HeaderMessage::kFillValue);
  out.put8(kFillVersion);
  out.put8(kWriteIfSet | (grows ? kAllocateByChunk : kAllocateLate));
  (void)header.end();
  header.begin(HeaderMessage::kLayout);
  out.put8(kLayoutVersion);
  out.put8(grows ? kChunked : kContiguous);
  if (grows) out.put8(2);
  out.put64(kUndefinedAddress);
  if (grows) {
    out.put32(1);
    out.put32(4);
  } else {
    out.put64(length * 4);
  }
  (void)header.end();
}

std::string text_of_dimension(std::uint64_t length) {
  std::string text = std::to_string(length);
  text.insert(0, text.size() < 10 ? 10 - text.size() : 0, ' ');
  text.insert(0, ". ");
  text.insert(0, kNotAVariable);
  return text;
}

void add_dimension_number(ObjectHeader& header, std::uint64_t number, std::uint64_t index) {
  header.begin(HeaderMessage::kAttribute, 0, index);
  Hdf5Bytes& out = header.bytes();
  put_attribute_prefix(out, kDimensionId, 12, 4);
  put_int32_type(out);
  put_scalar_space(out);
  out.put32(number);
  (void)header.end();  // fits, because the message has a fixed size
}

bool add_scale_attributes(ObjectHeader& header, std::string_view name, std::uint64_t text_bytes,
                          std::optional<std::uint64_t> number) {
  constexpr std::string_view kScale = "DIMENSION_SCALE";
  add_attribute_info(header, number ? 3 : 2);
  bool fits = add_text_attribute(header, kScaleClass, kScale, kScale.size() + 1);
  fits &= add_text_attribute(header, kScaleName, name, text_bytes);
  if (number) add_dimension_number(header, *number);
  return fits;
}

}  // namespace nmb
