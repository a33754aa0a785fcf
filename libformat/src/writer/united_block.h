// UnitedBlock: the definitions that several ranks gave of one block become one, or it is told where
// they disagree (spec/rationale.md, "Shared blocks"). No I/O and no messages between ranks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/metadata.h"

namespace nmb {

// The union holds dimensions, variables and attributes of the block in order of their first
// occurrence: by rank, then as the rank defined them. Objects of one name must agree:
//   dimensions  in their length, where the record dimension agrees with itself only; the record
//               dimensions of all ranks have one name
//   variables   in type, number of dimensions, names of the dimensions, and in the set of their
//               attributes, whatever its order
//   attributes  in type, number of values, and the values byte by byte
// One rank need not have what another has, but for the attributes of a variable that both have.
//
// Takes time in proportion to what is added. Not thread-safe. Memory exhaustion throws
// std::bad_alloc. After that or a failure of add() the union is of no use.
class UnitedBlock {
 public:
  // Places in the union of what one rank defined, by its own IDs.
  struct Ids {
    std::vector<DimId> dimensions;
    std::vector<VarId> variables;
  };

  // `name`: of the block, for messages.
  explicit UnitedBlock(std::string_view name) : name_(name) {}

  // Ranks come in ascending order. `definitions`: names settled; `begin` of variables is not looked
  // at and is 0 in the union. kConflict: names block, object, field, both values and both ranks:
  //   block "events": variable "energy": type: found double on rank 3, expected float as on rank 1
  // kLimit: the union would pass a limit of Metadata.
  Result<Ids> add(int rank, const Metadata& definitions);

  const Metadata& metadata() const { return union_; }
  // For the layout, which sets `begin`; the UnitedBlock is empty afterwards.
  Metadata take() && { return std::move(union_); }

 private:
  // The first of a rank's own objects: what follows, up to the next start, is first of this rank.
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
  // Of attributes that differ. `object`: their name and owner.
  Status attribute_conflict(std::string_view object, int rank, const Attribute& found,
                            int first_rank, const Attribute& expected) const;
  int first_rank(std::uint32_t Start::*first, std::uint32_t object) const;
  int first_rank_of_block_attribute(std::string_view name) const;
  // `field`: may be empty. `remark`: what follows, from ", " on.
  Status conflict(std::string_view object, std::string_view field, int rank, std::string_view found,
                  int first_rank, std::string_view expected, std::string_view remark = {}) const;

  std::string name_;
  Metadata union_{Metadata::Names::kAsFound};
  std::uint32_t block_attributes_ = 0;
  std::vector<Start> starts_;  // ascending; only ranks that had something new
};

}  // namespace nmb
