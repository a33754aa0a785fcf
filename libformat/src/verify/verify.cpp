// Kind of a file by its content, and who verifies it (see nmb/verify.h).
#include "nmb/verify.h"

#include "nmb/file_kind.h"
#include "verify/nmb_verifier.h"
#include "verify/verify_classic.h"
#include "verify/verify_hdf5.h"

namespace nmb {

Result<VerifySummary> verify(const ByteSource& file, const VerifyOptions& options,
                             Findings& findings) {
  NMB_ASSIGN(const FileKind kind, kind_of(file));
  if (is_classic(kind)) return verify_classic(file, options, findings);
  if (kind == FileKind::kNmb) return NmbVerifier(file, options, findings).run();
  if (kind == FileKind::kHdf5) return verify_hdf5(file, options, findings);
  return Status(Code::kUnknownKind, file.name(), kNoOffset, "",
                "found a file of no known kind, expected NMB, classic netCDF or HDF5");
}

}  // namespace nmb
