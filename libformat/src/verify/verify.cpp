// Kind of a file by its content, and who verifies it (see nmb/verify.h).
#include "nmb/verify.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "nmb/file_kind.h"
#include "superblock/head.h"
#include "verify/nmb_verifier.h"
#include "verify/verify_classic.h"
#include "verify/verify_hdf5.h"

namespace nmb {

namespace {

constexpr std::size_t kSmallestFile = 8;

bool is_classic(std::span<const std::byte> head) {
  if (head.size() < 4 || std::memcmp(head.data(), "CDF", 3) != 0) return false;
  const int kind = std::to_integer<int>(head[3]);
  return kind == 1 || kind == 2 || kind == 5;
}

}  // namespace

Result<VerifySummary> verify(const ByteSource& file, const VerifyOptions& options,
                             Findings& findings) {
  std::vector<std::byte> head(std::min<std::uint64_t>(file.size(), kBodyStart));
  NMB_TRY(file.read_at(0, head));
  if (head.size() >= kSmallestFile) {
    if (is_classic(head)) return verify_classic(file, options, findings);
    if (is_nmb(head)) return NmbVerifier(file, options, findings).run();
    NMB_ASSIGN(const FileKind kind, kind_of(file));
    if (kind == FileKind::kNmb) return NmbVerifier(file, options, findings).run();
    if (kind == FileKind::kHdf5) return verify_hdf5(file, options, findings);
  }
  return Status(Code::kUnknownKind, file.name(), kNoOffset, "",
                "found a file of no known kind, expected NMB, classic netCDF or HDF5");
}

}  // namespace nmb
