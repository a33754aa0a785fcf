// Selects blocks and objects by pattern, and reads as little as the pattern allows. An object is a
// variable with its full name, BLOCK/VARIABLE, which is divided at its last '/' (spec/format.md,
// section 8.4).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/glob.h"
#include "nminspect/inspected_file.h"

namespace nmb::tools {

// Returns the full name of an object.
std::string full_name(std::string_view block, std::string_view variable);

// Visits the blocks whose names match, in the order of names, until `visit` returns false. For a
// literal name, reads one path of the index. For any other pattern, reads the leaves in the range
// of the pattern's literal prefix.
Status for_each_block(const InspectedFile& file, const NamePattern& pattern,
                      const std::function<Result<bool>(const BlockEntry&)>& visit);

// Returns the totals of the blocks whose names match. If these names are a contiguous range, reads
// only the edges of this range in the index.
Result<Totals> totals_of(const InspectedFile& file, const NamePattern& pattern);

// Not thread-safe.
class ObjectPattern {
 public:
  // Matches all objects.
  ObjectPattern() = default;
  // Errors: kUsage.
  static Result<ObjectPattern> glob(std::string_view pattern);
  static Result<ObjectPattern> regex(std::string_view expression);

  // Returns the number of matching objects. Uses totals if the pattern selects whole blocks;
  // otherwise loads the blocks that may have matching objects.
  Result<std::uint64_t> count(const InspectedFile& file) const;
  // Visits the matching objects block by block, in the order of their definitions, until `visit`
  // returns false.
  using Visit = std::function<Result<bool>(const BlockEntry&, const Dataset&, VarId)>;
  Status for_each(const InspectedFile& file, const Visit& visit) const;

 private:
  // Returns the block that is named by the full pattern's literal prefix up to its last '/'.
  Result<std::optional<BlockEntry>> block_above(const InspectedFile& file) const;
  // Visits the blocks that have variables which may match.
  Status for_each_candidate(const InspectedFile& file,
                            const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  Result<bool> matches(std::string_view block, std::string_view variable) const;
  Result<bool> visit_matches(const InspectedFile& file, const BlockEntry& entry,
                             const Visit& visit) const;

  // A glob BLOCK/VARIABLE whose two parts match independently, because there is no "**" at the
  // slash.
  struct Parts {
    NamePattern block, variable;
    bool root = false;          // the glob names no block: it means the block with the empty name
    bool any_variable = false;  // VARIABLE is "*"
  };
  std::optional<Parts> parts_;
  NamePattern full_;  // used if parts_ is empty
};

}  // namespace nmb::tools
