// AskedChunks: which chunk length of Compression::chunk a dimension of a variable has.
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
  // Names are those of the view where netCDF or dimension scales left their marks, so that data
  // sets of several lengths along one dimension are all meant by its name; else, and where the view
  // has no such name, the stored ones. view: of the dataset. is_numbered: it has the names of
  // netCDF-C for dimensions without a scale (phony_dim_N). Copies what it needs.
  AskedChunks(const Dataset& dataset, const NetcdfView& view, bool is_numbered,
              const std::vector<Compression::ChunkLength>& asked);

  // The place in `asked` of the length for dimension `i` of a variable; nullopt: none was asked
  // for, or netCDF shows the data set as a dimension only.
  std::optional<std::size_t> find(VarId variable, std::size_t i) const;

 private:
  std::map<std::pair<VarId, std::size_t>, std::size_t> places_;
};

}  // namespace nmb
