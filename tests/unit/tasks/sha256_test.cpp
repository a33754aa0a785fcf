// SHA-256, against the examples of FIPS 180-4.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "compare/compare.h"

namespace nmb {
namespace {

Result<std::string> digest(const std::string& text, const std::atomic<bool>* cancel = nullptr) {
  NMB_ASSIGN(const Sha256 digest, sha256(
                                      text.size(),
                                      [&](std::uint64_t at, std::span<std::byte> out) -> Status {
                                        std::memcpy(out.data(), text.data() + at, out.size());
                                        return {};
                                      },
                                      cancel));
  return digest_text(digest);
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(*digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(*digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(*digest(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // More than one part.
  EXPECT_EQ(*digest(std::string((2 << 20) + 1, '\0')),
            "e9a099c75ef837c28bc91683bee127e463fa0ee10c11fd816f8d2d428c0d610e");
}

TEST(Sha256, StopsWhereReadingFailsOrIsInterrupted) {
  const Status failure(Code::kIo, "broken");
  const auto broken = [&](std::uint64_t at, std::span<std::byte>) {
    return at == 0 ? Status() : failure;
  };
  EXPECT_EQ(sha256(3 << 20, broken, nullptr).status().message(), "broken");
  const std::atomic<bool> cancel{true};
  EXPECT_EQ(digest("abc", &cancel).status().message(), "interrupted");
}

}  // namespace
}  // namespace nmb
