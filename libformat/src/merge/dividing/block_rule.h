// BlockRule: how the contents of inputs are divided into blocks (PackOptions::block_by).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "merge/dividing/name_splitter.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

// Not thread-safe.
class BlockRule {
 public:
  enum class By {
    kGroup,      // the groups of the input
    kPrefix,     // by a part of the names of variables
    kCount,      // the same number of variables in each
    kOne,        // all groups together
    kDimension,  // one for each index along a dimension
    kAttribute,  // by the value of an attribute
  };
  // Accepts "group" (or ""), "prefix:REGEX", "vars:N", "one", "dim:NAME", "key:ATT". Errors:
  // kUsage.
  static Result<BlockRule> parse(const std::string& text);

  By by() const { return by_; }
  // Returns whether the rule names a dimension or an attribute, which at least one variable must
  // have.
  bool names_object() const { return !name_.empty(); }
  const std::string& name() const { return name_; }

  // Returns the number for kCount, otherwise 1.
  std::uint64_t variables_per_block() const { return count_; }

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
  By by_ = By::kGroup;
  std::string name_;
  std::uint64_t count_ = 1;
  std::optional<NameSplitter> splitter_;
  std::deque<std::string> groups_;  // group names that are not part of any name in the metadata
};

// Returns `position` with as many digits as the last of `count` positions has.
std::string padded_position(std::uint64_t position, std::uint64_t count);

}  // namespace nmb
