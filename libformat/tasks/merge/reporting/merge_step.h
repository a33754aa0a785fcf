// MergeStep: what the steps of a merge share.
#pragma once

#include "merge/reporting/conflict_list.h"
#include "merge/reporting/merge.h"
#include "parallel/communicator.h"

namespace nmb {

// Base of a class that does a step.
class MergeStep {
 public:
  // All arguments must outlive the object and its copies.
  MergeStep(const PackOptions& options, Communicator& ranks, ConflictList& conflicts,
            PackReport& report)
      : options_(options), ranks_(ranks), conflicts_(conflicts), report_(report) {}

 protected:
  const PackOptions& options_;
  Communicator& ranks_;
  ConflictList& conflicts_;
  PackReport& report_;
};

}  // namespace nmb
