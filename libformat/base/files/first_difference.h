// Compares the bytes of two sources.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Slices of a source, all of the same length.
struct ByteSlices {
  const ByteSource* source = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t step = 0;  // distance between the beginnings of two slices
};

// Compares slices of two sources. Returns the index of the first byte that differs, counted without
// the bytes between slices, or nullopt if no byte differs. at_once: number of bytes that are read
// at a time; the default fits in the caches of a processor. Errors: kIo, kDamaged.
Result<std::optional<std::uint64_t>> first_different_byte(const ByteSlices& a, const ByteSlices& b,
                                                          std::uint64_t length,
                                                          std::uint64_t slices = 1,
                                                          std::uint64_t at_once = 256 << 10);

}  // namespace nmb
