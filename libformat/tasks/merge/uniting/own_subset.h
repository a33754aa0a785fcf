// Types that a classic dataset lacks, in a subset of a block.
#pragma once

#include "merge/reading/classic_form.h"
#include "model/dataset.h"
#include "wire/failure.h"

namespace nmb {

// Leaves only what the subset needs in form->own and own_attributes. Adds the bytes to which
// selected values of variable length refer to the extent of the subset. Errors: kDamaged, kIo.
Status select_own(ClassicForm* form, Dataset* subset);

}  // namespace nmb
