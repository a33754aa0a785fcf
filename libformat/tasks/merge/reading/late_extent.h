// The body and the values of a block of an input. They are opened when they are read.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "merge/reading/value_origin.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"

namespace nmb {

template <class Opener, class... Arguments>
Source late_source(Arguments&&... arguments) {
  return source_of(std::make_shared<const LateValues>(
      std::make_unique<const Opener>(std::forward<Arguments>(arguments)...)));
}

class EntryOpener : public LateOpener {
 public:
  EntryOpener(std::shared_ptr<const FileReader> reader, BlockEntry entry)
      : reader_(std::move(reader)), entry_(std::move(entry)) {}
  const std::string& name() const override { return reader_->file().name(); }

 protected:
  const std::shared_ptr<const FileReader> reader_;
  const BlockEntry entry_;
};

// The raw body of a block.
class LateBody final : public EntryOpener {
 public:
  using EntryOpener::EntryOpener;
  std::uint64_t size() const override { return entry_.raw_length; }
  Result<Source> open() const override {
    NMB_ASSIGN(std::vector<std::byte> body, reader_->body(entry_));
    return owned_bytes(std::move(body), name());
  }
};

// Returns the extent of a block. The extent keeps the whole block in memory, including the block's
// metadata.
inline Source extent_with(std::shared_ptr<const LoadedBlock> block) {
  const ByteSource* const extent = block->extent.get();
  return {std::move(block), extent};
}

// The values of a block; holes read as fill values.
class LateExtent final : public EntryOpener {
 public:
  using EntryOpener::EntryOpener;
  std::uint64_t size() const override { return entry_.extent_length; }
  bool may_be_sparse() const override { return reader_->file().may_be_sparse(); }
  Result<Source> open() const override {
    NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, reader_->block(entry_));
    return extent_with(std::move(block));
  }
  LateOrigin origin() const override {
    return StoredOrigin{name(), entry_.name, sum_of_entry(entry_)};
  }
};

}  // namespace nmb
