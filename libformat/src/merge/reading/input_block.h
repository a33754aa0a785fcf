// Bodies and extents of blocks of an NMB input, loaded when they are read.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "nmb/reader.h"

namespace nmb {

// The raw body of a block. It is kept in memory from the first read until its last byte was read.
class LazyBody final : public ByteSource {
 public:
  LazyBody(std::shared_ptr<const Reader> reader, BlockEntry entry)
      : reader_(std::move(reader)), entry_(std::move(entry)) {}
  std::uint64_t size() const override { return entry_.raw_length; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::lock_guard lock(mutex_);
    if (body_.empty()) {
      NMB_ASSIGN(body_, reader_->body(entry_));
    }
    NMB_TRY(MemorySource(body_, name()).read_at(offset, out));
    if (offset + out.size() == body_.size()) body_ = {};
    return {};
  }
  const std::string& name() const override { return reader_->file().name(); }

 private:
  std::shared_ptr<const Reader> reader_;
  BlockEntry entry_;
  mutable std::mutex mutex_;
  mutable std::vector<std::byte> body_;
};

// The values of a block; holes are read as fill values. The block is kept in memory, however large
// its metadata is, from the first read until its last byte was read or its allocation was queried.
class LazyExtent final : public ByteSource {
 public:
  LazyExtent(std::shared_ptr<const Reader> reader, BlockEntry entry)
      : reader_(std::move(reader)), entry_(std::move(entry)) {}
  std::uint64_t size() const override { return entry_.extent_length; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    NMB_ASSIGN(std::shared_ptr<const Block> block, held());
    NMB_TRY(block->extent->read_at(offset, out));
    if (offset + out.size() == size()) release();
    return {};
  }
  const std::string& name() const override { return reader_->file().name(); }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    if (!may_be_sparse()) return false;
    const Result<std::shared_ptr<const Block>> block = held();
    if (!block.ok() || !(*block)->extent->is_unallocated(offset, length)) return false;
    if (offset + length == size()) release();
    return true;
  }
  bool may_be_sparse() const override { return reader_->file().may_be_sparse(); }
  const BlockEntry& entry() const { return entry_; }

 private:
  Result<std::shared_ptr<const Block>> held() const {
    std::lock_guard lock(mutex_);
    if (!block_) {
      NMB_ASSIGN(block_, reader_->block(entry_));
    }
    return block_;
  }
  void release() const {
    std::lock_guard lock(mutex_);
    block_.reset();
  }

  std::shared_ptr<const Reader> reader_;
  BlockEntry entry_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Block> block_;
};

}  // namespace nmb
