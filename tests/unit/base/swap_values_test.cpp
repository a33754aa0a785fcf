// The order of bytes of many values, by whatever vectors the processor has.
#include "wire/swap_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nmb {
namespace {

TEST(SwapValues, TurnsEachValueAround) {
  for (const std::size_t size : {1u, 2u, 4u, 8u})
    for (std::size_t count = 0; count <= 70; ++count)
      for (const std::size_t ahead : {0u, 1u, 3u}) {
        std::vector<std::byte> from(ahead + count * size + 1);
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
        std::vector<std::byte> expected = from;
        for (std::size_t i = 0; i < count; ++i) {
          const auto value = expected.begin() + static_cast<std::ptrdiff_t>(ahead + i * size);
          std::reverse(value, value + static_cast<std::ptrdiff_t>(size));
        }
        std::vector<std::byte> to(from.size());
        to.front() = from.front();
        to.back() = from.back();
        std::copy_n(from.begin(), ahead, to.begin());
        swap_values(from.data() + ahead, to.data() + ahead, count, size);
        EXPECT_EQ(to, expected) << size << " " << count << " " << ahead;
        swap_values(from.data() + ahead, from.data() + ahead, count, size);
        EXPECT_EQ(from, expected) << "in place: " << size << " " << count << " " << ahead;
      }
}

}  // namespace
}  // namespace nmb
