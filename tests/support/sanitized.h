// Tests that run under a sanitizer do a share of the work.
#pragma once

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
inline constexpr int kShare = 4;
#else
inline constexpr int kShare = 1;
#endif
}  // namespace nmb::test
