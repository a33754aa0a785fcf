// ReaderCore: the head, the index and the loading of blocks, which reader, writer and nmverify
// share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "format/block/block_header.h"
#include "format/block/body_codec.h"
#include "format/extent/external_files.h"
#include "format/extent/piece_cache.h"
#include "format/index/index_tree.h"
#include "format/superblock/head.h"
#include "format/table/block_table.h"
#include "nmb/reader.h"

namespace nmb {

// A block as it is stored.
struct StoredBlock {
  BlockHeader header;
  std::vector<std::byte> body;                          // raw
  std::optional<std::vector<std::byte>> inline_extent;  // if it lies behind the block and is small
};

class ReaderCore {
 public:
  // `file` outlives it.
  // far: nullptr, or `file` where it is far away.
  ReaderCore(const ByteSource& file, Head head, ExternalPaths external = ExternalPaths::kBeneath,
             const FarSource* far = nullptr);
  const Head& head() const { return head_; }
  const IndexTree& index() const { return index_; }
  // `before`: of the generation before, of no use any more. What was read of its index and growth
  // pages is not read again.
  void continue_from(ReaderCore& before) { index_.continue_from(before.index_); }
  const ByteSource& file() const { return file_; }
  const ExternalFiles& external() const { return external_; }
  const BlockTable& statistics() const { return statistics_; }
  const BlockTable& tags() const { return tags_; }
  // The data map of an entry that has one; this outlives it.
  DataMap map_of(const BlockEntry& entry) const;
  // All pieces of a block's extent, in order; stops at the first failure. kUnsupported:
  // check_needs().
  Status for_each_piece(const BlockEntry& entry,
                        const std::function<Status(const Piece&)>& visit) const;
  // The same of those that touch [from, to).
  Status for_each_piece(const BlockEntry& entry, std::uint64_t from, std::uint64_t to,
                        const std::function<Status(const Piece&)>& visit) const;
  // kUnsupported: the block has a need that this version does not know, or refuses.
  Status check_needs(const BlockEntry& entry) const;

  // Reads and checks a block against its entry: R-BK-1 to R-BK-9. The first finding is the error.
  // kUnsupported: check_needs().
  Result<StoredBlock> load(const BlockEntry& entry, bool with_inline) const;
  // As load, all findings reported (R-FL-5 at the block: who knows the entry's place checks it
  // before); nullopt: the body is of no use. header, if it is given: set where the block's header
  // is right and fits the entry, so that the body lies where the entry says.
  Result<std::optional<StoredBlock>> check(const BlockEntry& entry, bool with_inline,
                                           Findings& findings,
                                           std::optional<BlockHeader>* header_read = nullptr) const;
  // Decodes a loaded block's metadata and gives it its values.
  // Takes its inline extent, too.
  Result<std::shared_ptr<const Block>> decode(const BlockEntry& entry, StoredBlock& stored,
                                              std::shared_ptr<const void> keep_alive,
                                              bool verify_values) const;

 private:
  const ByteSource& file_;
  Head head_;
  IndexTree index_;
  ExternalFiles external_;
  BlockTable statistics_, tags_;
  BodyDecompressor decompressor_;
  mutable PieceCache pieces_;
};

// First byte behind the last value of so many records, padding not counted, from the start of the
// header; past 2^64: all bits set.
std::uint64_t values_end(const ClassicHeader& header, std::uint64_t records);

// Where an entry's value lies in the file, for findings.
using ValueOffset = std::function<std::uint64_t(Column)>;

// Decodes a body and checks R-BK-10 to R-BK-12, all findings reported; nullopt: no header.
// header_records: of the block's header. kUnsupported: kind 6.
Result<std::optional<ClassicHeader>> check_body(
    const BlockEntry& entry, std::uint64_t header_records, std::span<const std::byte> body,
    const ByteSource& file, const ValueOffset& value_offset, Findings& findings);
// As check_body; the first finding is the error.
Result<ClassicHeader> decode_body(const BlockEntry& entry, std::uint64_t header_records,
                                  std::span<const std::byte> body, const ByteSource& file);

}  // namespace nmb
