// Converts failures of decoders to findings.
#pragma once

#include "wire/failure.h"

namespace nmb {

// Parses the message of a decoder's status. The message has one of two forms: "OBJECT: found X,
// expected Y" or "OBJECT: STATEMENT". A statement does not contain ": ".
Finding finding_of(const Status& status);

}  // namespace nmb
