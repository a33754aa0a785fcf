// Bytes in a message as what differs from other bytes that both sides have: of thousands of headers
// that are nearly the same.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "parallel/message_codec.h"

namespace nmb {

// *known: what the receiver has; becomes `bytes`.
void put_changes(std::span<const std::byte> bytes, std::vector<std::byte>* known,
                 MessageWriter* out);
// false: *known stays as it is, since nothing differs.
bool get_changes(MessageReader* in, std::vector<std::byte>* known);

}  // namespace nmb
