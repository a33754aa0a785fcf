// LinkFollower: finds blocks and variables by the links of HDF5, which give an object other names
// than its own (spec/hdf5_section.md, property 4).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "handles/inspected_file.h"
#include "hdf5_types/hdf5_section.h"
#include "model/dataset.h"

namespace nmb {

class LinkFollower {
 public:
  // The file must outlive the object.
  explicit LinkFollower(const InspectedFile& file) : file_(file) {}

  struct Target {
    BlockEntry block;
    std::optional<VarId> variable;  // nullopt: the target is the block
  };
  // Follows a path from a block, as HDF5 does: over at most 16 soft links, and not into other
  // files. Returns nullopt if the path leads to no block and to no variable. Errors: those of
  // reading a block; kLimit if all paths together take too long.
  Result<std::optional<Target>> follow(std::string_view block, std::string_view path);
  // Finds a block by a name that leads over links. `name` is not the name of a block itself.
  Result<std::optional<BlockEntry>> find_block(std::string_view name);

  // Returns the hard and soft links of a block that give other names. Errors: kDamaged (R-H5-1).
  static Result<std::vector<hdf5::Link>> other_names(const Metadata& metadata);

 private:
  Result<std::optional<Target>> follow_from(std::string at, std::vector<std::string_view> parts);

  using Links = std::map<std::string, hdf5::Link, std::less<>>;  // by name
  Result<const Links*> links_of(const Dataset& block);

  const InspectedFile& file_;
  std::map<std::string, Links> links_;  // of the blocks whose links were followed, by name
  std::uint64_t steps_ = 0;             // taken so far
};

}  // namespace nmb
