// Chooses the newest generation of a file (spec/format.md, section 5.4), for readers, writers and
// nmverify.
#pragma once

#include <optional>

#include "format/superblock/head_reading.h"
#include "format/superblock/trailer_search.h"
#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb {

struct Choice {
  HeadReading reading;  // the reading of the head that was used
  // Not ok: there is no newest generation. kDamaged: R-SB-13 if it is lost, R-SB-1 if no superblock
  // is valid.
  Status lost;
  FoundSuperblock newest;       // from a slot or, if rolled forward, from a trailer
  bool rolled_forward = false;  // taken from a trailer, not from a slot
  // Rolled forward because it follows the newest slot or is the last one in the file; no mark shows
  // that it was committed.
  bool found_by_search = false;
  std::optional<FoundSuperblock> pending;  // follows the newest, and is not used
};

// Reads a settled file once, and once more if it is longer than the generation; reads again while a
// commit may be in progress. lookout: for a settled file; if something is damaged, all bytes after
// the generation are searched. Does not check that the file has all bytes of the newest generation.
// Errors: kUnknownKind; kUnsupported (R-ID-3); kDamaged: R-FL-1 if the file is cut within its head;
// kBusy: the head changes each time that it is read; kIo.
Result<Choice> choose_newest(const ByteSource& file, Lookout lookout);

// Returns whether a committed generation may be hidden by three lost units: bytes lie after the
// newest generation, no superblock in them follows it, and a slot or the mark, which would name a
// later generation, is damaged.
bool may_hide_a_generation(const Choice& choice);

// Checks R-FL-1 after a read within the file length returned too few bytes.
Status check_not_cut(const ByteSource& file, const Choice& choice);

// Reports damage of identity, slots and mark (R-ID-1, R-ID-2, R-SB-1, R-SB-3, R-SB-12, R-SB-13)
// with severity `damage`, a pending generation (R-SB-13) with severity `pending`, and bytes after
// the generation (R-FL-2) as a warning, with a second warning (R-SB-13) if they may be a lost
// generation.
void report_head(const Choice& choice, Severity damage, Severity pending, Findings& findings);

}  // namespace nmb
