// SharedNames: names that several inputs may use, of this rank or of others: block names, groups,
// and parents, which are blocks of nothing but attributes.
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

  // A block that was defined.
  void note_block(const std::string& name, Occurrence at);
  // A name in an input that no other may have.
  void note_group(const std::string& group);
  // Inputs share parents whose attributes are the same. false: there is one of this name.
  bool note_parent(const std::string& name, const Metadata& attributes);

  // Collective: what inputs of other ranks use too.
  Status compare_with_other_ranks();

 private:
  // A use of a parent.
  struct Parent {
    Occurrence occurrence;
    Metadata metadata;
  };
  using FirstInputs = std::unordered_map<std::string, std::uint64_t>;

  void compare_attributes(const std::string& name, const Parent& first, const Parent& second);
  Result<std::vector<NameUse>> describe_blocks();
  // Names whose first use is another rank's, and where that is.
  Result<FirstInputs> compare_blocks();
  Result<FirstInputs> compare_groups();

  Communicator& ranks_;
  ConflictList& conflicts_;
  std::vector<std::pair<NameUse, Occurrence>> blocks_;  // kept where there are several ranks
  std::unordered_map<std::string, Occurrence> groups_;  // first uses
  // The first use and, until those of other ranks are known, the later ones.
  std::unordered_map<std::string, std::vector<Parent>> parents_;
};

}  // namespace nmb
