// Hdf5Form: what an NMB file is to be as HDF5. Blocks of several sources do not always go together
// as they are: dimensions get other numbers, and a file has one user block at most (docs/hdf5.md,
// "Several sources in one file").
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hdf5/client/dimension_ids.h"
#include "nmb/netcdf_view.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// Not thread-safe.
class Hdf5Form {
 public:
  // Reads the definitions of all blocks of kind 6. reader outlives the result. kDamaged; kLimit;
  // kIo.
  NMB_EXPORT static Result<Hdf5Form> of(const Reader& reader);

  const DimensionIds& dimensions() const { return ids_; }
  // The block whose user block the file has: one that all others lie below.
  const std::optional<std::string>& user_block_of() const { return user_block_of_; }
  // User blocks that the file does not have.
  const std::vector<Loss>& losses() const { return losses_; }
  // Definitions that HDF5 changes, without a loss of values.
  const std::vector<Loss>& changes() const { return changes_; }
  // The block as it is written. kDamaged, kIo.
  NMB_EXPORT Result<std::shared_ptr<const Block>> written(std::shared_ptr<const Block> block) const;

 private:
  explicit Hdf5Form(DimensionIds ids) : ids_(std::move(ids)) {}

  DimensionIds ids_;
  std::set<std::string, std::less<>> with_user_block_;
  std::optional<std::string> user_block_of_;
  std::vector<Loss> losses_;
  std::vector<Loss> changes_;
};

// Truncates parameters that HDF5 replaces when it creates a data set, of filters that it cannot
// decode with either: those of a scale-offset filter of an unknown scale type, but for the first
// two.
NMB_EXPORT void drop_replaced_parameters(Extension* extension);

// The bytes of a block's user block; none: it has none. kDamaged.
NMB_EXPORT Result<std::vector<std::byte>> user_block(const Block& block);

}  // namespace nmb::hdf5
