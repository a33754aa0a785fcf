// Decodes and encodes the classic netCDF header (CDF-1, CDF-2, CDF-5, and block bodies of kind 6),
// and computes its layout (spec/classic_header.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/metadata.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

// Whether a header has a record count. kStreaming means that all 32 or 64 bits of numrecs are set,
// because the writer did not know the count.
enum class RecordCount : std::uint8_t { kKnown, kStreaming };

// A deviation from the canonical form that does not prevent reading.
struct HeaderRemark {
  std::string rule;
  std::uint64_t offset;  // offset from the start of the header
  std::string object;    // for example "variable tas"; empty for the header itself
  std::string found, expected;
  // Returns "at OFFSET: OBJECT: found X, expected Y (RULE)".
  NMB_EXPORT std::string text() const;
};

// Positions of the parts of a classic dataset. The positions are computed from the definitions and
// from the begin of each variable.
struct ClassicLayout {
  Kind kind = Kind::kCdf5;
  // Length of the header in bytes. For kind 6, the length is 0, because the begin of each variable
  // is an offset from the first value.
  std::uint64_t header_length = 0;
  // End of the last fixed-size value, or header_length if there is no such value. The end is
  // rounded up to a multiple of 4, unless the first record begins before this multiple.
  std::uint64_t fixed_end = 0;
  // Begin of the first record variable, or fixed_end if there is none.
  std::uint64_t record_begin = 0;
  std::uint64_t record_size = 0;  // bytes from one record to the next; 0 without record variables
  std::uint64_t records = 0;      // numrecs; if it is streaming, computed from the source's size
  RecordCount record_count = RecordCount::kKnown;
  // Returns the offset of the first byte after the values of `count` records, counted from the
  // start of the header.
  std::uint64_t end(std::uint64_t count) const {
    return record_size == 0 ? fixed_end : record_begin + count * record_size;
  }
};

struct ClassicHeader {
  Metadata metadata{Metadata::Names::kAsFound};
  ClassicLayout layout;
  std::vector<HeaderRemark> remarks;  // the first kMaxRemarks remarks; later ones are only counted
  std::uint64_t remark_count = 0;
  static constexpr std::size_t kMaxRemarks = 100;
};

struct DecodeOptions {
  // Whether the source is a file, in which the values follow the header. If true, a value that
  // begins or ends after the end of the source is an error (kDamaged). If false, the source must be
  // a header without values, as a block's body is.
  bool values_follow = true;
};

// Decodes the header at the start of `source`, reading 16 KiB first, then 256 KiB at a time. The
// memory in use is limited by the length of the header. `room` may hold definitions of an earlier
// header that are no longer needed; the memory of `room` is reused. Errors: kDamaged, with rule and
// offset, if a rule is broken; kUnknownKind if the classic magic is missing; kLimit if the limits
// of Metadata are exceeded.
NMB_EXPORT Result<ClassicHeader> decode_classic_header(const ByteSource& source,
                                                       const DecodeOptions& options = {},
                                                       Metadata room = ClassicHeader().metadata);

// Sets the begin of each variable in `metadata` to its canonical value. Returns the layout, with
// records = 0. Fixed-size variables follow the header in order of definition. Record variables
// follow the fixed-size variables. Each variable is padded to a multiple of 4 bytes. If the only
// record variable has a type shorter than 4 bytes, its records have no padding. Errors:
// kUnsupported if `kind` cannot hold a type, length or offset (the message names the object);
// kLimit if sizes exceed 2^63 - 1.
NMB_EXPORT Result<ClassicLayout> layout_classic(Metadata& metadata, Kind kind);

// A value for `records` of encode_classic_header(). It makes numrecs of the encoded header
// streaming, for any kind.
inline constexpr std::uint64_t kStreamingRecords = ~std::uint64_t{0};

// Encodes the header. The begin of each variable is taken from `metadata`. Passes the header to
// `emit` in pieces of at most 256 KiB, which together have layout_classic(...).header_length bytes.
// If the vsize of a variable is too large for its field, all bits of the field are set, as the
// format requires. After a failure, `emit` may have received some pieces. Errors: kUnsupported if
// `kind` cannot hold an object; kLimit if sizes exceed 2^63 - 1.
NMB_EXPORT Status
encode_classic_header(const Metadata& metadata, Kind kind, std::uint64_t records,
                      const std::function<Status(std::span<const std::byte>)>& emit);

// Returns a whole body of kind 6. `metadata` must have an extension, and the begin of each variable
// must be an offset from the first value. The errors are the same as for encode_classic_header().
NMB_EXPORT Result<std::vector<std::byte>> encode_extended_body(const Metadata& metadata,
                                                               std::uint64_t records);

}  // namespace nmb
