// Encodes bytes in a message as differences from bytes that the sender and the receiver already
// have. This encoding keeps messages short if they contain thousands of nearly equal headers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "parallel/message_codec.h"

namespace nmb {

// Writes `bytes` as changes of *known, and then sets *known to `bytes`. *known: bytes that the
// receiver also has.
void put_changes(std::span<const std::byte> bytes, std::vector<std::byte>* known,
                 MessageWriter* out);
// Applies the changes in the message to *known. Returns false if there are no changes.
bool get_changes(MessageReader* in, std::vector<std::byte>* known);

}  // namespace nmb
