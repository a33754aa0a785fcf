// AskedChunks: finds which chunk length of Compression::chunk applies to a dimension of a variable.
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
  // A name in `asked` is first looked up in the view, if netCDF or dimension scales left their
  // marks: one name of the view stands for data sets of several lengths along one dimension.
  // Without marks, or if the view has no such name, the stored names count. view: of the dataset.
  // is_numbered: the view has the names of netCDF-C for dimensions without a scale (phony_dim_N).
  // The object keeps no reference to the arguments.
  AskedChunks(const Dataset& dataset, const NetcdfView& view, bool is_numbered,
              const std::vector<Compression::ChunkLength>& asked);

  // Returns the index in `asked` of the length for dimension `i` of a variable; nullopt: no length
  // was given for it, or netCDF shows the data set only as a dimension.
  std::optional<std::size_t> find(VarId variable, std::size_t i) const;

 private:
  std::map<std::pair<VarId, std::size_t>, std::size_t> places_;
};

}  // namespace nmb
