// OriginalDigests: computes the digests of an original, or of a classic file that became a block,
// part by part (spec/files.md, R-FT-7, R-FT-15, R-OD-1, R-OD-3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "files/file_digester.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

class OriginalDigests {
 public:
  // window: number of bytes that are read at a time.
  OriginalDigests(Result<std::shared_ptr<const ByteSource>> original, std::uint64_t window,
                  bool has_sha256)
      : window_(window), digester_(has_sha256) {
    if (original.ok())
      original_ = *std::move(original);
    else
      status_ = original.status();
  }

  // Adds bytes that come before the bytes of `original`. Call this before read_to().
  void begin_with(std::span<const std::byte> head) { digester_.add(head); }
  // Reads the original up to `end`, or to the end of the original if that comes first.
  void read_to(std::uint64_t end) {
    while (status_.ok() && at_ < std::min(end, original_->size())) {
      buffer_.resize(std::min(window_, original_->size() - at_));
      status_ = original_->read_at(at_, buffer_);
      if (!status_.ok()) return;
      digester_.add(buffer_);
      at_ += buffer_.size();
    }
  }

  // The first failure.
  const Status& status() const { return status_; }
  // Call this once, after all bytes were read.
  FileDigests digests() { return digester_.digests(); }

 private:
  const std::uint64_t window_;
  std::shared_ptr<const ByteSource> original_;
  Status status_;
  std::uint64_t at_ = 0;  // number of bytes that were read
  std::vector<std::byte> buffer_;
  FileDigester digester_;
};

}  // namespace nmb
