// Verifies HDF5 files (docs/hdf5.md).
#pragma once

#include "nmb/verify.h"

namespace nmb {

// `file` must have a signature of HDF5 and a name by which it can be opened.
Result<VerifySummary> verify_hdf5(const ByteSource& file, const VerifyOptions& options,
                                  Findings& findings);

}  // namespace nmb
