// ExtendedOutput is the state that the encoders of blocks of kind 6 share. Refused says why the
// view leaves out an object (spec/hdf5_view.md, "Blocks of kind 6").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "encoding/global_heap.h"
#include "encoding/view_output.h"
#include "view/hdf5_view.h"
#include "view/known_objects.h"

namespace nmb {

// Flags of a message.
inline constexpr unsigned kConstantMessage = 1, kSharedMessage = 2;
// The maximum number of bytes in a message, and of dimensions of a data set or attribute.
inline constexpr std::size_t kMostMessage = 0xFFFF, kMostRank = 32;

struct ExtendedOutput {
  ViewOutput& out;
  GlobalHeap& heap;
  const KnownObjects& before;  // facts from the previous pass
  KnownObjects& now;
  const OnLeftOut& on_left_out;
  bool copies;  // ViewOptions::copies
  // False in a pass that only computes addresses. Such a pass converts no values of variables.
  bool writes;
  std::uint64_t& chunks;  // number of chunks so far
  std::uint64_t most_chunks;
};

// The numbers of a block's dimension scales, ascending, and the block's source.
struct ScaleNumbers {
  std::span<const std::int64_t> numbers;
  std::size_t source;
};

// The reason why the view leaves out an object.
struct Refusal {
  LeftOutReason reason;
  std::string why;
};
// nullopt means that the view shows the object.
using Refused = std::optional<Refusal>;

}  // namespace nmb
