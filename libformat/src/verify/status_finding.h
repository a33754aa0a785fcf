// Converts failures of decoders to findings.
#pragma once

#include "nmb/status.h"

namespace nmb {

// A decoder's message is "OBJECT: found X, expected Y".
Finding finding_of(const Status& status);

}  // namespace nmb
