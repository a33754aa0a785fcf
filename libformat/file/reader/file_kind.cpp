// Recognizes the kind of a file (see reader/file_reader.h). Three documents define the signatures:
// spec/format.md (sections 4 and 5), the netCDF classic format specification, and the HDF5 file
// format specification (section II.A).
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "reader/file_reader.h"
#include "superblock/head.h"
#include "wire/joined_text.h"

namespace nmb {
namespace {

constexpr std::string_view kHdf5Magic = "\x89HDF\r\n\x1a\n";

bool has(std::span<const std::byte> bytes, std::size_t offset, std::string_view magic) {
  return bytes.size() >= magic.size() && offset <= bytes.size() - magic.size() &&
         std::memcmp(bytes.data() + offset, magic.data(), magic.size()) == 0;
}

}  // namespace

std::string_view kind_name(FileKind kind) {
  constexpr std::string_view names[] = {"NMB", "CDF-1", "CDF-2", "CDF-5", "HDF5", "unknown"};
  return names[static_cast<std::size_t>(kind)];
}

Result<FileKind> kind_of(const ByteSource& file) {
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(file.size(), kBodyStart)));
  NMB_TRY(file.read_at(0, head));
  // Classic files are checked first, because their values may contain an NMB file. An NMB file
  // never begins like a classic file.
  if (has(head, 0, "CDF\x01")) return FileKind::kCdf1;
  if (has(head, 0, "CDF\x02")) return FileKind::kCdf2;
  if (has(head, 0, "CDF\x05")) return FileKind::kCdf5;
  if (is_nmb(head)) return FileKind::kNmb;
  // An NMB file that has lost its head can still contain HDF5 signatures, in its HDF5 view or in
  // its values. So structures of NMB are searched before HDF5 signatures.
  NMB_ASSIGN(const bool lost_head, has_structure_behind_head(file));
  if (lost_head) return FileKind::kNmb;
  for (std::size_t at = 0; at < kBodyStart; at = at == 0 ? 512 : at * 2)
    if (has(head, at, kHdf5Magic)) return FileKind::kHdf5;
  std::array<std::byte, 8> signature;
  for (std::uint64_t at = kBodyStart; at < file.size() && file.size() - at >= signature.size();
       at *= 2) {
    NMB_TRY(file.read_at(at, signature));
    if (has(signature, 0, kHdf5Magic)) return FileKind::kHdf5;
  }
  return FileKind::kUnknown;
}

Status refused_kind(const ByteSource& file, FileKind kind) {
  if (kind != FileKind::kUnknown)
    return Status(
        Code::kUnsupported, file.name(), kNoOffset, "",
        joined_text("found a file of kind ", kind_name(kind), ", which is not supported yet"));
  return Status(Code::kUnknownKind, file.name(), kNoOffset, "",
                joined_text(file.size() == 0 ? "found an empty file" : "found no known signature",
                            ", expected an NMB, a classic netCDF or an HDF5 file"));
}

}  // namespace nmb
