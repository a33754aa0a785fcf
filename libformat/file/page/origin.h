// Origin: the properties of a generation that its pages and block headers repeat (spec/format.md,
// sections 6 and 8).
#pragma once

#include <cstdint>

#include "wire/bytes.h"

namespace nmb {

struct Origin {
  Digest file_id;
  std::uint64_t generation = 0;
  std::uint64_t stamp = 0;  // section 5.1
};

}  // namespace nmb
