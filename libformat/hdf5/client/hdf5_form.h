// Hdf5Form determines how an NMB file is written as HDF5. Some blocks from several sources must be
// changed to fit into one HDF5 file: dimensions get other numbers, and the file has at most one
// user block (docs/reference/hdf5.md, "Several sources in one file").
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/dimension_ids.h"
#include "netcdf/netcdf_view.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Not thread-safe.
class Hdf5Form {
 public:
  // Determines the form of a file. Reads the definitions of all blocks of kind 6. The result
  // keeps a copy of `blocks`. Errors: kDamaged; kLimit; kIo.
  NMB_EXPORT static Result<Hdf5Form> of(const NamedBlocks& blocks);

  const DimensionIds& dimensions() const { return ids_; }
  // Returns the name of the block from which the HDF5 file gets its user block, or nullopt. This
  // block is above all other blocks.
  const std::optional<std::string>& user_block_of() const { return user_block_of_; }
  // Returns the losses: user blocks that are not written to the HDF5 file, and variables whose
  // values were not decoded.
  const std::vector<Loss>& losses() const { return losses_; }
  // Returns the definitions that HDF5 changes without a loss of values.
  const std::vector<Loss>& changes() const { return changes_; }
  // Returns the block in the form in which it is written. Errors: kDamaged, kIo.
  NMB_EXPORT Result<std::shared_ptr<const LoadedBlock>> written(
      std::shared_ptr<const LoadedBlock> block) const;

 private:
  explicit Hdf5Form(DimensionIds ids) : ids_(std::move(ids)) {}

  DimensionIds ids_;
  std::set<std::string, std::less<>> with_user_block_;
  // Blocks with variables that were not decoded, or that have damaged chunks.
  std::set<std::string, std::less<>> marked_;
  std::optional<std::string> user_block_of_;
  std::vector<Loss> losses_;
  std::vector<Loss> changes_;
};

// Drops the filter parameters that HDF5 replaces when it creates a data set: all but the first two
// parameters of a scaleoffset filter with an unknown scale type. HDF5 cannot decode the chunks with
// the old or the new parameters.
NMB_EXPORT void drop_replaced_parameters(Extension* extension);

// Returns the bytes of a block's user block, or no bytes if it has none. Errors: kDamaged.
NMB_EXPORT Result<std::vector<std::byte>> user_block(const LoadedBlock& block);

}  // namespace nmb::hdf5
