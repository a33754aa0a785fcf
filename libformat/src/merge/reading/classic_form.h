// ClassicForm: a block of an input as the classic dataset that it is divided or united as.
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
  const Dataset& dataset;                    // as long as the block is visited and `view` lives
  std::shared_ptr<const ByteSource> values;  // of its extent, for longer
  std::vector<Loss> losses;
  std::vector<VarId> left_out;                // variables of the block that `dataset` does not have
  std::vector<std::string> lost_fill_values;  // as ClassicView has them
  std::shared_ptr<const Dataset> view;        // of a block of kind 6
  // By dimension of `dataset`, how many groups above the block's the one is that has it; 0: the
  // block itself.
  std::vector<std::uint32_t> levels;
  // Nothing of the input uses the record dimension: it has no length that must agree.
  bool is_record_unused = false;
};

// A block of kind 6 is opened anew when its values are read, by `pool`. kDamaged, kLimit.
Result<ClassicForm> classic_form(const InputBlock& block, std::shared_ptr<SourcePool> pool);

// The values of a block of kind 6 as that form has them. kDamaged, kLimit.
Result<std::shared_ptr<const ByteSource>> open_view(std::shared_ptr<const Dataset> block,
                                                    const DimensionLengths* lengths);

// Lists what the block loses when it becomes classic: objects, and what is found of them. why: the
// reason why it becomes classic.
std::vector<Loss> losses_of(const InputBlock& block, const ClassicForm& form,
                            const std::string& why =
                                "blocks are divided and united as classic "
                                "netCDF");
// Each as a conflict.
void tell_losses(const InputBlock& block, const ClassicForm& form, ConflictList& conflicts,
                 const std::string& why = "blocks are divided and united as classic netCDF");

}  // namespace nmb
