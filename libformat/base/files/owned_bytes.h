// owned_bytes() returns a source that owns its bytes in memory.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nmb/bytes.h"

namespace nmb {

inline std::shared_ptr<const MemorySource> owned_bytes(std::vector<std::byte> bytes,
                                                       std::string name) {
  struct Owner {
    Owner(std::vector<std::byte> all, std::string file)
        : bytes(std::move(all)), source(bytes, std::move(file)) {}
    const std::vector<std::byte> bytes;
    const MemorySource source;
  };
  const auto owner = std::make_shared<const Owner>(std::move(bytes), std::move(name));
  return {owner, &owner->source};
}

}  // namespace nmb
