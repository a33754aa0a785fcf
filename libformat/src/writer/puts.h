// Values that this rank puts by itself (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "writer/writer_core.h"

namespace nmb {

// Values to be put, checked.
struct Put {
  BlockId block;
  VarId variable;
  Type type;
  Kind kind;
  VariableShape shape;
  std::uint64_t records;  // that it takes; 0: not a record variable
  ConstArray values;
  Hyperslab slab{};
  std::size_t request = 0;  // number of the request that it is
  bool empty = false;
  std::uint64_t out_of_range = 0;
};

class Puts {
 public:
  explicit Puts(WriterCore& writer) : w_(writer) {}

  Status put(BlockId id, VarId variable, const Hyperslab& slab, ConstArray values);

  // --- parts of it, for requests and for puts of all ranks ---
  Result<Put> check(std::string_view operation, BlockId id, VarId variable, const Hyperslab& slab,
                    ConstArray values);
  // The values of puts to blocks that have places for them, or in which they wait for places.
  Status put_all_of(std::span<Put*> puts);
  // Places for what a put writes and that has none yet.
  Status want_places(const Put& put);
  Status range_status(const Put& put) const;

 private:
  Status make_room(std::span<Put* const> puts);
  Status put_run(Put& put, ExtentState& extent, std::uint64_t offset, std::uint64_t index,
                 std::uint64_t elements, std::vector<std::byte>& buffer);

  WriterCore& w_;
};

}  // namespace nmb
