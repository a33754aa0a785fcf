// Verifies classic files (spec/classic_header.md).
#pragma once

#include "verify/verify.h"

namespace nmb {

// `file` must begin with the magic number of a classic file.
Result<VerifySummary> verify_classic(const ByteSource& file, const VerifierOptions& options,
                                     Findings& findings);

}  // namespace nmb
