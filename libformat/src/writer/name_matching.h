// Who else does something with a block of the same name: records go to the owners of slices of the
// name space, who see equal names side by side ("Parallel Data Object Creation", section 3.3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/communicator.h"
#include "parallel/name_slices.h"
#include "writer/block_state.h"

namespace nmb {

// What a rank does with a name of a block.
enum class Claim : std::uint8_t {
  kDefine,       // defines a block, which others may define too
  kDefineAlone,  // packs one, or gives one of the file the name
  kChange,       // changes a block of the file
  kRemove,       // takes the name from a block of the file
  kPut,          // puts values to a block of the file
  kKeep,         // keeps the values that were put to it already
};

struct NameRecord {
  std::string_view name;
  BlockId id;
  Claim claim;
};

struct NameMatch {
  // Names that come less names that go, ahead of this one, on all ranks.
  std::int64_t change = 0;
  // All that define or put, if there are several: the keeper first, then by rank.
  std::vector<Sharing::Handle> handles;
};

// What an owner knows after a matching: the keepers of the blocks in its slice that are defined.
class OwnedNames {
 public:
  void clear() { names_.clear(); }
  // In order of names.
  void add(std::string_view name, Sharing::Handle keeper) {
    names_.push_back({std::string(name), keeper});
  }
  std::optional<Sharing::Handle> find(std::string_view name) const;

 private:
  struct Owned {
    std::string name;
    Sharing::Handle keeper;
  };
  std::vector<Owned> names_;
};

// Collective. records: sorted by name; one of each rank and name, but for kRemove ahead of another.
// Returns what there is of each. kConflict: ranks do what does not go together. If wanted: the
// slices, and what this rank owns.
Result<std::vector<NameMatch>> match_names(Communicator& ranks, std::span<const NameRecord> records,
                                           NameSlices* slices = nullptr,
                                           OwnedNames* owned = nullptr);

}  // namespace nmb
