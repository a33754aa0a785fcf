// NetcdfView: a block that came from HDF5 as netCDF-C shows it: dimensions with the names and
// lengths that netCDF gives them, data sets that are no variables left out, names and attributes
// that only keep netCDF's books hidden (docs/hdf5.md, "To classic netCDF").
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/block_entry.h"
#include "nmb/dataset.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

struct NetcdfView {
  struct Dimension {
    std::string name;  // unlike all others
    std::uint64_t length = 0;
    bool may_grow = false;
    std::string path{};  // of its scale in the file, with the first '/'; empty: no scale
  };
  struct Variable {
    VarId id = 0;
    std::string name;
    // Numbers in `dimensions`, slowest first. The values may have fewer along those that may grow:
    // behind them netCDF shows fill values.
    std::vector<std::uint32_t> dimensions;
  };

  // Whether netCDF or HDF5's dimension scales left their marks in the block. Without them a block
  // is shown as it is, but for dimensions that its data sets in HDF5 do not name: each place of a
  // variable has one of its own (docs/hdf5.md, "Dimensions without a scale"). A group without
  // dimensions of its own may have no marks and look the same.
  bool is_netcdf = false;
  // In netCDF's order as far as it is told. Of one that may grow the length is that of the longest
  // variable of this block and, by DimensionLengths, of other groups that use it.
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;  // in the order of the block
  std::vector<bool> is_scale;       // by VarId: a dimension scale of HDF5

  // Whether an attribute of a variable or of the block (kGlobal) only keeps the books. netCDF-C
  // hides CLASS and NAME of all objects; here they are hidden of dimension scales alone.
  NMB_EXPORT bool hides(VarId owner, std::string_view attribute) const;
};

// Lengths of dimensions that may grow, by the paths of their scales: of the longest variable of all
// groups. Those that no variable uses are not there.
using DimensionLengths = std::map<std::string, std::uint64_t>;

// dataset: of any kind; of a classic one all is shown. Marks that are not as HDF5 and netCDF write
// them say nothing. lengths: of the file; nullptr: the block is shown by itself.
NMB_EXPORT NetcdfView netcdf_view(const Dataset& dataset,
                                  const DimensionLengths* lengths = nullptr);

// Whether a data set of HDF5 is for netCDF a dimension without a variable. false: of metadata
// without an extension.
NMB_EXPORT bool is_dimension_only(const Metadata& metadata, VarId variable);

// Adds the lengths that a group of a file has. Its name is its path, without the first '/'.
NMB_EXPORT void add_dimension_lengths(const Dataset& group, DimensionLengths* lengths);

// The same of all groups of a file that may use the dimensions of `view` that may grow: of the
// blocks from HDF5 at and below the uppermost one that has such a dimension. None are read where
// there is no such dimension. for_each: calls its second argument with the entries of the blocks
// whose names begin with the first one, as Reader::for_each_entry() does. load: reads a block, as
// Reader::block(). Fails as these do; *lengths may then have some. Thread-safe if they are.
using ForEachEntry = std::function<Status(
    std::string_view prefix, const std::function<Result<bool>(const BlockEntry&)>& visit)>;
using LoadEntry = std::function<Result<std::shared_ptr<const Dataset>>(const BlockEntry&)>;
NMB_EXPORT Status add_dimension_lengths(const NetcdfView& view, const ForEachEntry& for_each,
                                        const LoadEntry& load, DimensionLengths* lengths);

}  // namespace nmb
