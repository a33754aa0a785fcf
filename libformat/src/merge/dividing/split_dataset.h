// SplitDataset: divides the definitions of one classic dataset into those of several blocks and
// finds the values of each. It knows nothing of files, writers or ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merge/dividing/block_assigner.h"
#include "model/names_like.h"
#include "nmb/classic.h"
#include "nmb/merge.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

// A new block. The views are valid during the call that gets it.
struct DatasetPart {
  std::string_view group;  // the path below the dataset's own path; empty: the part that stays
                           // there
  const Metadata& metadata;
  std::uint64_t records = 0;
  // Where the values of each variable begin in the dataset's extent, and the distance between
  // records.
  std::vector<std::uint64_t> begins;
  std::uint64_t record_size = 0;
  // false: definitions were left out because of conflicts
  bool is_whole = true;
};

// A reason why a dataset cannot be divided.
struct SplitConflict {
  ConflictKind kind;                 // like that of PackConflict
  std::optional<std::string> group;  // group of the part with the conflict; nullopt: the dataset
                                     // itself
  std::string object;                // a name in that part; empty: the whole part
  std::string found, expected;
};

class SplitDataset {
 public:
  using TakePart = std::function<Status(DatasetPart)>;
  using TakeConflict = std::function<void(SplitConflict)>;

  // The dataset to divide; all of it must outlive the calls.
  struct Input {
    const Metadata& metadata;  // has classic types only
    const ClassicLayout& layout;
    std::uint64_t records = 0;      // 0 if there is no record dimension
    std::uint64_t most_blocks = 0;  // the largest number of blocks that may be made
    bool keeps_empty = false;       // the part that stays is made even if it is empty
  };

  // keep_unmatched: variables that belong to no group stay; otherwise they are conflicts.
  SplitDataset(BlockAssigner rule, bool keep_unmatched, TakePart take, TakeConflict conflict)
      : rule_(std::move(rule)),
        keep_unmatched_(keep_unmatched),
        take_(std::move(take)),
        conflict_(std::move(conflict)) {}

  BlockAssigner& rule() { return rule_; }

  // Decides where each variable goes. false: the dataset stays as it is, and make() has nothing to
  // do. Errors: kLimit.
  Result<bool> sort(const Input& input);
  // Makes the parts: first the one that stays (variables, the dimensions that no variable uses, and
  // global attributes), then the others in the order of their first variables. `input` must be the
  // one that was sorted.
  Status make(const Input& input);

 private:
  // The variables of a part, and their names there.
  struct Selection {
    std::vector<VarId> variables;
    std::vector<std::string_view> names;
    void clear() {
      variables.clear();
      names.clear();
    }
    void add(VarId variable, std::string_view name) {
      variables.push_back(variable);
      names.push_back(name);
    }
  };
  static constexpr std::uint32_t kStays = ~std::uint32_t{0};

  Result<bool> sort_variables(const Input& input);
  void order_by_group(const std::vector<std::uint32_t>& group_of);
  Result<bool> sort_along_dimension(const Input& input);
  Status make_groups(const Input& input);
  Status make_indexes(const Input& input);
  Status make_rest(const Input& input);
  void copy_unused_dimensions(const Metadata& from, Metadata* to);
  // Copies variables and the dimensions that they use to a Metadata that has neither.
  Status copy_variables(const Metadata& from, const Selection& selection, std::string_view group,
                        NamesLike like, Metadata* to);
  Status copy_dimensions(const Metadata& from, const Variable& variable, std::string_view group,
                         NamesLike* like, Metadata* to, std::vector<DimId>* ids);
  // Reports a name that is already used or not legal as a conflict.
  Status clash(ConflictKind kind, std::string_view group, std::string_view name,
               const Status& status);
  DatasetPart part_of(const Input& input, const Selection& selection, std::string_view group,
                      const Metadata& metadata) const;

  BlockAssigner rule_;
  const bool keep_unmatched_;
  const TakePart take_;
  const TakeConflict conflict_;

  Selection rest_;                        // variables that stay
  std::vector<std::string_view> groups_;  // in the order of their first variables
  std::vector<std::string_view> names_;   // by variable: its new name
  std::vector<VarId> ordered_;            // variables by group, then in order of definition
  std::vector<std::uint32_t> first_;      // where each group begins in ordered_, and the end
  Selection along_;                       // variables that are divided along a dimension
  std::uint64_t indexes_ = 0;             // the length of that dimension

  // By dimension: the part to which its index in dim_local_ belongs.
  std::vector<std::uint32_t> dim_stamp_;
  std::vector<DimId> dim_local_;
  std::uint32_t stamp_ = 0;
  bool drops_first_dimension_ = false, cuts_names_ = false;
};

}  // namespace nmb
