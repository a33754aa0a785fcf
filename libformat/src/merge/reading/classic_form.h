// ClassicForm: the classic dataset as which a block of an input is divided or united.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merge/reading/input_reader.h"
#include "merge/reading/reopened_source.h"
#include "merge/reporting/conflict_list.h"
#include "nmb/netcdf_view.h"

namespace nmb {

struct ClassicForm {
  const Dataset& dataset;  // valid during the visit of the block, while `view`
                           // exists
  Source values;           // of its extent; valid after the visit, too
  std::vector<Loss> losses;
  std::vector<VarId> left_out;                // variables of the block that `dataset` does not have
  std::vector<std::string> lost_fill_values;  // like those of ClassicView
  std::shared_ptr<const Dataset> view;        // of a block of kind 6
  // By dimension of `dataset`: how many levels above the block the group is that defines it; 0: the
  // block itself.
  std::vector<std::uint32_t> levels;
  // No variable of the input uses the record dimension, so its length need not agree with other
  // inputs.
  bool is_record_unused = false;
};

// `pool` opens a block of kind 6 again when its values are read. Errors: kDamaged, kLimit.
Result<ClassicForm> classic_form(const InputBlock& block, std::shared_ptr<SourcePool> pool);

// Returns the values of a block of kind 6 in that form. Errors: kDamaged, kLimit.
Result<Source> open_view(std::shared_ptr<const Dataset> block, const DimensionLengths* lengths);

// Lists what the block loses when it becomes classic: objects, and what is found in them. why: the
// reason why it becomes classic.
std::vector<Loss> losses_of(const InputBlock& block, const ClassicForm& form,
                            const std::string& why =
                                "blocks are divided and united as classic "
                                "netCDF");
// Reports each loss as a conflict.
void tell_losses(const InputBlock& block, const ClassicForm& form, ConflictList& conflicts,
                 const std::string& why = "blocks are divided and united as classic netCDF");

}  // namespace nmb
