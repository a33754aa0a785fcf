// Finds and checks the values of a block in a damaged file (spec/recovery.md, section 19, steps 4
// and 5).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "block/block_header.h"
#include "extent/data_map.h"
#include "extent/growth.h"
#include "model/classic.h"
#include "reader/reader_core.h"
#include "recover/evidence.h"
#include "wire/block_entry.h"

namespace nmb {

// The pages that lead to values: roots of data maps, and rows of growth pages. Immutable after
// find().
class ValuePages {
 public:
  // `core` reads the file of `evidence`. Both must outlive the object. Errors: kIo.
  static Result<ValuePages> find(const ReaderCore& core, const Evidence& evidence);

  // Returns the root of the newest data map of a block whose header lies at `owner`. Returns
  // nullptr if there is none. Errors: kIo.
  Result<const PageHeader*> root_of(std::uint64_t owner) const;
  // Returns the growth rows of a block, the oldest first. Errors: as for spend().
  Result<std::span<const GrowthRow>> growth_of(std::uint64_t order) const;
  // Returns where bytes of an original lie in the file, according to the original's data map; the
  // file table is not needed. Returns 0 if the map does not have these bytes, or has them in a
  // coded piece.
  std::uint64_t place_in_original(std::uint32_t number, std::uint64_t position,
                                  std::uint64_t length) const;
  // Counts bytes of the file that are read to check values. In an undamaged file, no two blocks
  // have the same values, so the count is at most the size of the file. Errors: kLimit if the count
  // is many times that size.
  Status spend(std::uint64_t bytes) const;
  // Returns whether all growth pages of the newest generation could be read.
  bool has_whole_growth() const { return has_whole_growth_; }

 private:
  explicit ValuePages(const ReaderCore& core) : core_(&core) {}
  Status read_growth(const Evidence& evidence);
  Status read_originals();

  // Bytes [begin, end) of an original, which lie in one run.
  struct OriginalRun {
    std::uint64_t begin, end, position;
  };

  const ReaderCore* core_;
  std::unordered_map<std::uint64_t, std::vector<const PageHeader*>> maps_;  // by owner
  std::unordered_map<std::uint32_t, std::vector<OriginalRun>> originals_;   // by file number
  GrowthRows growth_;
  bool has_whole_growth_ = true;
  // Limits the time that is spent on a file that was made to take long.
  std::shared_ptr<std::atomic<std::uint64_t>> spent_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

// The values of a block.
struct FoundValues {
  std::vector<Piece> pieces;  // all pieces of the extent; a damaged piece is a hole
  // Ranges of the extent, ascending and not adjacent. The sums of `unverified` ranges are lost; the
  // pieces of these ranges have the sums of the bytes that were found.
  std::vector<ByteRange> damaged, unverified{};
  bool has_lost = false;            // whether the pieces of some damaged ranges are not known
  bool has_moved = false;           // whether some pieces replace pieces in an original
  std::string reason{};             // what is wrong with the first damaged range
  std::vector<ByteRange> places{};  // ranges of the file that hold the pieces
  std::uint64_t needs = 0;          // needs that follow from the pieces
  std::uint64_t length = 0;         // length of the extent
  bool has_growth = false;          // whether some pieces are from growth pages
};

// Describes the version of a block whose values are searched.
enum class Version : std::uint8_t {
  kConfirmed,  // the newest version; the index has its entry
  kFound,      // perhaps the newest version; a newer data map is searched
  kOlder,      // not the newest version; growth rows may belong to a newer version
};

// Finds the pieces of a block and checks their sums. `entry` describes the block without its
// growth; unless the version is kConfirmed, the entry was made from the header. On return, *entry
// has the records, the extent length and the data map that were found. Errors: kIo; kLimit, as for
// ValuePages::spend().
Result<FoundValues> find_values(const ReaderCore& core, const ValuePages& pages, Version version,
                                const BlockHeader& header, const ClassicHeader& definitions,
                                BlockEntry* entry);

}  // namespace nmb
