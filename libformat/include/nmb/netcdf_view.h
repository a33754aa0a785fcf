// NetcdfView: a block that came from HDF5 as netCDF-C shows it: dimensions with the names and
// lengths that netCDF gives them, data sets that are no variables left out, names and attributes
// that only keep netCDF's books hidden (docs/hdf5.md, "To classic netCDF").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/metadata.h"

namespace nmb {

struct NetcdfView {
  struct Dimension {
    std::string name;  // unlike all others
    std::uint64_t length = 0;
    bool may_grow = false;
  };
  struct Variable {
    VarId id = 0;
    std::string name;
    // Numbers in `dimensions`, slowest first. The values may have fewer along those that may grow:
    // behind them netCDF shows fill values.
    std::vector<std::uint32_t> dimensions;
  };

  // Whether netCDF or HDF5's dimension scales left their marks in the block. Without them a block
  // is shown as it is. A group without dimensions of its own may have none and look the same.
  bool is_netcdf = false;
  // In netCDF's order as far as it is told. Of one that may grow the length is that of the longest
  // variable of this block: variables of groups below it may be longer.
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;  // in the order of the block
  std::vector<bool> is_scale;       // by VarId: a dimension scale of HDF5

  // Whether an attribute of a variable or of the block (kGlobal) only keeps the books. netCDF-C
  // hides CLASS and NAME of all objects; here they are hidden of dimension scales alone.
  NMB_EXPORT bool hides(VarId owner, std::string_view attribute) const;
};

// dataset: of any kind; of a classic one all is shown. Marks that are not as HDF5 and netCDF write
// them say nothing.
NMB_EXPORT NetcdfView netcdf_view(const Dataset& dataset);

}  // namespace nmb
