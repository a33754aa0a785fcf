// What end_define and a commit ask of the origin of a block's values (writer/extent_origin.h), and
// what an origin says where it has nothing special to say.
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
  bool aligned = false;        // as the extent's length asks for
  bool may_be_inline = false;  // right behind the block, if it is short
};

struct FinishContext {
  std::uint64_t extent_length;  // not 0
  std::uint64_t run_position;   // of the space; 0: none
  bool run_is_inline;
  bool whole;  // all pieces are wanted: the committed map cannot stay
  std::uint32_t piece_size;
  bool dry_run;
  WriteBuffer& file;
  std::function<Result<const Metadata*>()> definitions;  // of the whole block
  const ClassicLayout& layout;                           // when these were asked for
};

struct CountContext {
  std::uint64_t extent_length;
  unsigned threads;
  WriteBuffer& file;
  std::function<Result<std::unique_ptr<BlockCounter>>()> make_counter;
  std::function<ExtentState*()> extent;  // of values that lie in the file
};

struct Counting {
  std::unique_ptr<BlockCounter> counter;  // saw all values but those in chunks; or null, and
  CountedBlock counted;
};

// In place of sums that a dry run does not know: no sum takes more space.
inline constexpr std::uint64_t kWidestSum = ~std::uint64_t{0};

// An origin hides the steps that are its own; finish() and count() are always.
class OriginSteps {
 public:
  // Of this file, that end_define sets apart.
  ValueSpace space(std::uint64_t) const { return {}; }
  // Where that lies.
  void place(std::uint64_t) {}
  // What the commit moves to it; nullptr: nothing.
  Move* move() { return nullptr; }
  // Values that are moved may be counted by the way.
  void tap(StatisticsTap::MakeCounter) {}
  // Whether it is good for an extent of that length. shared: by several ranks.
  Status check(std::string_view, std::uint64_t, bool) const { return {}; }
  // Whether values may be put.
  static constexpr bool kTakesPuts = false;
};

}  // namespace nmb
