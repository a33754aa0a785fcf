// Values that wait for their places (see writer/stage.h).
#include "writer/stage.h"

#include <string>

namespace nmb {

Status Stage::append(std::span<const std::byte> bytes) {
  if (bytes.size() > kMost - size())
    return Status(Code::kLimit, "found more than " + std::to_string(kMost) +
                                    " bytes of values that wait for space on a rank, expected "
                                    "extend(), put_all() or sync() before");
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return {};
}

}  // namespace nmb
