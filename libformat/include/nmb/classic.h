// The classic netCDF header (CDF-1, CDF-2, CDF-5, and kind 6 of a block's body): one decoder for
// every consumer, one encoder, one layout computation (spec/format.md, "Classic header").
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

// numrecs of a file whose writer did not know it: all bits set, of 32 or 64.
enum class RecordCount : std::uint8_t { kKnown, kStreaming };

// A departure from the canonical form that does not hinder reading.
struct HeaderRemark {
  std::string rule;
  std::uint64_t offset;  // from the start of the header
  std::string object;    // "variable tas", "dimension x", empty: the header
  std::string found, expected;
  // "at OFFSET: OBJECT: found X, expected Y (RULE)".
  NMB_EXPORT std::string text() const;
};

// Where the parts of a classic dataset lie, computed from its definitions and begins.
struct ClassicLayout {
  Kind kind = Kind::kCdf5;
  std::uint64_t header_length = 0;  // bytes of the header; of kind 6: 0, as begins count there
  // End of the last fixed-size value (>= header_length), padded to 4 unless a record begins
  // earlier.
  std::uint64_t fixed_end = 0;
  std::uint64_t record_begin =
      0;  // begin of the first record variable; fixed_end where there is none
  std::uint64_t record_size = 0;  // bytes from one record to the next; 0: no record variable
  std::uint64_t records = 0;      // numrecs, worked out from the source's size where STREAMING
  RecordCount record_count = RecordCount::kKnown;
  // First byte after the values of `count` records, from the start of the header.
  std::uint64_t end(std::uint64_t count) const {
    return record_size == 0 ? fixed_end : record_begin + count * record_size;
  }
};

struct ClassicHeader {
  Metadata metadata{Metadata::Names::kAsFound};
  ClassicLayout layout;
  std::vector<HeaderRemark> remarks;  // at most kMaxRemarks; then only counted
  std::uint64_t remark_count = 0;
  static constexpr std::size_t kMaxRemarks = 100;
};

struct DecodeOptions {
  // true: bytes behind the header are the values (a file), so a begin or an end past the source's
  // size is kDamaged. false: the source is the header alone, exactly (a block's body).
  bool values_follow = true;
};

// Decodes the header at the start of `source`, reading in windows (16 KiB, then 256 KiB). What
// breaks a rule is kDamaged with rule and offset; kUnknownKind if the magic is not of a classic
// file; kLimit past the limits of Metadata. Memory: bounded by the bytes of the header that exist.
// room: definitions of an earlier header that are of no more use, whose memory serves again.
NMB_EXPORT Result<ClassicHeader> decode_classic_header(const ByteSource& source,
                                                       const DecodeOptions& options = {},
                                                       Metadata room = ClassicHeader().metadata);

// Sets canonical begins in `metadata` (fixed-size variables in order of definition behind the
// header, then record variables, each padded to 4 bytes; a single record variable of a type shorter
// than 4 bytes has records without padding) and returns the layout, records = 0. kUnsupported:
// `kind` cannot hold it (type, length or offset), naming the object. kLimit: sizes past 2^63 - 1.
NMB_EXPORT Result<ClassicLayout> layout_classic(Metadata& metadata, Kind kind);

// numrecs of a header to be written as STREAMING, for any kind.
inline constexpr std::uint64_t kStreamingRecords = ~std::uint64_t{0};

// Writes the header with the begins in `metadata` to `emit`, in pieces of at most 256 KiB. The
// number of bytes is layout_classic(...).header_length; vsize follows the format (all ones where it
// does not fit). kUnsupported: `kind` cannot hold it; kLimit: sizes past 2^63 - 1. After a failure
// some pieces may have been emitted.
NMB_EXPORT Status
encode_classic_header(const Metadata& metadata, Kind kind, std::uint64_t records,
                      const std::function<Status(std::span<const std::byte>)>& emit);

// A body of kind 6, whole, of metadata that has an extension and begins (from 0 at the first
// value). kUnsupported, kLimit as above.
NMB_EXPORT Result<std::vector<std::byte>> encode_extended_body(const Metadata& metadata,
                                                               std::uint64_t records);

}  // namespace nmb
