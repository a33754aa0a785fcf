// OriginSteps: the functions that end_define() and a commit call on a value origin
// (origins/extent_origin.h), with default implementations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "model/classic.h"
#include "model/metadata.h"
#include "origins/finished_extent.h"
#include "origins/statistics_tap.h"
#include "origins/value_mover.h"
#include "ranks/write_buffer.h"
#include "values/statistics/extent_counter.h"
#include "wire/failure.h"

namespace nmb {

class ExtentState;

// The space in this file that an origin needs.
struct ValueSpace {
  std::uint64_t length = 0;  // length in bytes; 0 if no space is needed
  // True if the space is aligned as the length of the extent requires; false if the space begins at
  // any multiple of 8.
  bool aligned = false;
  // True if short values may be stored directly after the block.
  bool may_be_inline = false;
};

struct FinishContext {
  std::uint64_t extent_length;  // not 0
  std::uint64_t run_position;   // file position of the reserved space; 0 if no space is reserved
  bool run_is_inline;
  // True if finish() must return all pieces of the extent, because the commit does not keep the old
  // data map.
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
  std::function<Result<std::unique_ptr<ExtentCounter>>()> make_counter;
  std::function<ExtentState*()> extent;  // returns the state of values already in the file
};

struct Counting {
  // The counter if values in chunks must still be counted; nullptr if `counted` has the complete
  // results.
  std::unique_ptr<ExtentCounter> counter;
  NamedStatistics counted;
};

// A dry run uses this value in place of each sum that it does not compute. No other value has a
// longer encoding.
inline constexpr std::uint64_t kWidestSum = ~std::uint64_t{0};

// Each origin must define finish() and count(), and may replace any function of this class.
class OriginSteps {
 public:
  // Returns the space in this file that end_define() reserves.
  ValueSpace space(std::uint64_t) const { return {}; }
  // Describes the pieces for which end_define() reserves a data map. May have more pieces than
  // finish() returns.
  PieceForecast forecast(std::uint64_t, std::uint32_t) const { return {}; }
  // Receives the file position of the reserved space.
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
