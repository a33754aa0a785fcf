// UnitedBlock: unites the definitions that several ranks gave of one block, or reports where they
// disagree (spec/rationale.md, "Shared blocks"). No I/O and no messages between ranks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/metadata.h"

namespace nmb {

// The union has dimensions, variables and attributes of the block in the order of their first
// occurrence: by rank, then in the order of the rank's definitions. Objects with the same name must
// agree:
//   dimensions  in length; a record dimension agrees only with a record dimension, and those of all
//               ranks must have the same name
//   variables   in type, number of dimensions, names of the dimensions, and in the set of their
//               attributes, in any order
//   attributes  in type, number of values, and the values byte by byte
// A rank may lack objects that another rank has, except the attributes of a variable that both
// have.
//
// The time is proportional to the number of added objects. Not thread-safe. If memory is exhausted,
// std::bad_alloc is thrown. After that or a failure of add() the union must not be used.
class UnitedBlock {
 public:
  // IDs in the union of the objects that one rank defined, by that rank's own IDs.
  struct Ids {
    std::vector<DimId> dimensions;
    std::vector<VarId> variables;
  };

  // `name`: of the block, for messages.
  explicit UnitedBlock(std::string_view name) : name_(name) {}

  // Add ranks in ascending order. `definitions`: settle_names() must have been called; `begin` of
  // variables is ignored and is 0 in the union. Errors: kConflict, with block, object, field, both
  // values and both ranks:
  //   block "events": variable "energy": type: found double on rank 3, expected float as on rank 1
  // kLimit if the union would exceed a limit of Metadata.
  Result<Ids> add(int rank, const Metadata& definitions);

  const Metadata& metadata() const { return union_; }
  // Returns the union for the layout, which sets `begin`; the UnitedBlock is empty afterwards.
  Metadata take() && { return std::move(union_); }

 private:
  // The first object that a rank has added: all objects up to the next start are from this rank.
  struct Start {
    int rank;
    DimId dimension;
    VarId variable;
    std::uint32_t block_attribute;  // in order of definition
  };

  Status add_dimensions(int rank, const Metadata& definitions, std::vector<DimId>* ids);
  Status add_block_attributes(int rank, const Metadata& definitions);
  Status add_variables(int rank, const Metadata& definitions, Ids* ids);
  Status check_record_dimension(int rank, const Dimension& dimension) const;
  Status check_variable(int rank, const Metadata& definitions, VarId local, VarId id,
                        std::span<const DimId> dimensions) const;
  Status check_attributes(int rank, const Metadata& definitions, VarId local, VarId id) const;
  // Returns the failure for attributes that differ. `object`: their name and owner.
  Status attribute_conflict(std::string_view object, int rank, const Attribute& found,
                            int first_rank, const Attribute& expected) const;
  int first_rank(std::uint32_t Start::*first, std::uint32_t object) const;
  int first_rank_of_block_attribute(std::string_view name) const;
  // `field`: may be empty. `remark`: the rest of the message, beginning with ", ".
  Status conflict(std::string_view object, std::string_view field, int rank, std::string_view found,
                  int first_rank, std::string_view expected, std::string_view remark = {}) const;

  std::string name_;
  Metadata union_{Metadata::Names::kAsFound};
  std::uint32_t block_attributes_ = 0;
  std::vector<Start> starts_;  // ascending; only ranks that added objects
};

}  // namespace nmb
