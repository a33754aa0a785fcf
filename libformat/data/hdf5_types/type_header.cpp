#include "hdf5_types/type_header.h"

#include <memory>
#include <utility>
#include <vector>

#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::size_t kLengthField = 12;  // offset of the header's length, after magic and numrecs

Result<std::size_t> header_length(std::span<const std::byte> header) {
  if (header.size() >= kLengthField + 8) {
    const auto length = load_be<std::uint64_t>(header.data() + kLengthField);
    if (length >= kLengthField + 8 && length <= header.size()) return length;
  }
  return failure(Code::kDamaged, "found no valid header of attributes in ", header.size(),
                 " bytes");
}

// Returns a body with the given definitions and the types section.
Result<std::vector<std::byte>> body_of(Metadata metadata, const TypeTable& types) {
  auto extension = std::make_shared<Extension>();
  extension->types = types;
  metadata.set_extension(std::move(extension));
  return encode_extended_body(metadata, 0);
}

}  // namespace

// Decodes a body that is assembled from `header` and from the sections of another body, which has
// only the types.
Result<ClassicHeader> decode_type_attributes(std::span<const std::byte> header,
                                             const TypeTable& types) {
  NMB_ASSIGN(const std::vector<std::byte> other, body_of(Metadata(), types));
  NMB_ASSIGN(const std::size_t own, header_length(other));
  NMB_ASSIGN(const std::size_t length, header_length(header));
  std::vector<std::byte> body(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(length));
  body.resize(round_up(length, 8));
  body.insert(body.end(), other.begin() + static_cast<std::ptrdiff_t>(round_up(own, 8)),
              other.end());
  DecodeOptions options;
  options.values_follow = false;
  return decode_classic_header(MemorySource(body), options);
}

Result<std::vector<std::byte>> encode_type_attributes(Metadata attributes, const TypeTable& types) {
  NMB_ASSIGN(std::vector<std::byte> body, body_of(std::move(attributes), types));
  NMB_ASSIGN(const std::size_t length, header_length(body));
  body.resize(length);
  return body;
}

}  // namespace nmb::hdf5
