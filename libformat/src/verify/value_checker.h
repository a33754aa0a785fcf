// ValueChecker: sums of stretches of a file, taken by several threads and told in order
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

// What is known of a block while it is checked.
struct BlockVerdict {
  std::string name;
  bool damaged = false;
  std::optional<BlockEntry>
      chunked{};  // set: it has chunks, which are looked at if it is not damaged
  std::optional<BlockEntry> counted{};  // set: it has statistics, which likewise are compared
  bool unsupported = false;             // it has needs that are not known: not looked at whole
};

// Bytes under one sum, with padding to a multiple of 8 but in another file. They lie within the
// file. With a codec their lengths are such as R-EX-4 wants.
struct ValueRange {
  std::uint64_t position = 0;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
  const char* rule = "";                // that a wrong sum breaks
  std::shared_ptr<BlockVerdict> block;  // none: a dead range
  PieceCodec codec = PieceCodec::kNone;
  std::uint64_t raw_length = 0;                  // with a codec
  std::shared_ptr<const ByteSource> external{};  // where they lie; none: in the file itself
  bool in_original = false;                      // `external` reads the file itself
  const char* object = "dead range";             // of no block
  // Where findings stand: at the bytes, unless these are given.
  std::optional<std::uint64_t> sum_at{}, codec_at{};
};

struct ValueOutcome {
  bool sum_right = true;
  bool decodes = true;                         // looked at where the sum is right
  std::optional<std::uint64_t> dirty_padding;  // the first byte that is not zero
  Status status;                               // not ok: the bytes could not be read
};

class ValueChecker {
 public:
  static constexpr std::size_t kBatch = 256;
  // ranks: as VerifyOptions has them.
  ValueChecker(const MeteredSource& file, unsigned threads, Communicator* ranks)
      : file_(file), threads_(threads), ranks_(ranks) {}

  // True: the batch is full.
  bool add(ValueRange range) {
    batch_.push_back(std::move(range));
    return batch_.size() >= kBatch;
  }
  // Checks the ranges added and tells of each, in the order in which they were added.
  void run(const std::function<void(const ValueRange&, const ValueOutcome&)>& tell);

 private:
  // The ranges [0, end) and all that lie in other files.
  void check_here(std::size_t end, std::vector<ValueOutcome>* outcomes);
  Status check_by_ranks(std::vector<ValueOutcome>* outcomes);

  const MeteredSource& file_;
  const unsigned threads_;
  Communicator* const ranks_;
  std::vector<ValueRange> batch_;
};

// The sum of a range, read in pieces of at most 1 MiB through `buffer`; whole where it has a codec.
ValueOutcome check_range(const ByteSource& file, const ValueRange& range, CopyBuffer& buffer);

}  // namespace nmb
