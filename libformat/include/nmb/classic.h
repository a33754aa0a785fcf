// The classic netCDF header (CDF-1, CDF-2, CDF-5, and block bodies of kind 6): decoder, encoder and
// computation of the layout (spec/format.md, "Classic header").
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

// Whether a header has a record count. kStreaming: all 32 or 64 bits of numrecs are set, because
// the writer did not know the count.
enum class RecordCount : std::uint8_t { kKnown, kStreaming };

// A deviation from the canonical form that does not prevent reading.
struct HeaderRemark {
  std::string rule;
  std::uint64_t offset;  // from the start of the header
  std::string object;    // "variable tas", "dimension x", empty: the header
  std::string found, expected;
  // "at OFFSET: OBJECT: found X, expected Y (RULE)".
  NMB_EXPORT std::string text() const;
};

// Positions of the parts of a classic dataset, computed from its definitions and begins.
struct ClassicLayout {
  Kind kind = Kind::kCdf5;
  std::uint64_t header_length =
      0;  // bytes of the header; 0 for kind 6, whose begins count from the first value
  // End of the last fixed-size value (>= header_length), padded to 4 unless a record begins
  // earlier.
  std::uint64_t fixed_end = 0;
  std::uint64_t record_begin = 0;  // begin of the first record variable; fixed_end without one
  std::uint64_t record_size = 0;   // bytes from one record to the next; 0: no record variable
  std::uint64_t records = 0;       // numrecs; if streaming, computed from the source's size
  RecordCount record_count = RecordCount::kKnown;
  // First byte after the values of `count` records, from the start of the header.
  std::uint64_t end(std::uint64_t count) const {
    return record_size == 0 ? fixed_end : record_begin + count * record_size;
  }
};

struct ClassicHeader {
  Metadata metadata{Metadata::Names::kAsFound};
  ClassicLayout layout;
  std::vector<HeaderRemark> remarks;  // the first kMaxRemarks; others are only counted
  std::uint64_t remark_count = 0;
  static constexpr std::size_t kMaxRemarks = 100;
};

struct DecodeOptions {
  // true: the values follow the header (a file), so a begin or an end past the source's size is
  // kDamaged. false: the source is exactly the header (a block's body).
  bool values_follow = true;
};

// Decodes the header at the start of `source`, reading 16 KiB first, then 256 KiB at a time.
// kDamaged: a rule is broken, with rule and offset; kUnknownKind: no classic magic; kLimit: past
// the limits of Metadata. Memory is bounded by the header's bytes in the source. room: definitions
// of an earlier header that are no longer needed; their memory is reused.
NMB_EXPORT Result<ClassicHeader> decode_classic_header(const ByteSource& source,
                                                       const DecodeOptions& options = {},
                                                       Metadata room = ClassicHeader().metadata);

// Sets canonical begins in `metadata` and returns the layout, with records = 0. Fixed-size
// variables follow the header in order of definition, then record variables, each padded to 4
// bytes; the records of a single record variable with a type shorter than 4 bytes have no padding.
// kUnsupported: `kind` cannot hold a type, length or offset; the message names the object. kLimit:
// sizes past 2^63 - 1.
NMB_EXPORT Result<ClassicLayout> layout_classic(Metadata& metadata, Kind kind);

// `records` for encoding a header with streaming numrecs, for any kind.
inline constexpr std::uint64_t kStreamingRecords = ~std::uint64_t{0};

// Encodes the header with the begins in `metadata` and passes it to `emit` in pieces of at most 256
// KiB, together layout_classic(...).header_length bytes. A vsize that does not fit has all bits
// set, as the format requires. kUnsupported: `kind` cannot hold an object; kLimit: sizes past 2^63
// - 1. After a failure `emit` may have received some pieces.
NMB_EXPORT Status
encode_classic_header(const Metadata& metadata, Kind kind, std::uint64_t records,
                      const std::function<Status(std::span<const std::byte>)>& emit);

// Returns a whole body of kind 6. `metadata` must have an extension, and begins that count from the
// first value. kUnsupported, kLimit as above.
NMB_EXPORT Result<std::vector<std::byte>> encode_extended_body(const Metadata& metadata,
                                                               std::uint64_t records);

}  // namespace nmb
