// The ranks exchange which bytes of shared blocks they have written, so that each rank can read the
// values of all ranks before a commit (spec/rationale.md, "Values that are read before a commit").
#pragma once

#include "state/writer_core.h"
#include "values/run_cursor.h"

namespace nmb {

// Assigns places to all waiting values and writes all values to the file. Afterwards each rank
// knows the written bytes and the numbers of records of all blocks that it knows. Collective.
Status exchange_values(WriterCore& w);
// Records that this rank has put values to a shared block by a collective call. Other ranks may
// have written them to the file.
void add_own_put(WriterCore& w, BlockId id, const RunCursor& put);
// Makes the values of add_own_put() readable. Not collective.
void note_own_puts(WriterCore& w);

}  // namespace nmb
