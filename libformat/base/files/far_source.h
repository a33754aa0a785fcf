// FarSource: a source on slow storage, for example over a network. For a short read, waiting for
// the answer takes longer than the transfer of the bytes. Readers announce the ranges that they
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
  // request_bytes: the number of bytes whose transfer takes as long as a request; at least 1.
  FarSource(std::shared_ptr<const ByteSource> base, std::size_t request_bytes)
      : base_(std::move(base)), request_bytes_(request_bytes) {}

  std::size_t request_bytes() const { return request_bytes_; }
  std::uint64_t size() const override { return base_->size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return base_->name(); }
  const std::string* path() const override { return base_->path(); }

  // Sets a range of the file. Scans read the structures in this range one after another. If reading
  // the whole range takes no longer than one request, the whole range is read at once.
  void set_run(const ByteRange& run) { run_ = run; }
  // Reads ranges of the file that will be needed soon, and keeps them in memory. The ranges must be
  // in ascending order. Ranges are read together if fewer than `request_bytes` bytes lie between
  // them. The kept bytes take at most kKept bytes of memory, or the length of `ranges` if that is
  // more.
  Status fetch(std::span<const ByteRange> ranges) const;
  // Reads `range` if its part `wanted`, which the caller needs now, is not in memory yet.
  Status fetch_if_missing(const ByteRange& range, const ByteRange& wanted) const {
    return has(wanted) || range.end > size() ? Status() : fetch_one(range);
  }
  // A scan that needs more bytes than this should call fetch() for this number of bytes at a time.
  static constexpr std::size_t kBatch = 16 << 20;

 private:
  static constexpr std::size_t kKept = 64 << 20;
  struct Part {
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
  mutable std::list<Part> parts_;  // the newest part first
  mutable std::size_t kept_ = 0;
};

}  // namespace nmb
