// RequestedChunks finds which chunk length of Compression::chunk applies to a dimension of a
// variable.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/dataset.h"
#include "model/values.h"
#include "netcdf/netcdf_view.h"

namespace nmb {

class RequestedChunks {
 public:
  // Compares each name in `asked` with the dimension names of the view if the file has marks of
  // netCDF or of HDF5 dimension scales. In the view, data sets of different lengths can share one
  // dimension. If the file has no marks or the view has no such name, compares the name with the
  // stored dimension names. `view` is the view of `dataset`. `is_numbered` is true if the view
  // names dimensions without a scale as netCDF-C does: phony_dim_N. In `asked`, a length for a
  // single variable must come before a length for all variables that have the same dimension. The
  // object keeps no reference to the arguments.
  RequestedChunks(const Dataset& dataset, const NetcdfView& view, bool is_numbered,
                  const std::vector<Compression::ChunkLength>& asked);

  // Returns the index of the element of `asked` that gives the length for dimension `i` of a
  // variable. Returns nullopt if no length was requested for the dimension, or if netCDF shows the
  // data set only as a dimension.
  std::optional<std::size_t> find(VarId variable, std::size_t i) const;

 private:
  std::map<std::pair<VarId, std::size_t>, std::size_t> places_;
};

}  // namespace nmb
