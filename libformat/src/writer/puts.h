// Values that this rank puts alone (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "writer/writer_core.h"

namespace nmb {

// Values to be put, after checks.
struct Put {
  BlockId block;
  VarId variable;
  Type type;
  Kind kind;
  VariableShape shape;
  std::uint64_t records;  // needed number of records; 0: not a record variable
  ConstArray values;
  Hyperslab slab{};
  std::size_t request = 0;  // number of its request
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
  // Puts values to blocks that have places for them; values without places wait.
  Status put_all_of(std::span<Put*> puts);
  // Requests places for the bytes that a put writes and that have none yet.
  Status want_places(const Put& put);
  Status range_status(const Put& put) const;

 private:
  Status make_room(std::span<Put* const> puts);
  Status put_run(Put& put, ExtentState& extent, std::uint64_t offset, std::uint64_t index,
                 std::uint64_t elements, std::vector<std::byte>& buffer);

  WriterCore& w_;
};

}  // namespace nmb
