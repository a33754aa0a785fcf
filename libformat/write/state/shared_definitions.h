// SharedDefinitions: unites the definitions of a block from several ranks, or reports where they
// disagree (spec/rationale.md, "Shared blocks"). A SharedDefinitions performs no I/O and sends no
// messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/metadata.h"

namespace nmb {

// The union has the dimensions, variables and attributes of the block in the order of their first
// occurrence: by rank, then in the order of definition on the rank. Objects with the same name must
// agree, as follows.
//
// Dimensions must have the same length. A record dimension agrees only with a record dimension, and
// the record dimensions of all ranks must have the same name.
//
// Variables must have the same type, the same number and names of dimensions, and the same
// attributes in any order.
//
// Attributes must have the same type and the same values, compared byte by byte.
//
// A rank may lack objects that another rank has. But if two ranks have the same variable, both
// ranks must have the same attributes of this variable.
//
// The time of all calls of add() together is proportional to the number of added objects. Not
// thread-safe. Throws std::bad_alloc if memory is exhausted. The union must not be used after an
// exception or a failure of add().
class SharedDefinitions {
 public:
  // For each dimension and variable of a rank, its ID in the union. The index in the vector is the
  // object's ID on the rank.
  struct Ids {
    std::vector<DimId> dimensions;
    std::vector<VarId> variables;
  };

  // `name`: the block's name, for messages.
  explicit SharedDefinitions(std::string_view name) : name_(name) {}

  // Adds the definitions of a rank. Ranks must be added in ascending order. settle_names() of
  // `definitions` must have been called before. The field `begin` of the rank's variables is
  // ignored; `begin` is 0 in the union. Fails with kLimit if the union would exceed a limit of
  // Metadata. Fails with kConflict if definitions disagree. The message of kConflict names the
  // block, the object, the field, both values and both ranks:
  //   block "events": variable "energy": type: found double on rank 3, expected float as on rank 1
  Result<Ids> add(int rank, const Metadata& definitions);

  const Metadata& metadata() const { return union_; }
  // Returns the union. The caller must then compute a layout, which sets the field `begin` of the
  // union's variables. The SharedDefinitions is empty afterwards.
  Metadata take() && { return std::move(union_); }

 private:
  // Where the objects of one rank begin. They end where the objects of the next Start in `starts_`
  // begin.
  struct Start {
    int rank;
    DimId dimension;
    VarId variable;
    std::uint32_t block_attribute;  // index in the order of definition
  };

  Status add_dimensions(int rank, const Metadata& definitions, std::vector<DimId>* ids);
  Status add_block_attributes(int rank, const Metadata& definitions);
  Status add_variables(int rank, const Metadata& definitions, Ids* ids);
  Status check_record_dimension(int rank, const Dimension& dimension) const;
  Status check_variable(int rank, const Metadata& definitions, VarId local, VarId id,
                        std::span<const DimId> dimensions) const;
  Status check_attributes(int rank, const Metadata& definitions, VarId local, VarId id) const;
  // Returns the error for attributes that differ. `object`: the owner and the name of the
  // attribute, for the message.
  Status attribute_conflict(std::string_view object, int rank, const Attribute& found,
                            int first_rank, const Attribute& expected) const;
  int first_rank(std::uint32_t Start::*first, std::uint32_t object) const;
  int first_rank_of_block_attribute(std::string_view name) const;
  // Returns the error for definitions that differ. `field`: the field that differs; may be empty.
  // `remark`: the rest of the message, which begins with ", ".
  Status conflict(std::string_view object, std::string_view field, int rank, std::string_view found,
                  int first_rank, std::string_view expected, std::string_view remark = {}) const;

  std::string name_;
  Metadata union_{Metadata::Names::kAsFound};
  std::uint32_t block_attributes_ = 0;
  std::vector<Start> starts_;  // ascending by rank; one for each rank that has added objects
};

}  // namespace nmb
