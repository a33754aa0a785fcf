// FarSource: a source where asking costs more than bytes, as over a network. Readers say which
// ranges they will scan; near ones come in one request and are kept a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "nmb/bytes.h"

namespace nmb {

// Thread-safe.
class FarSource final : public ByteSource {
 public:
  // request_bytes: how many bytes take as long as a request, at least 1.
  FarSource(std::shared_ptr<const ByteSource> base, std::size_t request_bytes)
      : base_(std::move(base)), request_bytes_(request_bytes) {}

  std::uint64_t size() const override { return base_->size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return base_->name(); }
  const std::string* path() const override { return base_->path(); }

  // A run of structures of which a scan needs one and then others: it comes whole where it costs no
  // more than a request.
  void set_run(const ByteRange& run) { run_ = run; }
  // Ranges that will be read soon, in order: those with less than a request's bytes between them
  // come together. Memory: what is asked for at once, or kKept.
  Status fetch(std::span<const ByteRange> ranges) const;
  // The first of two ranges, unless the second, which is what matters of it, is there.
  Status fetch_if_missing(const ByteRange& range, const ByteRange& wanted) const {
    return has(wanted) || range.end > size() ? Status() : fetch_one(range);
  }
  // Bytes that are worth one fetch() of a longer scan.
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
  mutable std::list<Part> parts_;  // the newest in front
  mutable std::size_t kept_ = 0;
};

}  // namespace nmb
