// OriginalDigests: computes the digests of an original, part by part (spec/format.md, R-FT-7 and
// R-FT-9).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/status.h"
#include "wire/hash.h"
#include "wire/sha256.h"

namespace nmb {

class OriginalDigests {
 public:
  // window: number of bytes that are read at a time.
  OriginalDigests(Result<std::shared_ptr<const ByteSource>> original, std::uint64_t window,
                  bool has_sha256)
      : window_(window) {
    if (has_sha256) sha256_.emplace();
    if (original.ok())
      original_ = *std::move(original);
    else
      status_ = original.status();
  }

  // Reads the original up to `end`, or to the end of the original if that comes first.
  void read_to(std::uint64_t end) {
    while (status_.ok() && at_ < std::min(end, original_->size())) {
      buffer_.resize(std::min(window_, original_->size() - at_));
      status_ = original_->read_at(at_, buffer_);
      if (!status_.ok()) return;
      digest_.add(buffer_);
      if (sha256_) sha256_->add(buffer_);
      at_ += buffer_.size();
    }
  }

  // The first failure.
  const Status& status() const { return status_; }
  Digest digest() const { return digest_.digest(); }
  // Call only if the original has a SHA-256.
  Sha256 sha256() { return sha256_->digest(); }

 private:
  const std::uint64_t window_;
  std::shared_ptr<const ByteSource> original_;
  Status status_;
  std::uint64_t at_ = 0;  // number of bytes that were read
  std::vector<std::byte> buffer_;
  DigestStream digest_;
  std::optional<Sha256Stream> sha256_;
};

}  // namespace nmb
