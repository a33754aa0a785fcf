// The kind of a file by its content: names and endings do not matter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nmb/byte_source.h"

namespace nmb::tools {

enum class InputKind : std::uint8_t { kNmb, kCdf1, kCdf2, kCdf5, kHdf5, kUnknown };

constexpr bool is_classic(InputKind kind) {
  return kind == InputKind::kCdf1 || kind == InputKind::kCdf2 || kind == InputKind::kCdf5;
}

// "NMB", "CDF-1", "HDF5", ...
std::string_view kind_name(InputKind kind);

// Reads at most the first 16 KiB and, for a file of no other kind, 8 bytes at 16384, 32768, 65536
// and so on, where HDF5 may begin. An NMB file whose first bytes are lost is known by its
// superblocks. kIo, kDamaged as `file` gives them.
Result<InputKind> kind_of(const ByteSource& file);

// The status for a kind that a tool does not take: kUnknownKind for kUnknown, else kUnsupported.
Status refused_kind(const ByteSource& file, InputKind kind);

}  // namespace nmb::tools
