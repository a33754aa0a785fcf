// BlockElements: reads the elements of a dataset's variables and attributes in the form that they
// have in memory (nmb/datatype.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "elements/element_form.h"
#include "hdf5_types/property_table.h"
#include "model/dataset.h"
#include "model/values.h"
#include "nmb/datatype.h"
#include "values/chunk_cache.h"

namespace nmb {

// Where the fill value of a variable comes from.
enum class FillOrigin : std::uint8_t {
  kAttribute,  // the attribute _FillValue
  kSet,        // the fill value that the HDF5 data set has
  kDefault,    // netCDF's default in classic datasets, else zeros
};

// Thread-safe. Keeps the arrays of variables that were read, so that decoded chunks stay in the
// cache.
class BlockElements {
 public:
  // cache: for chunks; several objects can share it. Errors: kDamaged if the hdf5 section is.
  static Result<std::shared_ptr<BlockElements>> of(std::shared_ptr<const Dataset> dataset,
                                                   std::shared_ptr<ChunkCache> cache);

  const Dataset& dataset() const { return *dataset_; }
  Result<ElementForm> form(VarId variable) const;
  // Reads a hyperslab into `out`, which has as many bytes as the elements take in memory. `heap`
  // may be nullptr if the type has no parts of variable length; otherwise, bytes are appended to
  // it. Errors: kUsage, kDamaged, kUnsupported, kIo.
  Status read(VarId variable, const Hyperslab& slab, std::span<std::byte> out,
              std::vector<std::byte>* heap) const;
  // Returns the fill value, which stands for missing values.
  Result<std::pair<Elements, FillOrigin>> fill(VarId variable) const;
  // Returns whether a variable is an HDF5 data set with a null dataspace, which has no values.
  bool is_null(VarId variable) const;
  // Returns how the variable was created in HDF5, or nullptr if that is not recorded.
  const hdf5::Creation* creation(VarId variable) const;

 private:
  BlockElements(std::shared_ptr<const Dataset> dataset, std::shared_ptr<ChunkCache> cache)
      : dataset_(std::move(dataset)), cache_(std::move(cache)) {}
  const TypeTable* types() const;
  Result<std::shared_ptr<const ValueArray>> array(VarId variable) const;

  std::shared_ptr<const Dataset> dataset_;
  std::shared_ptr<ChunkCache> cache_;
  hdf5::PropertyTable properties_;
  mutable std::mutex mutex_;  // protects arrays_
  mutable std::map<VarId, std::shared_ptr<const ValueArray>> arrays_;
};

// Reads the values of an attribute.
Status read_attribute(const Metadata& metadata, const Attribute& attribute,
                      std::span<std::byte> out, std::vector<std::byte>* heap);

}  // namespace nmb
