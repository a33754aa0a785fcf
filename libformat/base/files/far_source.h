// FarSource: a source on slow storage, for example over a network, where waiting for the answer to
// a short read takes longer than the transfer of its bytes. Readers announce the ranges that they
// will scan. Ranges near each other are read in one request and kept for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "wire/bytes.h"

namespace nmb {

// Thread-safe.
class FarSource final : public ByteSource {
 public:
  // request_bytes: the number of bytes whose transfer takes as long as one request; at least 1.
  FarSource(std::shared_ptr<const ByteSource> base, std::size_t request_bytes)
      : base_(std::move(base)), request_bytes_(request_bytes) {}

  std::size_t request_bytes() const { return request_bytes_; }
  std::uint64_t size() const override { return base_->size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return base_->name(); }
  const std::string* path() const override { return base_->path(); }

  // Sets the range of the file in which a scan will read all structures one after another. The
  // whole range is read at once if it has at most `request_bytes` bytes.
  void set_run(const ByteRange& run) { run_ = run; }
  // Reads ranges of the file that will be needed soon, and keeps them in memory. The ranges must be
  // in ascending order. Two ranges are read in one request if at most `request_bytes` bytes lie
  // between them. At most kKept bytes are kept, or one range if it is longer.
  Status fetch(std::span<const ByteRange> ranges) const;
  // Reads `range`, unless `wanted` is already in memory. `wanted` is the part of `range` that the
  // caller needs now.
  Status fetch_if_missing(const ByteRange& range, const ByteRange& wanted) const {
    return has(wanted) || range.end > size() ? Status() : fetch_one(range);
  }
  // The most bytes for which a scan should call fetch() at once.
  static constexpr std::size_t kBatch = 16 << 20;

 private:
  static constexpr std::size_t kKept = 64 << 20;
  struct CachedRange {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
    bool has(const ByteRange& range) const {
      return range.begin >= offset && range.end - offset <= bytes.size();
    }
  };
  bool has(const ByteRange& range) const;
  Status fetch_one(const ByteRange& range) const;

  const std::shared_ptr<const ByteSource> base_;
  const std::size_t request_bytes_;
  ByteRange run_{0, 0};
  mutable std::mutex mutex_;
  mutable std::list<CachedRange> parts_;  // newest first
  mutable std::size_t kept_ = 0;
};

}  // namespace nmb
