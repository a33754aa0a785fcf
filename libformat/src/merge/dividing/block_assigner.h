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
  // kUsage: the expression of kPrefix, or a count of 0.
  static Result<BlockAssigner> make(BlockRule rule);

  By by() const { return rule_.by; }
  // A dimension or an attribute, which some variable must have.
  bool names_object() const { return by() == By::kDimension || by() == By::kAttribute; }
  const std::string& name() const { return rule_.name; }

  // By kCount; else 1.
  std::uint64_t variables_per_block() const { return rule_.count; }

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
  explicit BlockAssigner(BlockRule rule) : rule_(std::move(rule)) {}

  BlockRule rule_;
  std::optional<NameSplitter> splitter_;  // by kPrefix
  std::deque<std::string> groups_;        // whose names are nowhere in the metadata
};

// `position` with as many digits as the last of `count` has.
std::string padded_position(std::uint64_t position, std::uint64_t count);

}  // namespace nmb
