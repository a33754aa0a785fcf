// JointGet: a hyperslab of a block of an NMB file that is read together with others.
#pragma once

#include <cstddef>
#include <span>

#include "extent/extent_source.h"
#include "nmb/array.h"
#include "reader/file_reader.h"
#include "values/run_cursor.h"
#include "wire/failure.h"

namespace nmb {

struct JointGet {
  const LoadedBlock* block;
  VarId variable;
  const ExtentSource* source;  // extent of the block
  RunCursor cursor;            // at the first run of the selection
  MutableArray out;

  // slab: nullptr to read all values. The block must outlive the result. Errors: kUsage, also if
  // the block did not come from a FileReader; kUnsupported if the block has kind 6; kDamaged.
  static Result<JointGet> of(const LoadedBlock& block, VarId variable, const Hyperslab* slab,
                             MutableArray out);
};

// Reads the values of all selections, on up to `threads` threads (see GetRequests::wait()).
// statuses: one for each selection. Errors: only those of memory and of threads.
Status get_jointly(std::span<const JointGet> gets, std::span<Status> statuses, unsigned threads);

}  // namespace nmb
