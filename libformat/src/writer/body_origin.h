// BodyOrigin: where the body of a block comes from, until a commit has written it.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "nmb/writer.h"

namespace nmb {

// Encoded from the block's metadata, as a canonical header.
struct EncodedBody {};
// Bytes of a source, verbatim. Blocks are many: what is large and rare lies elsewhere.
using PackedBody = std::unique_ptr<PackedBlock>;
// The bytes that the file has, which a new name makes a new block.
struct RenamedBody {
  std::vector<std::byte> bytes;
};
// In the file, unchanged.
struct CommittedBody {};

using BodyOrigin =
    std::variant<EncodedBody, PackedBody, std::unique_ptr<RenamedBody>, CommittedBody>;

}  // namespace nmb
