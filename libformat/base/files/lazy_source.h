// LazySource: a source that is opened when it is read, and closed when its last byte was read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "nmb/bytes.h"

namespace nmb {

// Opener must have the functions size(), name(), may_be_sparse() and open(). open() returns
// Result<std::shared_ptr<const ByteSource>> and is called by one thread at a time. Thread-safe.
template <class Opener>
class LazySource final : public ByteSource {
 public:
  explicit LazySource(Opener opener) : opener_(std::move(opener)) {}
  std::uint64_t size() const override { return opener_.size(); }
  const std::string& name() const override { return opener_.name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    NMB_ASSIGN(const std::shared_ptr<const ByteSource> source, opened());
    NMB_TRY(source->read_at(offset, out));
    if (offset + out.size() == size()) let_go();
    return {};
  }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    if (!may_be_sparse()) return false;
    const Result<std::shared_ptr<const ByteSource>> source = opened();
    if (!source.ok() || !(*source)->is_unallocated(offset, length)) return false;
    if (offset + length == size()) let_go();
    return true;
  }
  bool may_be_sparse() const override { return opener_.may_be_sparse(); }
  const Opener& opener() const { return opener_; }

 private:
  Result<std::shared_ptr<const ByteSource>> opened() const {
    const std::scoped_lock lock(mutex_);
    if (!source_) {
      NMB_ASSIGN(source_, opener_.open());
    }
    return source_;
  }
  void let_go() const {
    const std::scoped_lock lock(mutex_);
    source_.reset();
  }

  const Opener opener_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ByteSource> source_;
};

}  // namespace nmb
