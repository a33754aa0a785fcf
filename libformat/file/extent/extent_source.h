// ExtentSource reads a block's values as one source of bytes, wherever the pieces lie
// (spec/format.md, section 10.1).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "extent/piece_cache.h"
#include "extent/piece_finder.h"
#include "model/external_files.h"
#include "model/values.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"

namespace nmb {

// Thread-safe. Every piece that a read overlaps is read completely and checked, unless `unverified`
// excludes it. kPartsOfPieces excludes a piece only if the read covers a part of it, and the piece
// is uncoded and in this file. Other programs may change pieces in other files.
class ExtentSource final : public ByteSource {
 public:
  // `superblock`, `growth` and `cache` belong to `file`. external: nullptr for an original (see
  // DataMap). inline_bytes: the whole extent, if it was read together with the block. All arguments
  // that are not copied must outlive this object.
  ExtentSource(const ByteSource& file, const ExternalFiles* external, const Superblock& superblock,
               const BlockEntry& entry, std::span<const GrowthRow> growth,
               std::optional<std::vector<std::byte>> inline_bytes, const FillPattern& fill,
               PieceCache& cache, Unverified unverified);
  std::uint64_t size() const override { return length_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return file_.name(); }
  // Returns whether all pieces that overlap the range consist of zeros for which the file system
  // has no storage. Compares the sums of the pieces with sums of zeros.
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override;
  bool may_be_sparse() const override { return !inline_bytes_ && !hole_ && file_.may_be_sparse(); }
  KnownSource known() const override { return this; }
  // Returns the number of bytes of values in memory.
  std::size_t memory() const { return inline_bytes_ ? inline_bytes_->size() : 0; }

  // --- for reading these values from the file together with those of other blocks ---
  // The bytes [begin, end) of the extent, which are whole pieces and lie contiguously at `position`
  // of the file. The position is 0 if the bytes are in memory, coded, in another file, or not
  // stored.
  struct ContiguousRange {
    std::uint64_t begin = 0, end = 0, position = 0;
  };
  // Returns the range that contains `offset`.
  Result<ContiguousRange> contiguous_at(std::uint64_t offset) const;
  // Checks `bytes` of the extent from `offset` on, which were read from `position` of the file. A
  // ContiguousRange must begin at `offset`; the bytes may include later ranges. Calls bad(piece,
  // why) for each damaged piece that lies completely within `bytes`. Fails if a page of the data
  // map cannot be read.
  Status check(std::uint64_t offset, std::uint64_t position, std::span<const std::byte> bytes,
               const std::function<void(const Piece&, const Status&)>& bad) const;
  const ByteSource& file() const { return file_; }
  // Returns whether reading a part of a piece reads and checks the whole piece.
  bool verifies() const { return unverified_ != Unverified::kPartsOfPieces; }

 private:
  Result<const ByteSource*> file_of(const Piece& piece,
                                    std::shared_ptr<const ByteSource>* keep) const;
  // Reads the stored bytes of a piece and checks their sum.
  Result<std::vector<std::byte>> stored_of(const Piece& piece) const;
  Status check_offset(std::uint64_t offset, std::uint64_t length) const;
  Status check_piece(const Piece& piece, std::span<const std::byte> bytes) const;
  Status piece_error(const Piece& piece, Code code, const std::string& rule,
                     const std::string& message) const;
  bool may_hold_piece(std::uint64_t from, std::uint64_t to) const;
  Status read_piece(const Piece& piece, std::uint64_t offset, std::span<std::byte> out) const;
  // Reads a whole piece, checks its sum, and decodes it.
  Status load_piece(const Piece& piece, std::span<std::byte> out) const;
  Result<std::vector<std::byte>> load_piece(const Piece& piece) const;
  // Returns the pieces that overlap [from, to), in ascending order.
  Result<std::vector<Piece>> pieces_in(std::uint64_t from, std::uint64_t to) const;
  std::uint64_t sum_of_zeros(std::uint64_t length) const;

  const ByteSource& file_;
  const ExternalFiles* external_;
  std::uint64_t length_;
  std::uint64_t settled_;       // length of the extent without growth pages
  std::uint64_t run_position_;  // position of the extent if it is one run; 0 if its pieces have
                                // their own positions
  std::uint64_t run_sum_;
  std::uint32_t piece_size_;
  bool mapped_;  // whether the extent may have several pieces
  bool hole_;
  Unverified unverified_;
  std::optional<std::vector<std::byte>> inline_bytes_;
  const FillPattern& fill_;
  PieceCache& cache_;
  mutable std::mutex mutex_;  // protects the mutable members
  PieceFinder pieces_;
  mutable std::uint64_t zeros_length_ = 0,
                        zeros_sum_ = 0;  // last argument and last result of sum_of_zeros()
};

}  // namespace nmb
