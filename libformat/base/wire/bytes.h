// Sources, ranges and digests of bytes.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "nmb/types.h"
#include "wire/failure.h"

namespace nmb {

// Digest: an XXH3-128 checksum. If two bodies of metadata have equal digests, they count as equal
// (spec/format.md, section 1).
struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
  bool is_zero() const { return low == 0 && high == 0; }
};

// Sha256: the SHA-256 of a file, with its bytes in the usual order.
using Sha256 = std::array<std::byte, 32>;

// The recorded digests of a whole file. A digest that is zero is not recorded.
struct FileDigests {
  Digest xxh3;
  Sha256 sha256{};

  bool has_xxh3() const { return !xxh3.is_zero(); }
  bool has_sha256() const { return sha256 != Sha256{}; }
  friend bool operator==(const FileDigests&, const FileDigests&) = default;
};

// Positions of values in a source and in an extent, as `count` runs of `length` bytes. The values
// are in external form. Offsets and strides are in bytes.
struct ValueRuns {
  std::uint64_t source_offset = 0, source_stride = 0;
  std::uint64_t extent_offset = 0, extent_stride = 0;
  std::uint64_t length = 0;
  std::uint64_t count = 1;
};

// The library's own sources for which it has special code. Internal to the library.
class ExtentSource;
class PooledFile;
class SpoolFile;
class ValueSource;
using KnownSource = std::variant<std::monostate, const ExtentSource*, const PooledFile*,
                                 const SpoolFile*, const ValueSource*>;

// ByteSource: bytes with random access, for example a file, a range of another source, or memory.
// The library reads all input through this interface, so that tests can count reads and make them
// fail.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Returns the number of bytes that the source had when it was opened or last refreshed.
  virtual std::uint64_t size() const = 0;
  // Updates and returns size(), because another process may have appended to the file. The size
  // never decreases. Errors: kIo. Thread-safe.
  virtual Result<std::uint64_t> refresh() const { return size(); }
  // Drops cached bytes, so that the next read_at() sees the file's current bytes.
  virtual void forget() const {}
  // Returns true if the system reports that a process holds the writer's lock (spec/writer.md,
  // section 5.5).
  virtual bool has_writer() const { return false; }
  // Fills the whole of `out` with the bytes from `offset` on, or fails. Errors: kDamaged ("cut") if
  // the range ends after size(); kIo if a system call fails. Thread-safe.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;
  // Returns the name of the source for messages.
  virtual const std::string& name() const = 0;
  // If the source begins at the first byte of a file, returns the path of this file; otherwise
  // nullptr. The paths of external files are relative to the folder of this path.
  virtual const std::string* path() const { return nullptr; }
  // Returns true if the range is known to be a hole in the file, which reads as zeros. The
  // parameters are the offset and the length of the range in bytes.
  virtual bool is_unallocated(std::uint64_t, std::uint64_t) const { return false; }
  // Returns false if is_unallocated() returns false for every range. Callers then need not call
  // is_unallocated(), and a copy of the source takes space for all its bytes.
  virtual bool may_be_sparse() const { return false; }
  // Internal to the library; programs do not override this function.
  virtual KnownSource known() const { return {}; }
};

// A source that wraps another source. Functions that are not overridden call the wrapped source.
class NMB_EXPORT ByteSourceLayer : public ByteSource {
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

// A source with bytes in memory, which the caller keeps alive.
class NMB_EXPORT MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes, std::string name = {})
      : bytes_(bytes), name_(std::move(name)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return name_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

// Returns a pointer to a source that the caller owns and keeps alive.
inline std::shared_ptr<const ByteSource> not_owned(const ByteSource& source) {
  return {std::shared_ptr<const void>(), &source};
}

}  // namespace nmb
