// Visits the blocks of a file as a tree of groups, for texts with nested groups.
#pragma once

#include <string_view>
#include <vector>

#include "dump/type_names.h"
#include "model/dataset.h"
#include "netcdf/netcdf_view.h"
#include "wire/failure.h"

namespace nmb {

class GroupVisitor {
 public:
  virtual ~GroupVisitor() = default;

  // A group begins. path: name of the group's block. dataset: the block, or nullptr if there are
  // only blocks below the group. has_groups: whether the group has subgroups. `path` and `dataset`
  // are valid until end() is called for this group.
  virtual Status begin(std::string_view path, const Dataset* dataset, bool has_groups) = 0;
  // The group at `path` ends. All its subgroups have ended.
  virtual Status end(std::string_view path) = 0;
};

// Visits all groups of a file, from the root group, which always exists. Groups have the order in
// which netCDF-C reads them: the order of their links if a block tracks this order, otherwise the
// order of their names. Holds the names of all blocks in memory.
Status visit_groups(const FileBlocks& blocks, GroupVisitor& visitor);

// Returns the named types to which links of a group refer, in the order of the links. Errors:
// kDamaged if the hdf5 section is damaged.
Result<std::vector<Type>> linked_types(const Extension& extension);

// Adds the names of the types that a group defines. Errors: kDamaged if the hdf5 section is
// damaged.
Status add_names_of_types(const Dataset& dataset, TypeNames* names);

// Returns the names of all types of a file. Errors: those of the functions in FileBlocks; kDamaged
// if the hdf5 section of a block is damaged.
Result<TypeNames> names_of_types(const FileBlocks& blocks);

}  // namespace nmb
