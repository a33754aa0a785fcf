// Types that a classic dataset lacks, in a subset of a block.
#pragma once

#include "merge/reading/classic_form.h"
#include "model/dataset.h"
#include "netcdf/subset.h"
#include "wire/failure.h"

namespace nmb {

// Leaves only what the subset needs in form->own, own_attributes and named_types. Adds the bytes to
// which selected values of variable length refer to the extent of the subset. Errors: kDamaged,
// kIo.
Status select_own(const SubsetRules& rules, ClassicForm* form, Dataset* subset);

}  // namespace nmb
