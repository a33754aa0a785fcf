// SplitDataset: divides the definitions of one classic dataset into those of several blocks, and
// tells where the values of each lie. No files, no writer, no ranks.
#pragma once

#include <cstddef>
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

// A block to be made. Views are valid during the call that gets it.
struct DatasetPart {
  std::string_view group;  // its path below the dataset's own; empty: what stays there
  const Metadata& metadata;
  std::uint64_t records = 0;
  // Where each variable's values begin in the dataset's extent, and from record to record.
  std::vector<std::uint64_t> begins;
  std::uint64_t record_size = 0;
  // false: conflicts left definitions out.
  bool is_whole = true;
};

// What hinders a division.
struct SplitConflict {
  ConflictKind kind;                 // as PackConflict has them
  std::optional<std::string> group;  // of the part where there are two; none: the dataset's own
  std::string object;                // a name in it; empty: all of it
  std::string found, expected;
};

class SplitDataset {
 public:
  using TakePart = std::function<Status(DatasetPart)>;
  using TakeConflict = std::function<void(SplitConflict)>;

  // What is divided; all of it must outlive the calls.
  struct Input {
    const Metadata& metadata;  // of classic types
    const ClassicLayout& layout;
    std::uint64_t records = 0;      // 0 without a record dimension
    std::uint64_t most_blocks = 0;  // that may be made of it
    bool keeps_empty = false;       // what stays is a part even if nothing does
  };

  // keep_unmatched: of variables that belong to no group; else they are conflicts.
  SplitDataset(BlockAssigner rule, bool keep_unmatched, TakePart take, TakeConflict conflict)
      : rule_(std::move(rule)),
        keep_unmatched_(keep_unmatched),
        take_(std::move(take)),
        conflict_(std::move(conflict)) {}

  BlockAssigner& rule() { return rule_; }

  // Decides what goes where. false: the dataset stays as it is, and make() has nothing to do.
  // kLimit.
  Result<bool> sort(const Input& input);
  // The parts: what stays (variables, the dimensions that no variable uses, and global attributes),
  // then the others in order of first occurrence. With the input that was sorted.
  Status make(const Input& input);

 private:
  // Variables that make a part, and their names there.
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
  Result<bool> sort_along_dimension(const Input& input);
  Status make_groups(const Input& input);
  Status make_indexes(const Input& input);
  Status make_rest(const Input& input);
  void copy_unused_dimensions(const Metadata& from, Metadata* to);
  // Copies variables and the dimensions that they use into a Metadata without either.
  Status copy_variables(const Metadata& from, const Selection& selection, std::string_view group,
                        NamesLike like, Metadata* to);
  Status copy_dimensions(const Metadata& from, const Variable& variable, std::string_view group,
                         NamesLike* like, Metadata* to, std::vector<DimId>* ids);
  // A name that is taken or not legal becomes a conflict.
  Status clash(ConflictKind kind, std::string_view group, std::string_view name,
               const Status& status);
  DatasetPart part_of(const Input& input, const Selection& selection, std::string_view group,
                      const Metadata& metadata) const;

  BlockAssigner rule_;
  const bool keep_unmatched_;
  const TakePart take_;
  const TakeConflict conflict_;

  Selection rest_;                        // variables that stay
  std::vector<std::string_view> groups_;  // in order of first occurrence
  std::vector<std::string_view> names_;   // by variable: its new name
  std::vector<VarId> ordered_;            // variables by group, then in order of definition
  std::vector<std::uint32_t> first_;      // of each group in ordered_, and the end
  Selection along_;                       // variables that are divided along a dimension
  std::uint64_t indexes_ = 0;             // and its length

  // The part for which a dimension has its place in dim_local_.
  std::vector<std::uint32_t> dim_stamp_;
  std::vector<DimId> dim_local_;
  std::uint32_t stamp_ = 0;
  bool drops_first_dimension_ = false, cuts_names_ = false;
};

}  // namespace nmb
