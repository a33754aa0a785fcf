// Selects blocks and objects by a pattern, and reads only the blocks that the pattern requires. An
// object is a variable with its full name, BLOCK/VARIABLE, which is divided at its last '/'
// (spec/format.md, section 8.4).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "handles/glob.h"
#include "handles/inspected_file.h"

namespace nmb::tools {

// Returns the totals of the blocks whose names match. If the matching names form a contiguous range
// of the index, reads only the pages at the two ends of the range.
Result<Totals> totals_of(const InspectedFile& file, const NamePattern& pattern);

// Not thread-safe.
class ObjectPattern {
 public:
  // Matches all objects.
  ObjectPattern() = default;
  // Errors: kUsage.
  static Result<ObjectPattern> glob(std::string_view pattern);
  static Result<ObjectPattern> regex(std::string_view expression);

  // Returns the number of matching objects. If the pattern selects all objects of each matching
  // block, uses the totals in the index. Otherwise loads each block that may have a matching
  // object.
  Result<std::uint64_t> count(const InspectedFile& file) const;
  // Visits the matching objects block by block, in the order of their definitions, until `visit`
  // returns false.
  using Visit = std::function<Result<bool>(const BlockEntry&, const Dataset&, VarId)>;
  Status for_each(const InspectedFile& file, const Visit& visit) const;
  // Returns whether a variable of a block that for_each() visits matches.
  Result<bool> matches(std::string_view block, std::string_view variable) const;

 private:
  // Cuts the literal prefix of the full pattern at its last '/', and returns the block that has
  // this name.
  Result<std::optional<BlockEntry>> block_above(const InspectedFile& file) const;
  // Visits each block that may have a matching variable.
  Status for_each_candidate(const InspectedFile& file,
                            const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  Result<bool> visit_matches(const InspectedFile& file, const BlockEntry& entry,
                             const Visit& visit) const;

  // The two parts of a glob BLOCK/VARIABLE, if no "**" is next to the slash. The block and the
  // variable are then matched separately.
  struct Parts {
    NamePattern block, variable;
    bool root = false;  // true if BLOCK is empty: only the block with the empty name matches
    bool any_variable = false;  // VARIABLE is "*"
  };
  std::optional<Parts> parts_;
  NamePattern full_;  // the whole pattern; used if parts_ is empty
};

}  // namespace nmb::tools
