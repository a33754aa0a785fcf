// Finds ranks that do something with blocks of the same name. Records go to the owners of slices of
// the name space, which find equal names next to each other ("Parallel Data Object Creation",
// section 3.3).
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
  kDefine,       // defines a block that other ranks may define, too
  kDefineAlone,  // packs a block, or renames a block of the file to this name
  kChange,       // changes a block of the file
  kRemove,       // removes the name from a block of the file
  kPut,          // puts values to a block of the file
  kKeep,         // keeps values that were put to it before
};

struct NameRecord {
  std::string_view name;
  BlockId id;
  Claim claim;
};

struct NameMatch {
  // How many names that sort before this one are added on all ranks, minus those that are removed.
  std::int64_t change = 0;
  // All ranks that define the block or put values, if there are several: the keeper first, then by
  // rank.
  std::vector<Sharing::Handle> handles;
};

// What an owner knows after matching: the keepers of the defined blocks in its slice.
class OwnedNames {
 public:
  void clear() { names_.clear(); }
  // Add names in ascending order.
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

// Collective. records: sorted by name; each rank has one for each name, except that kRemove may
// precede another claim. Returns the match of each record. Errors: kConflict if the claims of ranks
// contradict each other. slices, owned: if wanted, receive the slices and the names that this rank
// owns.
Result<std::vector<NameMatch>> match_names(Communicator& ranks, std::span<const NameRecord> records,
                                           NameSlices* slices = nullptr,
                                           OwnedNames* owned = nullptr);

}  // namespace nmb
