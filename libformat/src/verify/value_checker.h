// ValueChecker: computes the sums of ranges of a file on several threads and reports them in order
// (spec/format.md, sections 10.1 and 11).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/stored_piece.h"
#include "nmb/block_entry.h"
#include "nmb/bytes.h"
#include "nmb/communicator.h"
#include "verify/metered_source.h"
#include "wire/copy_buffer.h"

namespace nmb {

// The state of a block while it is checked.
struct BlockVerdict {
  std::string name;
  bool damaged = false;
  std::optional<BlockEntry>
      chunked{};  // set: it has chunks, which are checked if the block is not damaged
  std::optional<BlockEntry> counted{};  // set: it has statistics, which are compared if it is not
                                        // damaged
  bool unsupported = false;             // it has unknown needs and is not checked completely
};

// Bytes under one sum. In the file itself, padding to a multiple of 8 follows them; in another file
// it does not. They are inside the file. If there is a codec, their lengths obey R-EX-4.
struct ValueRange {
  std::uint64_t position = 0;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
  const char* rule = "";                // the rule that a wrong sum breaks
  std::shared_ptr<BlockVerdict> block;  // nullptr: a dead range
  PieceCodec codec = PieceCodec::kNone;
  std::uint64_t raw_length = 0;                  // set if there is a codec
  std::shared_ptr<const ByteSource> external{};  // source of the bytes; nullptr: the file itself
  bool in_original = false;                      // `external` reads the file itself
  const char* object = "dead range";             // for ranges of no block
  // The offsets that findings state, if not that of the bytes.
  std::optional<std::uint64_t> sum_at{}, codec_at{};
};

struct ValueOutcome {
  std::optional<std::uint64_t> wrong_sum;      // the sum of the bytes if it differs
  bool decodes = true;                         // checked if the sum is right
  std::optional<std::uint64_t> dirty_padding;  // the offset of the first byte that is not zero
  Status status;                               // not ok: the bytes could not be read
};

class ValueChecker {
 public:
  static constexpr std::size_t kBatch = 256;
  // ranks: like those of VerifyOptions.
  ValueChecker(const MeteredSource& file, unsigned threads, Communicator* ranks)
      : file_(file), threads_(threads), ranks_(ranks) {}

  // Returns true if the batch is full.
  bool add(ValueRange range) {
    batch_.push_back(std::move(range));
    return batch_.size() >= kBatch;
  }
  // Checks the added ranges and reports each, in the order in which they were added.
  void run(const std::function<void(const ValueRange&, const ValueOutcome&)>& tell);

 private:
  // Checks the ranges [0, end) and all ranges in other files.
  void check_here(std::size_t end, std::vector<ValueOutcome>* outcomes);
  Status check_by_ranks(std::vector<ValueOutcome>* outcomes);

  const MeteredSource& file_;
  const unsigned threads_;
  Communicator* const ranks_;
  std::vector<ValueRange> batch_;
};

// Computes the sum of a range, which is read through `buffer` in pieces of at most 1 MiB, or at
// once if it has a codec.
ValueOutcome check_range(const ByteSource& file, const ValueRange& range, CopyBuffer& buffer);

}  // namespace nmb
