// Verifies HDF5 files (docs/reference/hdf5.md).
#pragma once

#include "verify/verify.h"

namespace nmb {

// `file` must have the HDF5 signature, and its name must be a path that can be opened.
Result<VerifySummary> verify_hdf5(const ByteSource& file, const VerifierOptions& options,
                                  Findings& findings);

}  // namespace nmb
