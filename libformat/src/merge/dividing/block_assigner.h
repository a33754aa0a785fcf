// BlockAssigner: to which block each variable goes (PackOptions::block_by).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "merge/dividing/name_splitter.h"
#include "nmb/merge.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

// Not thread-safe.
class BlockAssigner {
 public:
  using By = BlockRule::By;
  // Errors: kUsage for a bad expression of kPrefix, or a count of 0.
  static Result<BlockAssigner> make(BlockRule rule);

  By by() const { return rule_.by; }
  // Returns whether the rule names a dimension or an attribute, which at least one variable must
  // have.
  bool names_object() const { return by() == By::kDimension || by() == By::kAttribute; }
  const std::string& name() const { return rule_.name; }

  // Returns the number for kCount, otherwise 1.
  std::uint64_t variables_per_block() const { return rule_.count; }

  // Call this before you pass the variables of a dataset.
  void begin() { groups_.clear(); }
  // For kPrefix, kCount, kAttribute: returns the group of a variable and its name there; nullopt:
  // it stays. Call it for the variables in order. Views are valid until the next begin() or change
  // of the metadata. Errors: kConflict if the value is neither text nor integers; the message says
  // what it is.
  Result<std::optional<SplitName>> of(const Metadata& metadata, VarId variable);
  // Returns whether the rule moves a variable, whatever its type.
  Result<bool> concerns(const Metadata& metadata, VarId variable);
  // For kAttribute: returns the value that the dataset itself has. Errors: kConflict, see above.
  Result<std::optional<std::string>> of_dataset(const Metadata& metadata) const;
  // Returns the name of a dimension that moves together with variables, without the part that names
  // the group; the whole name if it does not match or nothing would remain.
  Result<std::string_view> cut(std::string_view name);

 private:
  explicit BlockAssigner(BlockRule rule) : rule_(std::move(rule)) {}

  BlockRule rule_;
  std::optional<NameSplitter> splitter_;  // for kPrefix
  std::deque<std::string> groups_;  // group names that are not part of any name in the metadata
};

// Returns `position` with as many digits as the last of `count` positions has.
std::string padded_position(std::uint64_t position, std::uint64_t count);

}  // namespace nmb
