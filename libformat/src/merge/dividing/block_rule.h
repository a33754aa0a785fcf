// BlockRule: how blocks are made of what inputs hold (PackOptions::block_by).
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
    kGroup,      // as the input has them
    kPrefix,     // by a part of variables' names
    kCount,      // so many variables each
    kOne,        // all groups together
    kDimension,  // one for each index along a dimension
    kAttribute,  // by the value of an attribute
  };
  // "group" (or ""), "prefix:REGEX", "vars:N", "one", "dim:NAME", "key:ATT". kUsage.
  static Result<BlockRule> parse(const std::string& text);

  By by() const { return by_; }
  // A dimension or an attribute, which some variable must have.
  bool names_object() const { return !name_.empty(); }
  const std::string& name() const { return name_; }

  // By kCount; else 1.
  std::uint64_t variables_per_block() const { return count_; }

  // Ahead of the variables of a dataset.
  void begin() { groups_.clear(); }
  // By kPrefix, kCount, kAttribute: where a variable goes, and its name there; nullopt: it stays.
  // To be asked of variables in order. Views are valid until the next begin() or change of the
  // metadata. kConflict: the value is neither text nor integers; the message says what it is.
  Result<std::optional<SplitName>> of(const Metadata& metadata, VarId variable);
  // Whether a variable of any type is one that the rule moves.
  Result<bool> concerns(const Metadata& metadata, VarId variable);
  // By kAttribute: the value that the dataset itself has. kConflict as above.
  Result<std::optional<std::string>> of_dataset(const Metadata& metadata) const;
  // The name of a dimension that goes with variables: without what carries the group; the whole
  // name if it does not match or nothing is left.
  Result<std::string_view> cut(std::string_view name);

 private:
  By by_ = By::kGroup;
  std::string name_;
  std::uint64_t count_ = 1;
  std::optional<NameSplitter> splitter_;
  std::deque<std::string> groups_;  // whose names are nowhere in the metadata
};

// `position` with as many digits as the last of `count` has.
std::string padded_position(std::uint64_t position, std::uint64_t count);

}  // namespace nmb
