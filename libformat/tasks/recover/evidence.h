// Evidence: the structures of a damaged file that belong to a committed state of that file
// (spec/recovery.md, section 19, steps 1 to 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "page/page.h"
#include "recover/scan.h"
#include "superblock/superblock.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

struct Evidence {
  Digest file_id;
  // The newest superblock that was found.
  std::optional<Superblock> newest;
  // The newest generation that is known to be committed, from superblocks and mark; 0 if none is
  // known.
  std::uint64_t generation = 0;
  // Whether a later generation, whose superblocks and mark are lost, may have been committed.
  // Structures of later generations then count too.
  bool may_be_later = false;
  std::vector<ScannedHeader> blocks;  // without the dictionary's block
  std::vector<PageHeader> pages;
  std::vector<std::byte> dictionary;  // empty if the file has none, or if no copy is right
  // Describes a generation after all generations of the file. Structures of the file are read as if
  // this generation led to them. It has no index, no growth and no view.
  Superblock reading;

  // Returns the superblock of the newest generation, or nullptr if it was not found.
  const Superblock* current() const {
    return newest && newest->generation == generation && !may_be_later ? &*newest : nullptr;
  }
  // Returns the headers of pages with the given use.
  std::vector<const PageHeader*> pages_of(PageUse use) const;
};

// Chooses the file id and the newest generation, and leaves out everything that does not belong to
// a committed state. Errors: kUnknownKind if nothing of an NMB file was found; kUnsupported if the
// file has a feature that this version cannot read; kLimit; kIo.
Result<Evidence> weigh_evidence(const ByteSource& file, Scan scan);

}  // namespace nmb
