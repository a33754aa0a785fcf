// SharedNames: names of blocks, groups and parents that several inputs may use, on this rank or on
// others. A parent is a block that has only attributes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/reporting/conflict_list.h"
#include "merge/storing/first_uses.h"
#include "model/metadata.h"
#include "parallel/communicator.h"

namespace nmb {

class SharedNames {
 public:
  SharedNames(Communicator& ranks, ConflictList& conflicts)
      : ranks_(ranks), conflicts_(conflicts) {}

  // Records the name of a block that was defined.
  void note_block(const std::string& name, Occurrence at);
  // Records a name that no other input may use for its blocks.
  void note_group(const std::string& group);
  // Returns whether an input of this rank has a group whose name was recorded.
  bool has_groups() const { return !groups_.empty(); }
  // Records a parent. Inputs share a parent if the parent has the same attributes in all of these
  // inputs. Returns false if the name was recorded before.
  bool note_parent(const std::string& name, const Metadata& attributes);

  // Collective. Compares the names with the names in inputs of other ranks.
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
  // Returns the names that another rank uses first, each with the input that uses it.
  Result<FirstInputs> compare_blocks();
  Result<FirstInputs> compare_groups();

  Communicator& ranks_;
  ConflictList& conflicts_;
  std::vector<std::pair<NameUse, Occurrence>>
      blocks_;  // names of blocks; used only if there are several ranks
  std::unordered_map<std::string, Occurrence> groups_;  // the first use of each group name
  // The first use of each parent. Until the first uses on other ranks are known, all later uses are
  // also kept.
  std::unordered_map<std::string, std::vector<Parent>> parents_;
};

}  // namespace nmb
