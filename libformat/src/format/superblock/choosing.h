// Choosing the newest generation of a file (spec/format.md, section 5.4): the one place where it is
// decided, for readers, writers and nmverify.
#pragma once

#include <cstdint>
#include <optional>

#include "format/superblock/head_reading.h"
#include "format/superblock/trailer_search.h"
#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb {

struct Choice {
  HeadReading reading;  // that it was made from
  // Not ok: there is no newest generation. kDamaged: R-SB-13 where it is lost, R-SB-1 where no
  // superblock is valid.
  Status lost;
  FoundSuperblock newest;       // from a slot, or rolled forward
  bool rolled_forward = false;  // taken from a trailer, not from a slot
  // Rolled forward because it follows the newest slot, or is the last one in the file; no mark says
  // that it was committed.
  bool found_by_search = false;
  std::optional<FoundSuperblock> pending;  // follows the newest, and is not taken
};

// Of a settled file one read, and another where the file is longer than it says; reads again while
// a commit may be at work. lookout: of a settled file; where something is damaged, all that lies
// behind is searched. Errors: kUnknownKind; kUnsupported (R-ID-3); kDamaged: R-FL-1 of a file
// that is cut within its head; kBusy: the head changes each time that it is read; kIo. Whether the
// file has all bytes of the newest generation is not looked at.
Result<Choice> choose_newest(const ByteSource& file, Lookout lookout);

// Whether bytes lie behind the newest generation in which no superblock follows it, and a slot or
// the mark, which would name a later one, is damaged: three lost units hide a committed generation.
bool may_hide_a_generation(const Choice& choice);

// R-FL-1, after a read within the file length came back short.
Status check_not_cut(const ByteSource& file, const Choice& choice);

// Reports damage of identity, slots and mark (R-ID-1, R-ID-2, R-SB-1, R-SB-3, R-SB-12, R-SB-13)
// with this severity, a pending generation (R-SB-13) with the other one, and bytes behind (R-FL-2)
// as a warning, with another one (R-SB-13) where these may be a lost generation.
void report_head(const Choice& choice, Severity damage, Severity pending, Findings& findings);

}  // namespace nmb
