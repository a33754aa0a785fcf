// BodyOrigin: the source of a block's body until a commit has written it.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "ranks/writer_options.h"

namespace nmb {

// The body is encoded from the block's metadata, as a canonical header.
struct EncodedBody {};
// The body is copied from a source. Held by pointer, because a writer may have many blocks, and few
// of them are packed.
using PackedBody = std::unique_ptr<PackedBlock>;
// The committed body of a renamed block. The body is written again with the new name.
struct RenamedBody {
  std::vector<std::byte> bytes;
};
// The body is in the file and does not change.
struct CommittedBody {};

using BodyOrigin =
    std::variant<EncodedBody, PackedBody, std::unique_ptr<RenamedBody>, CommittedBody>;

}  // namespace nmb
