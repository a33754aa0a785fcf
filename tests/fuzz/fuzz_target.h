// The functions that every fuzz target defines in addition to LLVMFuzzerTestOneInput.
#pragma once

#include <cstddef>
#include <vector>

namespace nmb::test {

// Inputs to start from, made by code. The replay also runs what is near them.
std::vector<std::vector<std::byte>> fuzz_seeds();

}  // namespace nmb::test
