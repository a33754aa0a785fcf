#include "verify/verify.h"

#include <vector>

#include "parallel/communicator.h"
#include "parallel/outbox.h"
#include "reader/file_reader.h"
#include "verify/nmb_verifier.h"
#include "verify/value_ranks.h"
#include "verify/verify_classic.h"
#include "verify/verify_hdf5.h"

namespace nmb {

Result<VerifySummary> verify(const ByteSource& file, const VerifierOptions& options,
                             Findings& findings) {
  NMB_ASSIGN(const FileKind kind, kind_of(file));
  if (options.since != 0 && options.originals)
    return Status(Code::kUsage, "originals cannot be checked since a generation");
  if (options.since != 0 && kind != FileKind::kNmb && kind != FileKind::kUnknown)
    return Status(Code::kUnsupported, file.name(), kNoOffset, "",
                  "only NMB files have generations");
  if (is_classic(kind)) return verify_classic(file, options, findings);
  if (kind == FileKind::kNmb) return NmbVerifier(file, options, findings).run();
  if (kind == FileKind::kHdf5) return verify_hdf5(file, options, findings);
  return Status(Code::kUnknownKind, file.name(), kNoOffset, "",
                "found a file of no known kind, expected NMB, classic netCDF or HDF5");
}

Status verify_together(Communicator& ranks, unsigned threads, const std::function<Status()>& work) {
  Status status;
  if (ranks.rank() == 0) {
    status = work();
    NMB_TRY(end_values(ranks));
  } else {
    NMB_TRY(serve_values(ranks, threads));
  }
  NMB_TRY(broadcast_fields(ranks, 0, &status));
  return status;
}

}  // namespace nmb
