// ReaderCore: the head, the index and the loading of blocks, shared by reader, writer and nmverify.
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

// A block in its stored form.
struct StoredBlock {
  BlockHeader header;
  std::vector<std::byte> body;                          // decoded
  std::optional<std::vector<std::byte>> inline_extent;  // if it follows the block directly and is
                                                        // small
};

class ReaderCore {
 public:
  // `file` must outlive it. far: `file` if it is on slow storage, otherwise nullptr.
  ReaderCore(const ByteSource& file, Head head, ExternalPaths external = ExternalPaths::kBeneath,
             const FarSource* far = nullptr);
  const Head& head() const { return head_; }
  const IndexTree& index() const { return index_; }
  // before: the core of the generation before, which is no longer used. The parts of its index and
  // growth pages that it has read are kept.
  void continue_from(ReaderCore& before) { index_.continue_from(before.index_); }
  const ByteSource& file() const { return file_; }
  const ExternalFiles& external() const { return external_; }
  const BlockTable& statistics() const { return statistics_; }
  const BlockTable& tags() const { return tags_; }
  // Returns the data map of an entry that has one; this must outlive it.
  DataMap map_of(const BlockEntry& entry) const;
  // Visits all pieces of a block's extent, in order; stops at the first failure. Errors:
  // kUnsupported: check_needs().
  Status for_each_piece(const BlockEntry& entry,
                        const std::function<Status(const Piece&)>& visit) const;
  // Visits the pieces that overlap [from, to).
  Status for_each_piece(const BlockEntry& entry, std::uint64_t from, std::uint64_t to,
                        const std::function<Status(const Piece&)>& visit) const;
  // Returns kUnsupported if the block has a need that this version does not know or refuses.
  Status check_needs(const BlockEntry& entry) const;

  // Reads a block and checks it against its entry: R-BK-1 to R-BK-9. The first finding is the
  // error. kUnsupported: check_needs().
  Result<StoredBlock> load(const BlockEntry& entry, bool with_inline) const;
  // Like load, but reports all findings (R-FL-5 at the block is checked earlier, by the caller, who
  // knows the entry's place); nullopt: the body cannot be used. header: if not nullptr, set if the
  // block's header is right and fits the entry, so that the body lies where the entry says.
  Result<std::optional<StoredBlock>> check(const BlockEntry& entry, bool with_inline,
                                           Findings& findings,
                                           std::optional<BlockHeader>* header_read = nullptr) const;
  // Decodes a loaded block's metadata and attaches its values. Also takes its inline extent.
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

// Returns the end of the last value with this many records, without padding, from the start of the
// header; all bits set if it is past 2^64.
std::uint64_t values_end(const ClassicHeader& header, std::uint64_t records);

// Returns the position in the file of an entry's value, for findings.
using ValueOffset = std::function<std::uint64_t(Column)>;

// Decodes a body, checks R-BK-10 to R-BK-12 and reports all findings; nullopt: no header.
// header_records: from the block's header. Errors: kUnsupported: kind 6.
Result<std::optional<ClassicHeader>> check_body(
    const BlockEntry& entry, std::uint64_t header_records, std::span<const std::byte> body,
    const ByteSource& file, const ValueOffset& value_offset, Findings& findings);
// Like check_body, but the first finding is the error.
Result<ClassicHeader> decode_body(const BlockEntry& entry, std::uint64_t header_records,
                                  std::span<const std::byte> body, const ByteSource& file);

}  // namespace nmb
