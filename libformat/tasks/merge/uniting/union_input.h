// UnionInput: the data that a union needs about a block of an input. The data do not depend on
// the rank that reads the input. UnionDescription: these data, kept for an input that another rank
// has read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merge/reading/classic_form.h"
#include "merge/reading/input_block.h"
#include "merge/reading/merge_sink.h"
#include "merge/reporting/merge.h"
#include "merge/uniting/dataset_union.h"
#include "model/paths.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/subset.h"
#include "sources/late_values.h"
#include "wire/failure.h"

namespace nmb {

// The text of Join::along that means the first dimension of each variable.
inline constexpr std::string_view kFirstAxis = "axis:0";

// Returns the name of the dimension in Join::along, without the path of its group.
inline std::string_view along_name(const PackOptions& options) {
  return split_path(options.join().along).name;
}

// Facts about a block that can be found without converting it to a classic dataset.
struct InputFacts {
  std::optional<std::uint64_t> samples{};  // number of samples that is recorded in an NMB input
  // For a part of a set of files: the number of files in the set, and whether the files have
  // icebergs.
  std::optional<std::int64_t> set_size{};
  bool is_iceberg_set = false;
  // Whether the block comes from a process without icebergs. The content of such a block is
  // ignored.
  bool has_no_icebergs = false;
  bool is_classic = false;
  bool has_along = false;  // whether the block has the dimension that Join::along names
  // For a subset without Join::along: whether the block has an unlimited dimension.
  bool has_unlimited = false;
};

// Returns whether united values stay in chunks. Classic files have no chunks.
bool keeps_chunks(const PackOptions& options);

InputFacts facts_of(const InputBlock& block, const PackOptions& options);

struct UnionInput {
  DatasetUnion::Member member;
  std::vector<std::uint32_t> levels{};  // for each dimension, see ClassicForm::levels
  std::vector<Loss> losses{};           // losses in the conversion to a classic dataset
  std::vector<std::string> lost_fill_values{};
  // For a subset: see DatasetSubset. If is_outside is set, `member` has no definitions.
  bool is_outside = false, has_wanted = false;
  std::vector<std::uint8_t> used{};
};

struct UnionDescription {
  InputFacts facts;
  Status failure{};  // why the block cannot be united
  std::shared_ptr<const Metadata> metadata{};
  std::optional<UnionInput> block{};     // refers to `metadata`; nullopt after a failure
  std::vector<std::uint64_t> same_as{};  // result of FirstValues: indexes of inputs
};

// Returns how PackOptions::subset selects a part of a block. In a join with fill values, each part
// has the joined dimension and its coordinates, because a part may lack the variables that need
// them. The result refers to the arguments.
SubsetGroup subset_group(const InputBlock& block, const ClassicForm& form,
                         const PackOptions& options, DimensionSelections& selections);

// Converts a block to a classic dataset and passes this dataset to `visit`. The block's file must
// be open. name: the block in the output. *budget: how many bytes of values may be kept, as for
// hold_small(). *selections: the selections in other blocks of the input, for PackOptions::subset.
// Errors: kDamaged, kLimit, kIo; those of subset_of(); the error of `visit`.
Status visit_union_input(const InputBlock& block, const OutputName& name,
                         const PackOptions& options, std::shared_ptr<SourcePool> views,
                         std::uint64_t* budget, DimensionSelections* selections,
                         const std::function<Status(const UnionInput&)>& visit);

}  // namespace nmb
