// lookup3 is Bob Jenkins' hash of 2006 (burtleburtle.net/bob/c/lookup3.c). HDF5 uses it as the
// checksum of metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nmb {

// Returns the result of hashlittle() for the bytes and the initial value 0.
std::uint32_t lookup3(std::span<const std::byte> bytes);

}  // namespace nmb
