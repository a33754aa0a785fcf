// The functions of a value origin (writer/extent_origin.h) that end_define() and a commit call,
// with defaults.
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

// The space in this file that an origin needs.
struct ValueSpace {
  std::uint64_t length = 0;  // length in bytes; 0 if no space is needed
  // True if the space gets the alignment for the length of the extent.
  bool aligned = false;
  // True if the space may follow the block immediately when the values are short.
  bool may_be_inline = false;
};

struct FinishContext {
  std::uint64_t extent_length;  // not 0
  std::uint64_t run_position;   // file position of the space; 0 if there is none
  bool run_is_inline;
  // True if all pieces are needed, because the committed data map cannot stay.
  bool whole;
  std::uint32_t piece_size;
  bool dry_run;
  WriteBuffer& file;
  std::function<Result<const Metadata*>()>
      definitions;              // returns the definitions of the whole block
  const ClassicLayout& layout;  // valid only after a call of definitions()
};

struct CountContext {
  std::uint64_t extent_length;
  unsigned threads;
  WriteBuffer& file;
  std::function<Result<std::unique_ptr<BlockCounter>>()> make_counter;
  std::function<ExtentState*()> extent;  // returns the state of values that are in the file
};

struct Counting {
  // A counter that has counted all values except values in chunks, or nullptr if `counted` is the
  // result.
  std::unique_ptr<BlockCounter> counter;
  CountedBlock counted;
};

// Replaces the sums that a dry run does not know. The encoded form of this sum is the longest
// possible one.
inline constexpr std::uint64_t kWidestSum = ~std::uint64_t{0};

// An origin defines finish() and count(), and each of these functions in which it differs from the
// default.
class OriginSteps {
 public:
  // Returns the space in this file that end_define() reserves.
  ValueSpace space(std::uint64_t) const { return {}; }
  // Tells the origin the file position of the reserved space.
  void place(std::uint64_t) {}
  // Returns the move that the commit performs to fill the space, or nullptr if there is none.
  Move* move() { return nullptr; }
  // Lets the origin count values while the commit moves them.
  void tap(StatisticsTap::MakeCounter) {}
  // Checks that the origin suits an extent of this length. shared: several ranks share the block.
  Status check(std::string_view, std::uint64_t, bool) const { return {}; }
  // True if the program may put values to the block.
  static constexpr bool kTakesPuts = false;
};

}  // namespace nmb
