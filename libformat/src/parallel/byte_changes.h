// Encodes bytes in a message as differences from bytes that both sides have, for thousands of
// headers that are nearly equal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "parallel/message_codec.h"

namespace nmb {

// *known: the bytes of the receiver; set to `bytes`.
void put_changes(std::span<const std::byte> bytes, std::vector<std::byte>* known,
                 MessageWriter* out);
// Returns false if *known did not change.
bool get_changes(MessageReader* in, std::vector<std::byte>* known);

}  // namespace nmb
