// LateValues: values that are opened when they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "model/dataset.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

using Source = std::shared_ptr<const ByteSource>;

// Keeps the most recently used sources open, at most `limit`. Thread-safe.
class SourcePool {
 public:
  explicit SourcePool(std::size_t limit) : limit_(limit) {}

  // Returns the source for `key`, which identifies the caller, and opens it if necessary.
  template <class OpenSource>
  Result<Source> use(const void* key, const OpenSource& open) {
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
  using OpenedSource = std::pair<const void*, Source>;
  std::list<OpenedSource>::iterator find(const void* key) {
    return std::ranges::find(open_, key, &OpenedSource::first);
  }
  Source first(std::list<OpenedSource>::iterator known) {
    open_.splice(open_.begin(), open_, known);
    return known->second;
  }
  void make_room() {
    if (open_.size() >= limit_) open_.pop_back();
  }

  const std::size_t limit_;
  std::mutex mutex_;
  std::list<OpenedSource> open_;  // most recently used first
};

// The extent of a block of an NMB file.
struct StoredOrigin {
  std::string path, block;
  std::uint64_t sum = 0;  // checksum of the block's entry
};

// Whether a block that becomes a classic dataset keeps the values of types that a classic dataset
// lacks (ClassicView::OwnValues).
enum class OwnTypes : std::uint8_t { kLost, kKept };

// The values of a block of kind 6, converted to a classic dataset.
struct ViewOrigin {
  std::string block;
  Source body, extent;  // extent is nullptr if the block has no values
  std::shared_ptr<const DimensionLengths> lengths;
  std::string record;  // see classic_view()
  OwnTypes own_types = OwnTypes::kLost;
};

// Where another rank opens the same values. std::monostate: no other rank can open them.
using LateOrigin = std::variant<std::monostate, StoredOrigin, ViewOrigin>;

// Values that are not open yet: their name, size and origin.
struct LateForm {
  std::string name;
  std::uint64_t size = 0;
  bool may_be_sparse = false;
  LateOrigin origin{};
};

// Opens values. open() must return the same bytes each time.
class LateOpener {
 public:
  virtual ~LateOpener() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::string& name() const = 0;
  virtual bool may_be_sparse() const { return false; }
  // With a pool, several threads may call open() at the same time.
  virtual Result<Source> open() const = 0;
  virtual LateOrigin origin() const { return {}; }
};

// Opens values with a function.
class LateFunction final : public LateOpener {
 public:
  using Open = std::function<Result<Source>()>;
  LateFunction(LateForm form, Open open) : form_(std::move(form)), open_(std::move(open)) {}
  std::uint64_t size() const override { return form_.size; }
  const std::string& name() const override { return form_.name; }
  bool may_be_sparse() const override { return form_.may_be_sparse; }
  Result<Source> open() const override { return open_(); }
  LateOrigin origin() const override { return form_.origin; }

 private:
  const LateForm form_;
  const Open open_;
};

// Thread-safe.
class LateValues {
 public:
  // pool: keeps the values open; needed for values that take much memory while they are open.
  // Without a pool, the values are closed after their last byte was read.
  explicit LateValues(std::unique_ptr<const LateOpener> opener,
                      std::shared_ptr<SourcePool> pool = nullptr)
      : opener_(std::move(opener)), pool_(std::move(pool)) {}
  ~LateValues() {
    if (pool_) pool_->close(this);
  }
  LateValues(const LateValues&) = delete;
  LateValues& operator=(const LateValues&) = delete;

  const LateOpener& opener() const { return *opener_; }
  std::uint64_t size() const { return opener_->size(); }
  const std::string& name() const { return opener_->name(); }
  bool may_be_sparse() const { return opener_->may_be_sparse(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const {
    NMB_ASSIGN(const Source source, opened());
    NMB_TRY(source->read_at(offset, out));
    if (offset + out.size() == size()) let_go();
    return {};
  }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const {
    if (!may_be_sparse()) return false;
    const Result<Source> source = opened();
    if (!source.ok() || !(*source)->is_unallocated(offset, length)) return false;
    if (offset + length == size()) let_go();
    return true;
  }

 private:
  Result<Source> opened() const {
    if (pool_) return pool_->use(this, [this] { return opener_->open(); });
    const std::scoped_lock lock(mutex_);
    if (!source_) {
      NMB_ASSIGN(source_, opener_->open());
    }
    return source_;
  }
  void let_go() const {
    if (pool_) return;
    const std::scoped_lock lock(mutex_);
    source_.reset();
  }

  const std::unique_ptr<const LateOpener> opener_;
  const std::shared_ptr<SourcePool> pool_;
  mutable std::mutex mutex_;
  mutable Source source_;
};

inline std::shared_ptr<const LateValues> late_values(LateForm form, LateFunction::Open open,
                                                     std::shared_ptr<SourcePool> pool = nullptr) {
  return std::make_shared<const LateValues>(
      std::make_unique<const LateFunction>(std::move(form), std::move(open)), std::move(pool));
}

}  // namespace nmb
