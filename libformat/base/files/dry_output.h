// DryOutput: the output file of a dry run. Nothing is written to the file; only its length is kept,
// and the written bytes too if there is a spool. If the file exists, its old bytes can be read.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "files/files.h"
#include "files/spool_file.h"
#include "wire/bytes.h"

namespace nmb {

// A read returns bytes of the old file or of the spool, and zeros after their end. Writes do not
// change the length, because writers set the final length first.
class DryOutput final : public OutputFile {
 public:
  // name: name of the file in messages. old: the existing file, or nullptr.
  explicit DryOutput(std::string name, std::shared_ptr<const ByteSource> old = nullptr)
      : name_(std::move(name)), old_(std::move(old)), length_(old_ ? old_->size() : 0) {}
  // Makes a new file whose written bytes are kept in `spool`.
  DryOutput(std::string name, std::shared_ptr<SpoolFile> spool)
      : name_(std::move(name)), spool_(spool), old_(std::move(spool)), length_(0) {}
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return spool_ ? spool_->write_at(offset, bytes) : Status();
  }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t size = old_ ? old_->size() : 0;
    const auto old = static_cast<std::size_t>(
        std::min<std::uint64_t>(out.size(), size - std::min(size, offset)));
    std::ranges::fill(out.subspan(old), std::byte{0});
    return old > 0 ? old_->read_at(offset, out.first(old)) : Status();
  }
  Status truncate(std::uint64_t length) override {
    length_ = length;
    return {};
  }
  Status reserve(std::uint64_t, std::uint64_t) override { return {}; }
  Status sync() override { return {}; }
  Status publish() override { return {}; }
  Result<std::uint64_t> size() const override { return length_.load(); }
  const std::string& name() const override { return name_; }

 private:
  const std::string name_;
  const std::shared_ptr<SpoolFile> spool_{};
  const std::shared_ptr<const ByteSource> old_;
  std::atomic<std::uint64_t> length_;
};

}  // namespace nmb
