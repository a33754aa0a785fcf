// Converts failures of decoders to findings.
#pragma once

#include "nmb/status.h"

namespace nmb {

// Parses the message of a decoder's status: "OBJECT: found X, expected Y", or a statement without
// "found". The last ": " of a statement separates it from its object.
Finding finding_of(const Status& status);

}  // namespace nmb
