// ReaderCore: the head, the index and the loading of blocks, which reader, writer and nmverify share.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "block/block_header.h"
#include "block/body_codec.h"
#include "index/index_tree.h"
#include "nmb/reader.h"
#include "superblock/superblock.h"

namespace nmb {

// A block as it is stored.
struct StoredBlock {
  BlockHeader header;
  std::vector<std::byte> body;                            // raw
  std::optional<std::vector<std::byte>> inline_extent;  // if it lies behind the block and is small
};

class ReaderCore {
 public:
  // `file` outlives it.
  ReaderCore(const ByteSource& file, Head head);
  const Head& head() const { return head_; }
  const IndexTree& index() const { return index_; }
  const ByteSource& file() const { return file_; }

  // Reads and checks a block against its entry: R-BK-1 to R-BK-9. The first finding is the error.
  Result<StoredBlock> load(const BlockEntry& entry, bool with_inline) const;
  // As load, all findings reported; nullopt: the body is of no use.
  Result<std::optional<StoredBlock>> check(const BlockEntry& entry, bool with_inline,
                                           Findings& findings) const;
  // Decodes a loaded block's metadata and gives it its values.
  Result<std::shared_ptr<const Block>> decode(const BlockEntry& entry, StoredBlock stored,
                                              std::shared_ptr<const void> keep_alive,
                                              bool verify_values) const;

 private:
  const ByteSource& file_;
  Head head_;
  IndexTree index_;
  BodyDecompressor decompressor_;
};

// Bytes of a verbatim or canonical body, checked and decoded: R-BK-10 to R-BK-12. offset: of the body in the file.
Result<ClassicHeader> decode_body(const BlockEntry& entry, std::span<const std::byte> body,
                                  const ByteSource& file);

}  // namespace nmb
