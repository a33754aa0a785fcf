// FileDigester: computes the digests of a file whose bytes arrive in order.
#pragma once

#include <optional>
#include <span>

#include "wire/bytes.h"
#include "wire/hash.h"
#include "wire/sha256.h"

namespace nmb {

class FileDigester {
 public:
  explicit FileDigester(bool with_sha256) {
    if (with_sha256) sha256_.emplace();
  }
  void add(std::span<const std::byte> bytes) {
    xxh3_.add(bytes);
    if (sha256_) sha256_->add(bytes);
  }
  // Returns the digests of all bytes. The SHA-256 is zero if it was not requested. Call this once,
  // after the last add().
  FileDigests digests() {
    FileDigests out{xxh3_.digest(), {}};
    if (sha256_) out.sha256 = sha256_->digest();
    return out;
  }

 private:
  DigestStream xxh3_;
  std::optional<Sha256Stream> sha256_;
};

}  // namespace nmb
