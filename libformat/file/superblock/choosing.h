// Chooses the newest generation of a file (spec/format.md, section 5.4), for readers, writers and
// nmverify.
#pragma once

#include <array>
#include <optional>

#include "superblock/head_reading.h"
#include "superblock/trailer_search.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

struct Choice {
  HeadReading reading;  // the reading of the head on which the choice is based
  // Ok if a newest generation was found, otherwise kDamaged. The rule is R-SB-13 if the newest
  // generation is lost, and R-SB-16 if no superblock is valid.
  Status lost;
  FoundSuperblock newest;       // from a slot, or from a trailer if rolled_forward is true
  bool rolled_forward = false;  // whether `newest` was taken from a trailer
  // Whether `newest` was found by a search: it follows the newest slot, or is the last superblock
  // of the file. No mark confirms that it was committed.
  bool found_by_search = false;
  std::optional<FoundSuperblock> pending;  // a superblock that follows `newest` but is not used
  // The last superblock after `newest` whose generation is at least 2 higher. It does not follow
  // `newest`, so a generation between them was lost. Set only if all bytes after `newest` were
  // searched and there is no `pending`.
  std::optional<FoundSuperblock> stray;
  // Whether a writer is active, so that bytes after `newest`, and a slot or mark that changes,
  // belong to a commit in progress.
  bool in_progress = false;
  // The superblock of the generation before `newest`. Read only if the last commit may be
  // unfinished.
  std::optional<FoundSuperblock> previous;

  // Returns the cover of the file after the commit of `superblock`.
  std::array<std::byte, kIdentitySize> cover_of(const FoundSuperblock& superblock) const;
  // Returns whether the cover belongs to `newest`.
  bool cover_fits() const;
  // Return whether each byte of the slot, mark or cover is either unchanged since before the last
  // commit, or written by that commit. A crash can leave only such bytes.
  bool slot_is_half_written() const;
  bool mark_is_half_written() const;
  bool cover_is_half_written() const;
};

// Chooses the newest generation. As long as a commit may be in progress, reads the head again. An
// unfinished commit is reported only if two readings were the same, and no writer was active
// between them. If the file is longer than the newest generation, searches for later superblocks:
// in a settled file in the bytes that `scope` selects, otherwise in all bytes after the generation.
// Does not check whether the file has all bytes of the newest generation. Errors: kUnknownKind;
// kUnsupported (R-ID-3); kDamaged (R-FL-1) if the file is cut within its head; kBusy if the head
// changes each time that it is read; kIo.
Result<Choice> choose_newest(const ByteSource& file, TrailerScope scope);

// Returns whether the head and the length of the file are still as in `choice`. Errors: those of
// HeadReading::take().
Result<bool> is_unchanged(const ByteSource& file, const Choice& choice);

// Returns whether a later generation may have been committed and then lost. This can happen only if
// three units of 4096 bytes were lost. The signs are bytes after the newest generation without a
// superblock that follows it, and a damaged slot or mark.
bool may_hide_a_generation(const Choice& choice);

// Checks R-FL-1. If the file seems too short, tries to read the last byte of the newest generation
// to be sure.
Status check_not_cut(const ByteSource& file, const Choice& choice);

// Reports damage of the identity, the slots and the mark (R-ID-1, R-ID-2, R-SB-1, R-SB-3, R-SB-12,
// R-SB-13) with severity `damage`. Reports as warnings what an unfinished commit has left: a
// pending generation (R-SB-13), a slot or a mark that is written in part (R-SB-1, R-SB-12), and
// bytes after the generation (R-FL-2). Also warns if a later generation may be lost (R-SB-13). Does
// not report a commit in progress.
void report_head(const Choice& choice, Severity damage, Findings& findings);

}  // namespace nmb
