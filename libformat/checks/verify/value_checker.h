// ValueChecker: computes the sums of ranges of a file on several threads and reports them in order
// (spec/format.md, sections 10.1 and 11).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/copy_buffer.h"
#include "model/stored_piece.h"
#include "parallel/communicator.h"
#include "verify/metered_source.h"
#include "verify/original_digests.h"
#include "verify/verify.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"

namespace nmb {

// The recorded digests of a classic file that became a block.
struct DigestedFile {
  BlockEntry entry;
  std::uint64_t xxh3_at = 0, sha256_at = 0;  // offsets of the recorded digests
  // Set if the block has a data map. The digests then already include a part of the file.
  std::unique_ptr<OriginalDigests> digests{};
};

// The state of a block while it is checked.
struct CheckState {
  std::string name;
  bool damaged = false;
  BlockEntry entry{};  // with the growth of the block
  // Set if the block has chunks. If the block is not damaged, its chunks are checked.
  std::optional<BlockEntry> chunked{};
  std::optional<BlockEntry> counted{};  // Set if the block has statistics. If the block is not
                                        // damaged, its statistics are computed again and compared.
  // True if the block has unknown needs and is not checked completely.
  bool unsupported = false;
  bool gives_file = false;  // true if the block counts as an original
  // Set if the digests of the classic file that became the block are checked.
  std::optional<DigestedFile> file{};
};

// A range of bytes with one recorded sum. The range lies inside its file; in the NMB file, padding
// to a multiple of 8 follows it. If the range has a codec, its lengths obey R-EX-12.
struct ValueRange {
  std::uint64_t position = 0;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
  // The values of the range in their extent: offset of the first value, and number of the piece.
  std::uint64_t logical = 0, piece = 0;
  const char* rule = "";                // the rule that a wrong sum breaks
  std::shared_ptr<CheckState> block{};  // nullptr for a dead range
  PieceCodec codec = PieceCodec::kNone;
  std::uint64_t raw_length = 0;  // set only if the range has a codec
  // Source of the bytes, or nullptr if the bytes are in the NMB file.
  std::shared_ptr<const ByteSource> external{};
  // True if `external` reads an original that is in the NMB file.
  bool in_original = false;
  bool is_digested = false;  // true if the range is read again to compute a digest
  // If the range belongs to no block, findings use this name.
  const char* object = "dead range";
  // File offsets for findings about the sum and for findings about the codec. If these offsets are
  // not set, findings have the offset of the range.
  std::optional<std::uint64_t> sum_at{}, codec_at{};
};

struct ValueOutcome {
  std::optional<std::uint64_t> wrong_sum;  // the computed sum if it is not the recorded sum
  bool decodes = true;  // false if the bytes do not decode; checked only if the sum is right
  // Offset of the first padding byte that is not zero.
  std::optional<std::uint64_t> dirty_padding;
  Status status;  // not ok if the bytes could not be read
};

class ValueChecker {
 public:
  static constexpr std::size_t kBatch = 256;
  // `file` and `options` must outlive this object.
  ValueChecker(const MeteredSource& file, const VerifierOptions& options)
      : file_(file), options_(options), threads_(options.threads), ranks_(options.ranks) {}

  // Returns true if the batch is full.
  bool add(ValueRange range) {
    batch_.push_back(std::move(range));
    return batch_.size() >= kBatch;
  }
  // Checks the added ranges and reports each range, in the order in which the ranges were added.
  // Does not read ranges of VerifierOptions::checked.
  void run(const std::function<void(const ValueRange&, const ValueOutcome&)>& tell);

 private:
  std::vector<ValueOutcome> check(const std::vector<ValueRange>& ranges);
  // Checks the ranges [0, end) and all ranges in other files. This rank does all the work.
  void check_here(const std::vector<ValueRange>& ranges, std::size_t end,
                  std::vector<ValueOutcome>* outcomes);
  Status check_by_ranks(const std::vector<ValueRange>& ranges, std::vector<ValueOutcome>* outcomes);
  std::vector<ValueOutcome> take_known();
  void note_checked(std::size_t known, const std::vector<ValueOutcome>& outcomes);

  const MeteredSource& file_;
  const VerifierOptions& options_;
  const unsigned threads_;
  Communicator* const ranks_;
  std::vector<ValueRange> batch_;
  std::uint64_t checked_ = 0;   // number of ranges before the batch
  std::size_t next_fault_ = 0;  // in VerifierOptions::checked
  // Whether a range could not be read, or lies in another file. A later check reads such ranges
  // again, because the other file may have changed.
  bool has_unread_ = false;
};

// Computes the sum of a range. Reads the range through `buffer`, at most 1 MiB at a time. A range
// with a codec is read completely before it is decoded.
ValueOutcome check_range(const ByteSource& file, const ValueRange& range, CopyBuffer& buffer);

}  // namespace nmb
