// ReopenedSource: a source that takes much memory while it is open. Only a few such sources are
// open at a time; a closed source is reopened when it is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "nmb/netcdf_view.h"
#include "values/array_source.h"

namespace nmb {

// Keeps the most recently used sources open, at most `limit`. Thread-safe.
class SourcePool {
 public:
  using Open = std::function<Result<Source>()>;

  explicit SourcePool(std::size_t limit) : limit_(limit) {}

  // Returns the source for `key` and opens it if necessary. key: identifies the caller.
  Result<Source> use(const void* key, const Open& open) {
    {
      const std::scoped_lock lock(mutex_);
      if (const auto known = find(key); known != open_.end()) return first(known);
      make_room();
    }
    // The mutex is not locked here, so other threads may read meanwhile or open the same source.
    NMB_ASSIGN(Source source, open());
    const std::scoped_lock lock(mutex_);
    if (const auto known = find(key); known != open_.end()) return first(known);
    make_room();
    open_.emplace_front(key, std::move(source));
    return open_.front().second;
  }
  void close(const void* key) {
    const std::scoped_lock lock(mutex_);
    if (const auto known = find(key); known != open_.end()) open_.erase(known);
  }

 private:
  using Entry = std::pair<const void*, Source>;
  std::list<Entry>::iterator find(const void* key) {
    return std::ranges::find(open_, key, &Entry::first);
  }
  Source first(std::list<Entry>::iterator known) {
    open_.splice(open_.begin(), open_, known);
    return known->second;
  }
  void make_room() {
    if (open_.size() >= limit_) open_.pop_back();
  }

  const std::size_t limit_;
  std::mutex mutex_;
  std::list<Entry> open_;  // most recently used first
};

// Describes what a ReopenedSource opens: the values of a block of kind 6, converted to a classic
// dataset.
struct ViewOrigin {
  std::string block;
  Source body, extent;  // extent is nullptr if the block has no values
  std::shared_ptr<const DimensionLengths> lengths;
  std::string record;  // see classic_view()
};

class ReopenedSource final : public ByteSource {
 public:
  // open: a function that opens a source of `size` bytes with the same content each time.
  ReopenedSource(std::string name, std::uint64_t size, SourcePool::Open open,
                 std::shared_ptr<SourcePool> pool, ViewOrigin origin = {})
      : name_(std::move(name)),
        size_(size),
        open_(std::move(open)),
        pool_(std::move(pool)),
        origin_(std::move(origin)) {}
  ~ReopenedSource() override { pool_->close(this); }

  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    NMB_ASSIGN(const Source source, pool_->use(this, open_));
    return source->read_at(offset, out);
  }
  const ViewOrigin& origin() const { return origin_; }

 private:
  const std::string name_;
  const std::uint64_t size_;
  const SourcePool::Open open_;
  const std::shared_ptr<SourcePool> pool_;
  const ViewOrigin origin_;
};

}  // namespace nmb
