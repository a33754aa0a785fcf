// Makes the sums and digests of an NMB file right again after its bytes were changed, so that what
// is wrong beneath them is reached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nmb::test {

// From the newest slot down, as far as structures can be followed; what cannot be stays as it is.
void make_sums_right(std::vector<std::byte>& file);

// For fuzz targets: calls `run` with the input, and again with right sums if they were wrong.
template <class Run>
void run_with_right_sums_too(const std::uint8_t* data, std::size_t size, Run run) {
  const auto bytes = std::as_bytes(std::span(data, size));
  run(bytes);
  std::vector<std::byte> right(bytes.begin(), bytes.end());
  make_sums_right(right);
  if (!std::equal(right.begin(), right.end(), bytes.begin())) run(right);
}

}  // namespace nmb::test
