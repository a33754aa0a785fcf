// LazyBody and LazyExtent: the body and the values of a block of an NMB input. They are loaded only
// when they are read.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "files/lazy_source.h"
#include "files/owned_bytes.h"
#include "nmb/reader.h"

namespace nmb {

// The raw body of a block.
struct BodyOfBlock {
  std::shared_ptr<const Reader> reader;
  BlockEntry entry;

  std::uint64_t size() const { return entry.raw_length; }
  const std::string& name() const { return reader->file().name(); }
  bool may_be_sparse() const { return false; }
  Result<Source> open() const {
    NMB_ASSIGN(std::vector<std::byte> body, reader->body(entry));
    return Source(owned_bytes(std::move(body), name()));
  }
};
using LazyBody = LazySource<BodyOfBlock>;

// Returns the extent of a block. The extent keeps the whole block in memory, including the block's
// metadata.
inline Source extent_with(std::shared_ptr<const Block> block) {
  const ByteSource* const extent = block->extent.get();
  return {std::move(block), extent};
}

// The values of a block; holes read as fill values.
struct ExtentOfBlock {
  std::shared_ptr<const Reader> reader;
  BlockEntry entry;

  std::uint64_t size() const { return entry.extent_length; }
  const std::string& name() const { return reader->file().name(); }
  bool may_be_sparse() const { return reader->file().may_be_sparse(); }
  Result<Source> open() const {
    NMB_ASSIGN(std::shared_ptr<const Block> block, reader->block(entry));
    return extent_with(std::move(block));
  }
};
using LazyExtent = LazySource<ExtentOfBlock>;

}  // namespace nmb
