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
  HeadReading reading;  // the reading of the head on which the choice is based
  // Ok if there is a newest generation. Otherwise kDamaged: R-SB-13 if the newest generation is
  // lost, R-SB-1 if no superblock is valid.
  Status lost;
  FoundSuperblock newest;       // from a slot or, if rolled_forward, from a trailer
  bool rolled_forward = false;  // whether `newest` was taken from a trailer
  // Whether `newest` was found by a search: as the superblock that follows the newest slot, or as
  // the last superblock of the file. No mark shows that it was committed.
  bool found_by_search = false;
  std::optional<FoundSuperblock> pending;  // superblock that follows `newest` and is not used
};

// Chooses the newest generation. Reads the head again while a commit may be in progress. If the
// file is longer than the generation, searches for later superblocks: in a settled file as
// `lookout` says, otherwise in all bytes after the generation. Does not check whether the file has
// all bytes of the newest generation. Errors: kUnknownKind; kUnsupported (R-ID-3); kDamaged
// (R-FL-1) if the file is cut within its head; kBusy if the head changes each time that it is read;
// kIo.
Result<Choice> choose_newest(const ByteSource& file, Lookout lookout);

// Returns whether a later generation may have been committed and lost, because three units are
// lost. This is possible if bytes lie after the newest generation, no superblock in them follows
// this generation, and a slot or the mark is damaged.
bool may_hide_a_generation(const Choice& choice);

// Checks R-FL-1. If the file seems too short, reads the last byte of the newest generation to be
// sure.
Status check_not_cut(const ByteSource& file, const Choice& choice);

// Reports damage of identity, slots and mark (R-ID-1, R-ID-2, R-SB-1, R-SB-3, R-SB-12, R-SB-13)
// with severity `damage`. Reports a pending generation (R-SB-13) with severity `pending`. Reports
// bytes after the generation (R-FL-2) as a warning, with a second warning (R-SB-13) if a later
// generation may be lost.
void report_head(const Choice& choice, Severity damage, Severity pending, Findings& findings);

}  // namespace nmb
