// Bytes: sources to read them from, ranges of them, and their digests.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "nmb/status.h"

namespace nmb {

// ByteRange: a range of bytes of a file or of an extent.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t length() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// Digest: XXH3-128, which decides equality of metadata (spec/format.md, section 1).
struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
  bool is_zero() const { return low == 0 && high == 0; }
};

// ByteSource: random-access bytes to read from (a file, a range of one, memory). The one interface
// through which decoders, readers and movers of values see input, so that tests count and fail it.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Bytes there are, as of opening or of the last refresh().
  virtual std::uint64_t size() const = 0;
  // Asks anew how many bytes there are: another process may add to the file. size() never gets less
  // by it. kIo. Thread-safe.
  virtual Result<std::uint64_t> refresh() const { return size(); }
  // Forgets bytes that are kept, so that the next read_at() sees what the file has then.
  virtual void forget() const {}
  // Whether a process is known to hold the writer's lock (spec/format.md, section 5.5). false: none
  // does, or the system cannot say.
  virtual bool has_writer() const { return false; }
  // Fills `out` from `offset`, whole or not at all: bytes past size() are kDamaged ("cut"),
  // failures of the system kIo. Thread-safe.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;
  // The name for messages.
  virtual const std::string& name() const = 0;
  // The path of the file whose bytes these are, the first byte that of the file; nullptr: there is
  // none. External files of an NMB file are looked for beside it.
  virtual const std::string* path() const { return nullptr; }
  // Whether the range is known to read as zero without being stored (a hole of the file system).
  virtual bool is_unallocated(std::uint64_t, std::uint64_t) const { return false; }
  // Whether is_unallocated() may be true of some range. false: it never is, so it need not be
  // asked, and a copy of the source takes the room of all its bytes.
  virtual bool may_be_sparse() const { return false; }
};

// A source around another one: what it does not override, that one does.
class ByteSourceLayer : public ByteSource {
 public:
  explicit ByteSourceLayer(std::shared_ptr<const ByteSource> base) : base_(std::move(base)) {}
  std::uint64_t size() const override { return base_->size(); }
  Result<std::uint64_t> refresh() const override { return base_->refresh(); }
  void forget() const override { base_->forget(); }
  bool has_writer() const override { return base_->has_writer(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return base_->read_at(offset, out);
  }
  const std::string& name() const override { return base_->name(); }
  const std::string* path() const override { return base_->path(); }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return base_->is_unallocated(offset, length);
  }
  bool may_be_sparse() const override { return base_->may_be_sparse(); }
  const std::shared_ptr<const ByteSource>& base() const { return base_; }

 private:
  const std::shared_ptr<const ByteSource> base_;
};

// Bytes in memory that the caller keeps alive.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes, std::string name = {})
      : bytes_(bytes), name_(std::move(name)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  NMB_EXPORT Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return name_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

// A source that belongs to the caller, who keeps it alive.
inline std::shared_ptr<const ByteSource> not_owned(const ByteSource& source) {
  return {std::shared_ptr<const void>(), &source};
}

// A range of another source.
class RangeSource final : public ByteSource {
 public:
  // offset + size must not exceed base->size().
  RangeSource(std::shared_ptr<const ByteSource> base, std::uint64_t offset, std::uint64_t size)
      : base_(std::move(base)), offset_(offset), size_(size) {}
  std::uint64_t size() const override { return size_; }
  NMB_EXPORT Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return base_->name(); }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return base_->is_unallocated(offset_ + offset, length);
  }
  bool may_be_sparse() const override { return base_->may_be_sparse(); }
  const std::shared_ptr<const ByteSource>& base() const { return base_; }
  std::uint64_t offset() const { return offset_; }

 private:
  std::shared_ptr<const ByteSource> base_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

}  // namespace nmb
