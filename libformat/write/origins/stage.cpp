#include "origins/stage.h"

#include "wire/joined_text.h"

namespace nmb {

Status Stage::append(std::span<const std::byte> bytes) {
  if (bytes.size() > kMost - size())
    return Status(Code::kLimit,
                  joined_text("more than ", kMost,
                              " bytes of values on a rank wait for space in the file; call "
                              "extend(), put_all() or sync() first"));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return {};
}

}  // namespace nmb
