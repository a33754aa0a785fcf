// ConflictList: the reasons why inputs cannot be merged. Each conflict has a position in the order
// of reporting.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "merge/reporting/merge.h"
#include "merge/reporting/pack_report.h"

namespace nmb {

class ConflictList {
 public:
  // Means that a conflict has no second input.
  static constexpr std::size_t kNone = ~std::size_t{0};

  // `inputs` must outlive the object.
  explicit ConflictList(const std::vector<std::string>& inputs) : inputs_(inputs) {}

  // Begins an input: conflicts added after this call belong to it.
  void begin_input(std::size_t input) { here_ = {input, 0}; }
  void look_at(const Occurrence& object) { here_ = object; }
  const Occurrence& here() const { return here_; }
  Occurrence next_object() {
    ++here_.at;
    return here_;
  }

  // Adds a conflict for the current object.
  void add(ConflictKind kind, std::string object, std::string found, std::string expected) {
    add_at(here_, kind, std::move(object), here_.input, kNone, std::move(found),
           std::move(expected));
  }
  void add_at(Occurrence at, ConflictKind kind, std::string object, std::size_t first,
              std::size_t second, std::string found, std::string expected) {
    add(make(at, kind, std::move(object), first, second, std::move(found), std::move(expected)));
  }
  void add(FoundConflict conflict) { found_.push_back(std::move(conflict)); }
  // Returns a conflict without adding it.
  FoundConflict make(Occurrence at, ConflictKind kind, std::string object, std::size_t first,
                     std::size_t second, std::string found, std::string expected) const {
    return {
        at,
        {kind, std::move(object), inputs_[first], second == kNone ? std::string() : inputs_[second],
         std::move(found), std::move(expected)}};
  }
  // first: the earlier input that uses the name.
  void add_block_name(Occurrence at, const std::string& name, std::size_t first) {
    if (first == at.input)
      return add_at(at, ConflictKind::kBlockName, name, first, kNone,
                    "two blocks have this name in one input", "");
    add_at(
        at, ConflictKind::kBlockName, name, first, at.input,
        "two inputs have a block of this name; use MergeOptions::block_name with {path} or {index}",
        "");
  }
  void add_group(Occurrence at, const std::string& group, std::size_t first) {
    add_at(at, ConflictKind::kGroup, group, first, at.input,
           "two inputs have this group, and PackOptions::unique_groups is given", "");
  }

  std::size_t size() const { return found_.size(); }
  std::vector<FoundConflict>& all() { return found_; }
  std::vector<FoundConflict> take() { return std::move(found_); }
  const std::string& input(std::size_t index) const { return inputs_[index]; }

 private:
  const std::vector<std::string>& inputs_;
  std::vector<FoundConflict> found_;
  Occurrence here_;
};

}  // namespace nmb
