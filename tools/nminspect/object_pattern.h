// Which blocks and objects (variables, by full name) a pattern means, found with as little reading
// as it allows. A full name splits at its last '/' (spec/format.md, section 8.4).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/glob.h"
#include "nminspect/inspected_file.h"

namespace nmb::tools {

// The full name of an object.
std::string full_name(std::string_view block, std::string_view variable);

// Visits the blocks whose names match, in order of names, until `visit` returns false. Reads one
// path of the index for a name, else the leaves of the range that the pattern's literal prefix
// leaves.
Status for_each_block(const InspectedFile& file, const NamePattern& pattern,
                      const std::function<Result<bool>(const BlockEntry&)>& visit);

// The totals of those blocks; of a whole range of names only the edges are read.
Result<Totals> totals_of(const InspectedFile& file, const NamePattern& pattern);

// Not thread-safe.
class ObjectPattern {
 public:
  // All objects.
  ObjectPattern() = default;
  // kUsage.
  static Result<ObjectPattern> glob(std::string_view pattern);
  static Result<ObjectPattern> regex(std::string_view expression);

  // From totals where the pattern takes whole blocks, else by loading the blocks that may hold one.
  Result<std::uint64_t> count(const InspectedFile& file) const;
  // In order of blocks, then of definition, until `visit` returns false.
  using Visit = std::function<Result<bool>(const BlockEntry&, const Dataset&, VarId)>;
  Status for_each(const InspectedFile& file, const Visit& visit) const;

 private:
  // The block that holds the objects directly below the full pattern's literal prefix.
  Result<std::optional<BlockEntry>> block_above(const InspectedFile& file) const;
  // Blocks with variables that may match.
  Status for_each_candidate(const InspectedFile& file,
                            const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  Result<bool> matches(std::string_view block, std::string_view variable) const;
  Result<bool> visit_matches(const InspectedFile& file, const BlockEntry& entry,
                             const Visit& visit) const;

  // A glob BLOCK/VARIABLE whose two parts match by themselves: without "**" at the slash.
  struct Parts {
    NamePattern block, variable;
    bool root = false;          // no block is named: the one with the empty name
    bool any_variable = false;  // VARIABLE is "*"
  };
  std::optional<Parts> parts_;
  NamePattern full_;  // where there are no parts
};

}  // namespace nmb::tools
