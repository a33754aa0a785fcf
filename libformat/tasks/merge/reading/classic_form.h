// ClassicForm: a block of an input after conversion to a classic dataset. Such a dataset can be
// divided or united.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merge/reading/input_block.h"
#include "merge/reporting/conflict_list.h"
#include "model/path_move.h"
#include "netcdf/netcdf_view.h"
#include "sources/late_values.h"

namespace nmb {

struct ClassicForm {
  const Dataset& dataset;  // valid while the block is visited and `view` exists
  Source values;           // the dataset's extent; valid after the visit, too
  std::vector<Loss> losses;
  std::vector<ClassicView::FixedDimension> fixed_dimensions;
  std::vector<DimId> made_up;
  std::vector<ClassicView::EmptyDimension> empty_dimensions;
  std::vector<VarId> left_out;                // variables of the block that `dataset` does not have
  std::vector<std::string> lost_fill_values;  // see ClassicView::lost_fill_values
  std::vector<ClassicView::OwnValues> own;
  std::vector<ClassicView::OwnAttribute> own_attributes;
  std::vector<AttributeForm> attribute_forms;
  std::vector<TypeTable> named_types;
  std::shared_ptr<const Dataset> view;  // the converted dataset of a block of kind 6
  // For each dimension of `dataset`: the number of levels from the block up to the group that
  // defines the dimension. 0 means that the block itself defines the dimension.
  std::vector<std::uint32_t> levels;
  // Whether no variable of the input uses the record dimension. The length of an unused record
  // dimension need not agree with other inputs.
  bool is_record_unused = false;
};

// Converts a block. A block of kind 6 is opened again through `pool` when its values are read.
// record, own_types: see classic_view(). move: how the paths of named datatypes change. Errors:
// kDamaged, kLimit.
Result<ClassicForm> classic_form(const InputBlock& block, std::shared_ptr<SourcePool> pool,
                                 const std::string& record = {},
                                 OwnTypes own_types = OwnTypes::kLost, const PathMove& move = {});

// Returns the values of a block of kind 6 as the extent of the converted dataset. how: how the
// block was converted. Errors: kDamaged, kLimit.
Result<Source> open_view(std::shared_ptr<const Dataset> block, const ViewOrigin& how);

// Returns the losses of a block that becomes classic, although the output is not a classic file.
// why: the reason for which the block becomes classic.
std::vector<Loss> losses_of(const InputBlock& block, const ClassicForm& form,
                            const std::string& why =
                                "blocks are divided and united as classic "
                                "netCDF");
// Reports each of these losses as a conflict.
void report_losses(const InputBlock& block, const ClassicForm& form, ConflictList& conflicts,
                   const std::string& why = "blocks are divided and united as classic netCDF");

}  // namespace nmb
