// Two views of blocks that came from HDF5 or netCDF-4. netcdf_view(): as netCDF-C shows them, with
// its dimension names and lengths, and without the names and attributes that it uses internally.
// classic_view(): as a classic dataset, with a list of losses (docs/hdf5.md, "To classic netCDF").
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nmb/block_entry.h"
#include "nmb/dataset.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

namespace hdf5 {
class GroupTree;
}

// A block from HDF5 as netCDF-C shows it. Data sets that are not variables are left out.
struct NetcdfView {
  struct Dimension {
    std::string name;  // unique in the block
    std::uint64_t length = 0;
    bool may_grow = false;
    std::string path{};  // path of its scale in the file, with the leading '/'; empty: no scale
  };
  struct Variable {
    VarId id = 0;
    std::string name;
    // Indexes into NetcdfView::dimensions, slowest first. Along unlimited dimensions fewer values
    // may be stored; after them netCDF shows fill values.
    std::vector<std::uint32_t> dimensions;
  };

  // Whether the block has traces of netCDF or of HDF5 dimension scales. Without them the block is
  // shown unchanged, except for dimensions that have no name in HDF5: each place of each variable
  // gets its own dimension (docs/hdf5.md, "Dimensions without a scale"). A netCDF-4 group without
  // dimensions of its own may have no traces, and then looks like a plain HDF5 group.
  bool is_netcdf = false;
  // In netCDF's order if the file records it. The length of an unlimited dimension is that of its
  // longest variable in this block and, with DimensionLengths, in other groups.
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;  // in the order of the block
  std::vector<bool> is_scale;       // by VarId: a dimension scale of HDF5

  // Whether an attribute of a variable or of the block (kGlobal) is only for internal use and
  // hidden. netCDF-C hides CLASS and NAME on all objects; this view hides them on dimension scales
  // only.
  NMB_EXPORT bool hides(VarId owner, std::string_view attribute) const;
};

// Lengths of unlimited dimensions, by the paths of their scales: that of the longest variable in
// all groups. Dimensions that no variable uses are absent.
using DimensionLengths = std::map<std::string, std::uint64_t>;

// Returns netCDF's view of a dataset. dataset: of any kind; a classic one is shown in full. Traces
// of netCDF in a form that HDF5 and netCDF do not write are ignored. lengths: those of the file;
// nullptr: the block is shown on its own. first_made_up: the number N of the first phony_dim_N,
// from MadeUpNumbers; the dimensions are then exactly those that netCDF-C shows. Without it, N is
// counted within the block, and a place with a scale keeps it, also where netCDF-C does not see the
// scale.
NMB_EXPORT NetcdfView netcdf_view(const Dataset& dataset, const DimensionLengths* lengths = nullptr,
                                  std::optional<std::int64_t> first_made_up = {});

// Whether netCDF sees an HDF5 data set as a dimension without a variable. false for metadata
// without an extension.
NMB_EXPORT bool is_dimension_only(const Metadata& metadata, VarId variable);
// Returns the name by which netCDF shows a variable. The stored name differs if the variable has
// the name of a dimension that is not its first one. The result refers to the metadata.
NMB_EXPORT std::string_view netcdf_name(const Metadata& metadata, VarId variable);
// Returns the variable that netCDF shows by this name.
NMB_EXPORT std::optional<VarId> find_netcdf_variable(const Metadata& metadata,
                                                     std::string_view name);
// Returns the other name under which a variable of this name may be stored.
NMB_EXPORT std::string stored_as_no_coordinate(std::string_view name);

// Adds the lengths in one group of a file. The group's name must be its path, without the leading
// '/'.
NMB_EXPORT void add_dimension_lengths(const Dataset& group, DimensionLengths* lengths);

// The numbers N that netCDF-C gives to dimensions without a scale (phony_dim_N), counted over all
// groups of a file. Not thread-safe.
class NMB_EXPORT MadeUpNumbers {
 public:
  MadeUpNumbers();
  ~MadeUpNumbers();
  MadeUpNumbers(const MadeUpNumbers&) = delete;
  MadeUpNumbers& operator=(const MadeUpNumbers&) = delete;

  // Adds a group of the file; any order. The group's name is its path, without the leading '/'; or,
  // for all groups alike, that path below the name of a block. kDamaged: the hdf5 section.
  Status add(const Dataset& group);
  // For each group the number of its first such dimension; without one, that of the next group.
  using First = std::map<std::string, std::int64_t, std::less<>>;
  First first() const;

 private:
  struct Group {
    std::vector<std::int64_t> scales;  // numbers in the order of the group; -1: netCDF-C counts
    std::int64_t made_up = 0;          // dimensions without a scale
  };
  std::unique_ptr<hdf5::GroupTree> tree_;
  std::map<std::string, Group, std::less<>> groups_;
};

// Functions to find a file's blocks; they work as those of Reader.
struct FileBlocks {
  std::function<Result<std::optional<BlockEntry>>(std::string_view name)> find;
  std::function<Status(std::string_view prefix,
                       const std::function<Result<bool>(const BlockEntry&)>& visit)>
      for_each_entry;
  std::function<Result<std::shared_ptr<const Dataset>>(const BlockEntry&)> dataset;
};

// Facts of other blocks of a file that the view of one block needs.
struct FileDimensions {
  DimensionLengths lengths;
  std::optional<std::int64_t> first_made_up{};  // nullopt: each place has a scale
};

// Whether phony_dim_N must have netCDF-C's number.
enum class MadeUpNames : std::uint8_t { kWanted, kOfNoMatter };

// Finds the FileDimensions of blocks of one file. Not thread-safe.
class NMB_EXPORT FileDimensionsReader {
 public:
  explicit FileDimensionsReader(FileBlocks blocks) : blocks_(std::move(blocks)) {}

  // Reads other blocks only if `block` has unlimited dimensions with a scale, or dimensions without
  // a scale. Assumes that the topmost block above `block`, and all blocks below that one, came from
  // the same file. Errors of `blocks`; kDamaged.
  Result<FileDimensions> of(const Dataset& block, MadeUpNames names = MadeUpNames::kWanted);

 private:
  Result<std::string> source_of(const std::string& block) const;

  FileBlocks blocks_;
  std::map<std::string, MadeUpNumbers::First> numbers_;  // by the topmost block
};

// --- as a classic dataset ---

// Something that the classic dataset lacks or holds in another form.
struct Loss {
  std::string object;  // variable "v", attribute "v:units", dimension "x", link "l", group "/g"
  std::string text;    // what was found, what was expected, and what happens to it
  std::string line() const { return object + ": " + text; }
};

struct ClassicView {
  // Of kind CDF-5, but with types of `target` only. Its extent reads as that of a classic file:
  // chunks, other byte orders and unwritten values are converted. Reading it in ascending order
  // decodes each chunk once, if one row of chunks (all chunks with the same position along the
  // slowest dimension; for record variables, those of all of them together) takes at most 256 MiB,
  // the size of its cache.
  std::shared_ptr<const Dataset> dataset;
  // Losses of links, variables, dimensions and attributes. Empty: write_classic() makes a file with
  // the same content.
  std::vector<Loss> losses;
  // Variables of the block that netCDF shows but the classic dataset lacks.
  std::vector<VarId> left_out;
  // Names of variables of the classic dataset whose data sets had a fill value that is neither in
  // an attribute nor netCDF's default. No values differ, but later writes to the classic dataset
  // fill unwritten values with another value.
  std::vector<std::string> lost_fill_values;
};

// Returns the variables and attributes of a classic dataset whose types `target` lacks; a variable
// includes its attributes. For callers that leave these out; classic_view() keeps those whose
// values fit another type.
NMB_EXPORT std::vector<Loss> type_losses(const Metadata& metadata, Kind target);

// Shows `dataset` as a classic dataset of kind `target` (CDF-1, CDF-2 or CDF-5). In a classic
// dataset only types that `target` lacks change: integers become the narrowest of short, int and
// double that holds all values, or are left out if none does; each is a loss (docs/hdf5.md). All
// values of such variables are read for this. These are not losses: internal attributes of netCDF
// and HDF5 (NetcdfView::hides), chunks, filters, byte orders, and blocks below this one. kDamaged:
// the hdf5 section, values of attributes, or values that are read; kLimit: sizes past 2^62.
// lengths: lengths of dimensions in the file that the block came from, if other groups may use
// them; not kept after the call. first_made_up: as for netcdf_view().
NMB_EXPORT Result<ClassicView> classic_view(std::shared_ptr<const Dataset> dataset, Kind target,
                                            const DimensionLengths* lengths = nullptr,
                                            std::optional<std::int64_t> first_made_up = {});

}  // namespace nmb
