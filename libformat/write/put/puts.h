// Puts values independently of other ranks (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "state/writer_core.h"
#include "values/run_cursor.h"

namespace nmb {

// A put whose arguments have been checked.
struct Put {
  BlockId block;
  VarId variable;
  Type type;
  Kind kind;
  VariableShape shape;
  // Number of records that the block must have after the put; 0 if the variable is not a record
  // variable.
  std::uint64_t records;
  ConstArray values;
  Hyperslab slab{};
  SelectedRuns selected{};  // in place of `slab`, if not null
  std::size_t request = 0;  // index of the request in the call of wait() or wait_all()
  bool empty = false;
  std::uint64_t out_of_range = 0;

  RunCursor runs() const {
    return selected ? RunCursor(shape.element_size, selected) : RunCursor(shape, slab);
  }
};

class Puts {
 public:
  explicit Puts(WriterCore& writer) : w_(writer) {}

  Status put(BlockId id, VarId variable, const Hyperslab& slab, ConstArray values);

  // --- steps of put(), also for requests and collective puts ---
  Result<Put> check(std::string_view operation, BlockId id, VarId variable, const Hyperslab& slab,
                    ConstArray values);
  // As check(), for runs of numbered_runs(). There are several puts if the runs do not ascend.
  Result<std::vector<Put>> check(std::string_view operation, BlockId id, VarId variable,
                                 std::span<const NumberedRun> runs, ConstArray values);
  // Returns a put of which only what does not depend on the selection is set.
  Result<Put> check_variable(std::string_view operation, BlockId id, VarId variable,
                             ConstArray values);
  // Puts the values of all `puts`. If a value has no place in the file yet, the stage keeps it.
  Status put_all_of(std::span<Put*> puts);
  // Requests places for the bytes of a put that have no place yet.
  Status want_places(const Put& put);
  Status range_status(const Put& put) const;

 private:
  Status check_linked(const Put& put) const;
  Status make_room(std::span<Put* const> puts);
  Status put_run(Put& put, ExtentState& extent, std::uint64_t offset, std::uint64_t index,
                 std::uint64_t elements, std::vector<std::byte>& buffer);

  WriterCore& w_;
};

}  // namespace nmb
