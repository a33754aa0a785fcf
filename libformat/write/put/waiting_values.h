// Assigns places to values that wait for space. A value waits for space if it was added, or if it
// replaces a value in a committed piece (spec/rationale.md, "Values that wait for space").
#pragma once

#include "state/writer_core.h"

namespace nmb {

// What a rank knows about its waiting values, or, combined, what all ranks know.
struct Waiting {
  bool any = false;            // values wait for places
  bool claims_differ = false;  // SharedBlocks::match_values() must match the ranks again
  // Other ranks have a block of this rank, or values for it. While no rank has such a block, the
  // ranks need no messages about places and written values.
  bool shares = false;

  // Returns whether ranks may share blocks in place_values(), which matches them again if claims
  // differ.
  bool may_share() const { return shares || (any && claims_differ); }
  friend Waiting operator||(const Waiting& a, const Waiting& b) {
    return {a.any || b.any, a.claims_differ || b.claims_differ, a.shares || b.shares};
  }
};

// Returns what this rank knows. Not collective.
Waiting waiting_of(WriterCore& w);
// Assigns places to all waiting values and writes them. Afterwards no values wait on any rank. all:
// the combined waiting_of() of all ranks, which have put nothing since. *own: receives a failure of
// this rank alone, on which the ranks must agree later. Collective.
Status place_values(WriterCore& w, const Waiting& all, Status* own);
// Calls waiting_of() on all ranks, and then place_values(). Collective.
Status place_values(WriterCore& w);
// The same, if the ranks know already whether values wait on any rank.
Status place_values(WriterCore& w, bool any);
// Returns whether values of this rank wait for places. Not collective.
bool has_waiting_values(const WriterCore& w);

}  // namespace nmb
