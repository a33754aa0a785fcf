// The steps in which end_define() and a commit call the origin of a block's values
// (writer/extent_origin.h), with defaults for each step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "nmb/classic.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "values/statistics/block_counter.h"
#include "writer/finished_extent.h"
#include "writer/statistics_tap.h"
#include "writer/value_mover.h"
#include "writer/write_buffer.h"

namespace nmb {

class ExtentState;

// Space in this file.
struct ValueSpace {
  std::uint64_t length = 0;    // 0: none is needed
  bool aligned = false;        // with the alignment for the extent's length
  bool may_be_inline = false;  // immediately after the block, if it is short
};

struct FinishContext {
  std::uint64_t extent_length;  // not 0
  std::uint64_t run_position;   // of the space; 0: none
  bool run_is_inline;
  bool whole;  // all pieces are needed because the committed map cannot stay
  std::uint32_t piece_size;
  bool dry_run;
  WriteBuffer& file;
  std::function<Result<const Metadata*>()> definitions;  // of the whole block
  const ClassicLayout& layout;                           // valid after definitions() was called
};

struct CountContext {
  std::uint64_t extent_length;
  unsigned threads;
  WriteBuffer& file;
  std::function<Result<std::unique_ptr<BlockCounter>>()> make_counter;
  std::function<ExtentState*()> extent;  // for values that are in the file
};

struct Counting {
  std::unique_ptr<BlockCounter> counter;  // has counted all values except those in chunks; nullptr:
                                          // see `counted`
  CountedBlock counted;
};

// Stands for sums that a dry run does not know: no sum takes more space.
inline constexpr std::uint64_t kWidestSum = ~std::uint64_t{0};

// An origin defines the steps in which it differs; it always defines finish() and count().
class OriginSteps {
 public:
  // Returns the space in this file that end_define() reserves.
  ValueSpace space(std::uint64_t) const { return {}; }
  // Tells the origin where that space is.
  void place(std::uint64_t) {}
  // Returns what the commit moves to this space; nullptr: nothing.
  Move* move() { return nullptr; }
  // The origin may count values while it moves them.
  void tap(StatisticsTap::MakeCounter) {}
  // Checks that it suits an extent of that length. shared: by several ranks.
  Status check(std::string_view, std::uint64_t, bool) const { return {}; }
  // Whether values may be put.
  static constexpr bool kTakesPuts = false;
};

}  // namespace nmb
