// BodyOrigin: the source of a block's body until a commit has written it.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "nmb/writer.h"

namespace nmb {

// The body is encoded from the block's metadata, as a canonical header.
struct EncodedBody {};
// The body is copied from a source. There are many blocks; members that are large and rarely needed
// are stored separately.
using PackedBody = std::unique_ptr<PackedBlock>;
// The body that the file already has, for a new block with a new name.
struct RenamedBody {
  std::vector<std::byte> bytes;
};
// The body is in the file and unchanged.
struct CommittedBody {};

using BodyOrigin =
    std::variant<EncodedBody, PackedBody, std::unique_ptr<RenamedBody>, CommittedBody>;

}  // namespace nmb
