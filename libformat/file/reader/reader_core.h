// ReaderCore: reads the head and the index, and loads blocks, for the reader, the writer and
// nmverify.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "block/block_header.h"
#include "block/body_codec.h"
#include "extent/extent_source.h"
#include "extent/external_files.h"
#include "extent/piece_cache.h"
#include "index/index_tree.h"
#include "reader/file_reader.h"
#include "superblock/head.h"
#include "table/block_table.h"

namespace nmb {

// A block in its stored form.
struct StoredBlock {
  BlockHeader header;
  std::vector<std::byte> body;                          // decoded
  std::optional<std::vector<std::byte>> inline_extent;  // a small extent directly after the block
};

class ReaderCore {
 public:
  // `file` must outlive the object. far: `file` if it is on slow storage, otherwise nullptr.
  // `external` and `unverified`: see ReadOptions.
  ReaderCore(const ByteSource& file, Head head, ExternalPaths external = ExternalPaths::kBeneath,
             Unverified unverified = Unverified::kNothing, const FarSource* far = nullptr);
  const Head& head() const { return head_; }
  const IndexTree& index() const { return index_; }
  // Takes the index and growth pages that `before`, the core of the previous generation, has read.
  // `before` must not be used afterwards.
  void continue_from(ReaderCore& before) { index_.continue_from(before.index_); }
  const ByteSource& file() const { return file_; }
  const ExternalFiles& external() const { return external_; }
  // See ExternalFiles::take_table().
  void take_file_table(std::shared_ptr<const FileTable> table) {
    external_.take_table(std::move(table));
  }
  const BlockTable& statistics() const { return statistics_; }
  const BlockTable& tags() const { return tags_; }
  // Returns the data map of an entry, which must have a data map. This object must outlive the data
  // map.
  DataMap map_of(const BlockEntry& entry) const;
  // Visits all pieces of a block's extent, in order. Stops at the first error. Errors: kUnsupported
  // as for check_needs().
  Status for_each_piece(const BlockEntry& entry,
                        const std::function<Status(const Piece&)>& visit) const;
  // Visits only the pieces that overlap [from, to).
  Status for_each_piece(const BlockEntry& entry, std::uint64_t from, std::uint64_t to,
                        const std::function<Status(const Piece&)>& visit) const;
  // Errors: kUnsupported if the block has a need that this version does not know or support.
  Status check_needs(const BlockEntry& entry) const;

  // Reads a block and checks it against its entry (R-BK-1 to R-BK-9). Errors: the first finding;
  // kUnsupported as for check_needs().
  Result<StoredBlock> load(const BlockEntry& entry, bool with_inline) const;
  // Works like load(), but reports all findings. The caller must have checked R-FL-5 for the block,
  // because only the caller knows where the entry is stored. Returns nullopt if the body cannot be
  // used. header_read: may be nullptr. *header_read is set if the block's header is correct and
  // agrees with the entry, so that the body lies where the entry states.
  Result<std::optional<StoredBlock>> check(const BlockEntry& entry, bool with_inline,
                                           Findings& findings,
                                           std::optional<BlockHeader>* header_read = nullptr) const;
  // Returns the values of a block, without its definitions. The holes read as `fill`. `entry` and
  // `fill` must outlive the result, and so must this object. inline_extent: the whole extent if it
  // was read with the block.
  Result<std::unique_ptr<ExtentSource>> values_of(
      const BlockEntry& entry, const FillPattern& fill,
      std::optional<std::vector<std::byte>> inline_extent = std::nullopt) const;
  // Decodes the metadata of a loaded block and attaches the block's values. The inline extent is
  // moved out of `stored`.
  Result<std::shared_ptr<const LoadedBlock>> decode(const BlockEntry& entry, StoredBlock& stored,
                                                    std::shared_ptr<const void> keep_alive) const;

 private:
  const ByteSource& file_;
  Head head_;
  IndexTree index_;
  ExternalFiles external_;
  BlockTable statistics_, tags_;
  BodyDecompressor decompressor_;
  mutable PieceCache pieces_;
};

// Returns the offset, from the start of the header, of the first byte after the last value (without
// padding) in a block with `records` records. Returns 2^64 - 1 if the offset does not fit into 64
// bits.
std::uint64_t values_end(const ClassicHeader& header, std::uint64_t records);

// Returns the position in the file of the value in a column of the block's index row. Findings
// state this position.
using ValueOffset = std::function<std::uint64_t(Column)>;

// Decodes a body, checks R-BK-10 to R-BK-12, R-BK-20 and R-BK-21, and reports all findings. Returns
// nullopt if there is no valid header. header_records: number of records in the block's header.
// Errors: kUnsupported for kind 6.
Result<std::optional<ClassicHeader>> check_body(const BlockEntry& entry,
                                                std::uint64_t header_records,
                                                const ByteSource& body,
                                                const ValueOffset& value_offset,
                                                Findings& findings);
// Works like check_body(), but returns the first finding as the error. `body` was read from `file`.
Result<ClassicHeader> decode_body(const BlockEntry& entry, std::uint64_t header_records,
                                  std::span<const std::byte> body, const ByteSource& file);

}  // namespace nmb
