// Kind of a file by its content, and who verifies it (see nmb/verify.h).
#include "nmb/verify.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "superblock/superblock.h"
#include "verify/nmb_verifier.h"
#include "verify/verify_classic.h"

namespace nmb {

namespace {

constexpr std::size_t kSmallestFile = 8;

bool is_classic(std::span<const std::byte> head) {
  if (head.size() < 4 || std::memcmp(head.data(), "CDF", 3) != 0) return false;
  const int kind = std::to_integer<int>(head[3]);
  return kind == 1 || kind == 2 || kind == 5;
}

// HDF5 looks for its signature at 0, 512, 1024, 2048, ...
bool is_hdf5(std::span<const std::byte> head) {
  for (std::size_t at = 0; at + 8 <= head.size(); at = at == 0 ? 512 : 2 * at)
    if (std::memcmp(head.data() + at, "\x89HDF\r\n\x1a\n", 8) == 0) return true;
  return false;
}

}  // namespace

Result<VerifySummary> verify(const ByteSource& file, const VerifyOptions& options,
                             Findings& findings) {
  std::vector<std::byte> head(std::min<std::uint64_t>(file.size(), kBodyStart));
  NMB_TRY(file.read_at(0, head));
  if (head.size() >= kSmallestFile) {
    if (is_nmb(head)) return NmbVerifier(file, options, findings).run();
    if (is_classic(head)) return verify_classic(file, options, findings);
    if (is_hdf5(head))
      return Status(Code::kUnsupported, file.name(), kNoOffset, "",
                    "found HDF5: a kind not supported yet");
  }
  return Status(Code::kUnknownKind, file.name(), kNoOffset, "",
                "found a file of no known kind, expected NMB or classic netCDF");
}

}  // namespace nmb
