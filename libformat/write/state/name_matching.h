// Finds ranks that define, change or use blocks of the same name. The names are divided into
// slices, each owned by a rank. Each record is sent to the rank that owns its name, where records
// with equal names come together ("Parallel Data Object Creation", section 3.3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/name_slices.h"
#include "state/block_state.h"

namespace nmb {

// An action of a rank on a block or on the name of a block.
enum class Claim : std::uint8_t {
  kDefine,       // defines a block; other ranks may define it too
  kHave,         // has a block that is not committed and was placed by an earlier end_define()
  kRedefine,     // changes the definitions of such a block
  kDefineAlone,  // packs a block, or renames an existing block to this name
  kChange,       // changes the definitions of a committed block
  kHaveChanged,  // keeps the changes to a committed block that an earlier end_define() has placed
  kRemove,       // removes an existing block, or gives it another name
  kPut,          // puts values to an existing block
  kKeep,         // keeps values that were put to the block before
  kKnow,         // has the block open, and may read values that other ranks put
};

struct NameRecord {
  std::string_view name;
  BlockId id;
  Claim claim;
  // True if this rank stays the primary of the block, for kHave, kRedefine, kChange and
  // kHaveChanged. kKeep implies it.
  bool stays_primary = false;
};

template <class Fields>
void fields(Fields& all, NameRecord& record) {
  all(record.name, record.id, record.claim, record.stays_primary);
}

struct NameMatch {
  // Among the names before this name: how many the ranks add, minus how many they remove.
  std::int64_t change = 0;
  // Handles of the ranks that share the block. The primary receives the handles of all these ranks:
  // first its own handle, then the other handles in the order of ranks. Each other rank receives
  // only the primary's handle. If the block is not shared, this list is empty. Ranks that only know
  // the block share it if another rank puts values to it.
  std::vector<Sharing::Handle> handles;
};

template <class Fields>
void fields(Fields& all, NameMatch& match) {
  all(match.change, match.handles);
}

// The names that a rank owns after matching, each with the primary of its block.
class OwnedNames {
 public:
  void clear() { names_.clear(); }
  // Adds a name. Names must be added in ascending order.
  void add(std::string_view name, Sharing::Handle primary) {
    names_.push_back({std::string(name), primary});
  }
  std::optional<Sharing::Handle> find(std::string_view name) const;

 private:
  struct Owned {
    std::string name;
    Sharing::Handle primary;
  };
  std::vector<Owned> names_;
};

// Matches the records of all ranks and returns the match of each record. Collective. records:
// sorted by name, with one record for each name, except that a kRemove record may precede another
// record of the same name. *slices receives the slices, and *owned receives the names that this
// rank owns; both may be null. Errors: kConflict if the claims of ranks contradict each other.
Result<std::vector<NameMatch>> match_names(Communicator& ranks, std::span<const NameRecord> records,
                                           NameSlices* slices, OwnedNames* owned);
// Works like match_names(), with fewer messages: does not compute NameMatch::change. *status: the
// status of this rank alone, on which the ranks must agree later.
Result<std::vector<NameMatch>> match_sharers(Communicator& ranks,
                                             std::span<const NameRecord> records, Status* status);

}  // namespace nmb
