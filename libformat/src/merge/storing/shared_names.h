// SharedNames: names that several inputs, of this rank or of others, may use: names of blocks,
// groups, and parents, which are blocks that have only attributes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/reporting/conflict_list.h"
#include "merge/storing/first_uses.h"
#include "nmb/communicator.h"
#include "nmb/metadata.h"

namespace nmb {

class SharedNames {
 public:
  SharedNames(Communicator& ranks, ConflictList& conflicts)
      : ranks_(ranks), conflicts_(conflicts) {}

  // Records a block that was defined.
  void note_block(const std::string& name, Occurrence at);
  // Records a name that no other input may use for its blocks.
  void note_group(const std::string& group);
  // Records a parent. Inputs share a parent if their attributes for it are the same. false: the
  // name was recorded before.
  bool note_parent(const std::string& name, const Metadata& attributes);

  // Collective: compares the names with those in inputs of other ranks.
  Status compare_with_other_ranks();

 private:
  // One use of a parent.
  struct Parent {
    Occurrence occurrence;
    Metadata metadata;
  };
  using FirstInputs = std::unordered_map<std::string, std::uint64_t>;

  void compare_attributes(const std::string& name, const Parent& first, const Parent& second);
  Result<std::vector<NameUse>> describe_blocks();
  // Returns the names that another rank uses first, with the inputs that use them.
  Result<FirstInputs> compare_blocks();
  Result<FirstInputs> compare_groups();

  Communicator& ranks_;
  ConflictList& conflicts_;
  std::vector<std::pair<NameUse, Occurrence>> blocks_;  // kept if there are several ranks
  std::unordered_map<std::string, Occurrence> groups_;  // first uses
  // The first use and, until those of other ranks are known, all later uses.
  std::unordered_map<std::string, std::vector<Parent>> parents_;
};

}  // namespace nmb
