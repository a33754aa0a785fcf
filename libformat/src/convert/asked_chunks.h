// AskedChunks finds which chunk length of Compression::chunk applies to a dimension of a variable.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/netcdf_view.h"
#include "nmb/values.h"

namespace nmb {

class AskedChunks {
 public:
  // Compares each name in `asked` with the view's names of dimensions if netCDF or dimension scales
  // left marks in the file. In the view, data sets of several lengths can share one dimension.
  // Without marks, or if the view has no such name, the name is compared with the stored names.
  // `view` is the view of `dataset`. `is_numbered` says whether the view names dimensions without a
  // scale like netCDF-C does (phony_dim_N). A length for a single variable must come before a
  // length for all variables with the dimension. The object keeps no reference to the arguments.
  AskedChunks(const Dataset& dataset, const NetcdfView& view, bool is_numbered,
              const std::vector<Compression::ChunkLength>& asked);

  // Returns which element of `asked` gives the length for dimension `i` of a variable, by its
  // index. Returns nullopt if no length was requested for it, or if netCDF shows the data set only
  // as a dimension.
  std::optional<std::size_t> find(VarId variable, std::size_t i) const;

 private:
  std::map<std::pair<VarId, std::size_t>, std::size_t> places_;
};

}  // namespace nmb
