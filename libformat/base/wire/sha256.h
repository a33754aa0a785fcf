// Sha256Stream: computes the SHA-256 of bytes that arrive in parts (FIPS 180-4), with OpenSSL.
// Unlike the format's checksums, SHA-256 is safe against files that are made on purpose to have the
// same value (spec/files.md, section 10.3).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "wire/bytes.h"

struct evp_md_ctx_st;

namespace nmb {

// All calls throw std::bad_alloc if OpenSSL fails.
class Sha256Stream {
 public:
  Sha256Stream();
  void add(std::span<const std::byte> bytes);
  // Returns the SHA-256 of all bytes. Call this once, after the last add().
  Sha256 digest();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

}  // namespace nmb
