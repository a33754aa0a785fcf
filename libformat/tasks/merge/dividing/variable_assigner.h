// VariableAssigner: decides to which block each variable goes (PackOptions::block_by).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "merge/dividing/name_splitter.h"
#include "merge/reporting/merge.h"
#include "model/metadata.h"
#include "wire/failure.h"

namespace nmb {

// Not thread-safe.
class VariableAssigner {
 public:
  using By = BlockRule::By;
  // Errors: kUsage if the regular expression of a kPrefix rule is invalid, or if the count is 0.
  static Result<VariableAssigner> make(BlockRule rule);

  By by() const { return rule_.by; }
  // Returns whether the rule names a dimension or an attribute, which at least one variable must
  // have.
  bool names_object() const { return by() == By::kDimension || by() == By::kAttribute; }
  const std::string& name() const { return rule_.name; }

  // For a kCount rule, returns the number of variables that go into each block. For every other
  // rule, returns 1.
  std::uint64_t variables_per_block() const { return rule_.count; }

  // Call this function before you pass the first variable of a dataset to of().
  void begin() { groups_.clear(); }
  // For kPrefix, kCount and kAttribute: returns the group to which a variable goes, and the
  // variable's new name in that group. Returns nullopt if the variable stays in its block. Pass the
  // variables of a dataset one after another, in their order. The returned views are valid until
  // the next begin() or until the metadata change. Errors: kConflict if the attribute's value is
  // neither text nor integers; the message describes the value.
  Result<std::optional<SplitName>> of(const Metadata& metadata, VarId variable);
  // Returns whether the rule moves a variable. The variable may have any type.
  Result<bool> concerns(const Metadata& metadata, VarId variable);
  // For kPrefix: returns NameSplitter::captures() of the name of a variable.
  Result<NameSplitter::Captures> captures(std::string_view name) {
    return splitter_->captures(name);
  }
  // For kAttribute: returns the value of the dataset's global attribute. Errors: kConflict, for the
  // same reasons as in of().
  Result<std::optional<std::string>> of_dataset(const Metadata& metadata) const;
  // Returns the name of a moved dimension without the part that names the group. Returns the whole
  // name if it does not match the expression or if nothing would remain.
  Result<std::string_view> cut(std::string_view name);

 private:
  explicit VariableAssigner(BlockRule rule) : rule_(std::move(rule)) {}

  BlockRule rule_;
  std::optional<NameSplitter> splitter_;  // for kPrefix
  std::deque<std::string> groups_;  // group names that are not part of any name in the metadata
};

// Returns `position` as a decimal number, padded with zeros to the number of digits of `count` - 1.
std::string padded_position(std::uint64_t position, std::uint64_t count);

}  // namespace nmb
