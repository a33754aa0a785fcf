// MeteredSource: counts the bytes read from a source, reports progress and limits the rate. Keeps
// some of the bytes of originals in memory.
#pragma once

#include <cstdint>
#include <optional>

#include "files/read_meter.h"
#include "verify/recent_bytes.h"
#include "verify/verify.h"

namespace nmb {

class MeteredSource final : public ByteSourceLayer {
 public:
  // `base` must outlive the source.
  MeteredSource(const ByteSource& base, const VerifierOptions& options)
      : ByteSourceLayer(not_owned(base)), meter_(options.rate, base.size(), options.progress) {}

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const auto read = [this](std::uint64_t at, std::span<std::byte> bytes) {
      account(bytes.size());
      return base()->read_at(at, bytes);
    };
    const std::optional<Status> copied = recent_.copy(offset, out, read);
    return copied ? *copied : read(offset, out);
  }
  // Adds a range of bytes that will be read several times.
  void keep(std::uint64_t begin, std::uint64_t end) { recent_.keep(begin, end); }
  // Counts bytes that are about to be read from this source or from an external file.
  void account(std::uint64_t more) const { meter_.account(more); }
  void go_on_at(std::uint64_t bytes) const { meter_.go_on_at(bytes); }
  std::uint64_t bytes() const { return meter_.bytes(); }

 private:
  mutable ReadMeter meter_;
  mutable RecentBytes recent_;
};

}  // namespace nmb
