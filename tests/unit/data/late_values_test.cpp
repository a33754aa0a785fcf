// Late values of which few are open.
#include "sources/late_values.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "sources/value_source.h"

namespace nmb {
namespace {

class LateValuesTest : public testing::Test {
 protected:
  // One whose byte is `value`.
  std::shared_ptr<const LateValues> source(unsigned char value) {
    const auto open = [this, value]() -> Result<Source> {
      ++opened_;
      if (fails_) return Status(Code::kIo, "gone");
      return owned_bytes({std::byte{value}}, "inner");
    };
    return late_values({"file", 1}, open, pool_);
  }
  static int read(const LateValues& source) {
    std::array<std::byte, 1> out;
    return source.read_at(0, out).ok() ? std::to_integer<int>(out[0]) : -1;
  }

  std::shared_ptr<SourcePool> pool_ = std::make_shared<SourcePool>(2);
  int opened_ = 0;
  bool fails_ = false;
};

TEST_F(LateValuesTest, KeepsTheLastOnesOpen) {
  const auto a = source(1), b = source(2), c = source(3);
  EXPECT_EQ(opened_, 0);
  EXPECT_EQ(read(*a), 1);
  EXPECT_EQ(read(*b), 2);
  EXPECT_EQ(read(*a), 1);
  EXPECT_EQ(opened_, 2);
  EXPECT_EQ(read(*c), 3);
  EXPECT_EQ(read(*a), 1);
  EXPECT_EQ(opened_, 3);
  EXPECT_EQ(read(*b), 2);
  EXPECT_EQ(opened_, 4);
}

TEST_F(LateValuesTest, ForgetsWhatIsGone) {
  auto a = source(1);
  EXPECT_EQ(read(*a), 1);
  a.reset();
  const auto b = source(2), c = source(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read(*b), 2);
    EXPECT_EQ(read(*c), 3);
  }
  EXPECT_EQ(opened_, 3);
}

TEST_F(LateValuesTest, FailsAsOpeningDoes) {
  const auto a = source(1);
  fails_ = true;
  EXPECT_EQ(read(*a), -1);
  fails_ = false;
  EXPECT_EQ(read(*a), 1);
}

}  // namespace
}  // namespace nmb
