// Makes the sums and digests of an NMB file right again after its bytes were changed, so that what
// is wrong beneath them is reached.
#pragma once

#include <cstddef>
#include <vector>

namespace nmb::test {

// From the newest slot down, as far as structures can be followed; what cannot be stays as it is.
void make_sums_right(std::vector<std::byte>& file);

}  // namespace nmb::test
