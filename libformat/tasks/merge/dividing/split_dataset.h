// SplitDataset: divides one classic dataset into several blocks. It makes the definitions of each
// block and finds where the block's values are. It uses no files, writers or ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merge/dividing/variable_assigner.h"
#include "merge/reporting/merge.h"
#include "model/classic.h"
#include "model/metadata.h"
#include "model/names_like.h"
#include "wire/failure.h"

namespace nmb {

// A new block. The views in a part are valid during the call that receives the part.
struct DatasetPart {
  std::string_view group;  // path relative to the dataset's path; empty for the part that stays in
                           // the dataset
  const Metadata& metadata;
  std::uint64_t records = 0;
  // The offset of each variable's values in the dataset's extent. record_size is the distance
  // between records.
  std::vector<std::uint64_t> begins;
  std::uint64_t record_size = 0;
  // false if definitions were left out because of conflicts
  bool is_whole = true;
  // The variables of the divided dataset from which the part was made.
  std::span<const VarId> variables{};
};

// A reason why a dataset cannot be divided.
struct SplitConflict {
  ConflictKind kind;                 // same meaning as PackConflict::kind
  std::optional<std::string> group;  // group of the part that has the conflict; nullopt if the
                                     // dataset itself has it
  std::string object;                // name of the object; empty for a whole part
  std::string found, expected;
};

class SplitDataset {
 public:
  using TakePart = std::function<Status(DatasetPart)>;
  using TakeConflict = std::function<void(SplitConflict)>;

  // The dataset to divide. All objects to which it refers must outlive the calls that use it.
  struct Input {
    const Metadata& metadata;  // has classic types only
    const ClassicLayout& layout;
    std::uint64_t records = 0;      // 0 if there is no record dimension
    std::uint64_t most_blocks = 0;  // the largest number of blocks that may be made
    bool keeps_empty = false;       // the part that stays in the dataset is made even if it is
                                    // empty
  };

  // keep_unmatched: whether variables without a group stay in the dataset; otherwise they are
  // reported as conflicts.
  SplitDataset(VariableAssigner rule, bool keep_unmatched, TakePart take, TakeConflict conflict)
      : rule_(std::move(rule)),
        keep_unmatched_(keep_unmatched),
        take_(std::move(take)),
        conflict_(std::move(conflict)) {}

  VariableAssigner& rule() { return rule_; }

  // Decides to which part each variable goes. Returns false if the dataset stays undivided; make()
  // then has nothing to do. Errors: kLimit.
  Result<bool> sort(const Input& input);
  // Makes the parts. The first part stays in the dataset: it has the variables that are not moved,
  // the dimensions that no variable uses, and the global attributes. The moved parts follow in the
  // order of their first variables. `input` must be the input of the last sort().
  Status make(const Input& input);

 private:
  // The variables of a part and their names in this part.
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
  void order_by_group();
  // Returns the new values of an attribute. Names of variables of the same part are replaced by
  // their new names.
  std::string renamed(const Metadata& from, VarId owner, const Attribute& attribute) const;
  void find_shared_paths();
  Result<bool> sort_along_dimension(const Input& input);
  Status make_groups(const Input& input);
  Status make_indexes(const Input& input);
  Status make_rest(const Input& input);
  void copy_unused_dimensions(const Metadata& from, Metadata* to);
  // Copies variables and the dimensions that they use into an empty Metadata.
  Status copy_variables(const Metadata& from, const Selection& selection, std::string_view group,
                        NamesLike like, Metadata* to);
  Status copy_dimensions(const Metadata& from, const Variable& variable, std::string_view group,
                         NamesLike* like, Metadata* to, std::vector<DimId>* ids);
  // If a name is already used or is not legal, reports a conflict.
  Status clash(ConflictKind kind, std::string_view group, std::string_view name,
               const Status& status);
  DatasetPart part_of(const Input& input, const Selection& selection, std::string_view group,
                      const Metadata& metadata) const;

  VariableAssigner rule_;
  const bool keep_unmatched_;
  const TakePart take_;
  const TakeConflict conflict_;

  Selection rest_;                        // variables that stay
  std::vector<std::string_view> groups_;  // group names, ordered by their first variables
  std::vector<std::string_view> names_;   // new name of each variable
  std::vector<std::uint32_t> group_of_;   // index of each variable's group, or kStays
  std::vector<VarId> ordered_;            // variables ordered by group, then by definition
  std::vector<std::uint32_t> first_;      // where each group begins in ordered_; the last element
                                          // is the end
  Selection along_;                       // variables that are divided along a dimension
  std::uint64_t indexes_ = 0;             // length of the dimension along which variables are
                                          // divided

  // For each dimension of the dataset: the number of the part for which its entry in dim_local_ is
  // valid.
  std::vector<std::uint32_t> dim_stamp_;
  std::vector<DimId> dim_local_;
  std::uint32_t stamp_ = 0;
  bool drops_first_dimension_ = false, cuts_names_ = false;
};

}  // namespace nmb
