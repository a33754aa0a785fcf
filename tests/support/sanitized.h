// Tests under a sanitizer do a share of the work; NMB_ALL=1 in the environment makes them do all of
// it.
#pragma once

#include <cstddef>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NMB_TEST_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NMB_TEST_SANITIZED
#endif

namespace nmb::test {
#ifdef NMB_TEST_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
// One of so many is done.
inline const std::size_t kShare = kSanitized && std::getenv("NMB_ALL") == nullptr ? 4 : 1;
}  // namespace nmb::test
