// The kind of a file by its content: names and endings do not matter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nmb/byte_source.h"

namespace nmb {

enum class FileKind : std::uint8_t { kNmb, kCdf1, kCdf2, kCdf5, kHdf5, kUnknown };

constexpr bool is_classic(FileKind kind) {
  return kind == FileKind::kCdf1 || kind == FileKind::kCdf2 || kind == FileKind::kCdf5;
}

// "NMB", "CDF-1", "HDF5", ...
NMB_EXPORT std::string_view kind_name(FileKind kind);

// Reads at most the first 16 KiB and, for a file of no other kind, 8 bytes at 16384, 32768, 65536
// and so on, where HDF5 may begin. An NMB file whose first bytes are lost is known by its
// superblocks. kIo, kDamaged as `file` gives them.
NMB_EXPORT Result<FileKind> kind_of(const ByteSource& file);

// The status for a kind that a tool does not take: kUnknownKind for kUnknown, else kUnsupported.
NMB_EXPORT Status refused_kind(const ByteSource& file, FileKind kind);

}  // namespace nmb
