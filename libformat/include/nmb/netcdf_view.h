// Blocks that came from HDF5 or netCDF-4 as others see them: netcdf_view() as netCDF-C shows them,
// with the dimensions' names and lengths that netCDF gives them and without the names and
// attributes by which netCDF keeps its books; classic_view() as a classic dataset, and what that
// loses (docs/hdf5.md, "To classic netCDF").
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

// A block that came from HDF5 as netCDF-C shows it. Data sets that are no variables are left out.
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
// them say nothing. lengths: of the file; nullptr: the block is shown by itself. first_made_up: the
// number N of the first phony_dim_N, by MadeUpNumbers; all dimensions are then those that netCDF-C
// shows of the file. Without it they are counted in the block alone, and a place with a scale keeps
// its scale also where netCDF-C does not see that.
NMB_EXPORT NetcdfView netcdf_view(const Dataset& dataset, const DimensionLengths* lengths = nullptr,
                                  std::optional<std::int64_t> first_made_up = {});

// Whether a data set of HDF5 is for netCDF a dimension without a variable. false: of metadata
// without an extension.
NMB_EXPORT bool is_dimension_only(const Metadata& metadata, VarId variable);
// The name by which netCDF shows a variable; it is stored as another one where it is that of a
// dimension which is not the variable's first. Refers to the metadata.
NMB_EXPORT std::string_view netcdf_name(const Metadata& metadata, VarId variable);
// The variable that netCDF shows by this name.
NMB_EXPORT std::optional<VarId> find_netcdf_variable(const Metadata& metadata,
                                                     std::string_view name);
// The other name by which a variable of this name may be stored.
NMB_EXPORT std::string stored_as_no_coordinate(std::string_view name);

// Adds the lengths that a group of a file has. Its name is its path, without the first '/'.
NMB_EXPORT void add_dimension_lengths(const Dataset& group, DimensionLengths* lengths);

// The numbers N that netCDF-C gives dimensions without a scale (phony_dim_N): it counts those of
// all groups of a file. Not thread-safe.
class NMB_EXPORT MadeUpNumbers {
 public:
  MadeUpNumbers();
  ~MadeUpNumbers();
  MadeUpNumbers(const MadeUpNumbers&) = delete;
  MadeUpNumbers& operator=(const MadeUpNumbers&) = delete;

  // Adds a group of the file, in any order. Its name is its path, without the first '/'; or below
  // the name of a block, if that of each group is. kDamaged: the hdf5 section.
  Status add(const Dataset& group);
  // By group, the number of its first such dimension, or of the next group's where it has none.
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

// How a file's blocks are found; as the functions of Reader.
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
  std::optional<std::int64_t> first_made_up{};  // nothing: each place has a scale
};

// Whether phony_dim_N shall have netCDF-C's number.
enum class MadeUpNames : std::uint8_t { kWanted, kOfNoMatter };

// The same for blocks of one file. Not thread-safe.
class NMB_EXPORT FileDimensionsReader {
 public:
  explicit FileDimensionsReader(FileBlocks blocks) : blocks_(std::move(blocks)) {}

  // Reads other blocks only if the block has dimensions that may grow and have a scale, or
  // dimensions without a scale. The file that a block came from is taken to be the uppermost block
  // above it, with all below that. Errors of `blocks`; kDamaged.
  Result<FileDimensions> of(const Dataset& block, MadeUpNames names = MadeUpNames::kWanted);

 private:
  Result<std::string> source_of(const std::string& block) const;

  FileBlocks blocks_;
  std::map<std::string, MadeUpNumbers::First> numbers_;  // by the uppermost block
};

// --- as a classic dataset ---

// Something that the classic dataset does not have, or has otherwise.
struct Loss {
  std::string object;  // variable "v", attribute "v:units", dimension "x", link "l", group "/g"
  std::string text;    // what was found, what is expected, and what becomes of it
  std::string line() const { return object + ": " + text; }
};

struct ClassicView {
  // Of kind CDF-5, with types of `target` alone. Its extent reads chunks, other orders of bytes and
  // values never written as a classic file has them. Read in ascending order it decodes each chunk
  // once, if the chunks of a row of chunks (those that follow the first one's beginning along all
  // dimensions but the slowest; of all record variables together) take at most 256 MiB, which is
  // what it keeps.
  std::shared_ptr<const Dataset> dataset;
  // Links, variables, dimensions, attributes. Empty: write_classic() makes a file of the same
  // content.
  std::vector<Loss> losses;
  // Variables of the block that netCDF shows and the classic dataset does not have.
  std::vector<VarId> left_out;
  // Names of variables of the classic dataset whose data sets were made with a fill value that
  // is neither in an attribute nor netCDF's default. Later writes to the classic dataset leave
  // another fill value around them. No values differ.
  std::vector<std::string> lost_fill_values;
};

// Variables and attributes of a classic dataset whose types `target` does not have; attributes of
// such a variable go with it. For callers that leave them out: classic_view() keeps those of them
// whose values another type holds.
NMB_EXPORT std::vector<Loss> type_losses(const Metadata& metadata, Kind target);

// Shows `dataset` as a classic dataset of kind `target` (CDF-1, CDF-2 or CDF-5). A classic dataset
// stays the same but for types that `target` does not have: integers become short, int or double,
// whichever is the narrowest that holds all values, each is a loss, and what none holds is left out
// (docs/hdf5.md). For that all values of such variables are read. No losses are: attributes that
// netCDF and HDF5 keep for themselves (NetcdfView::hides), chunks, filters, byte orders, and blocks
// below it. kDamaged: the hdf5 section, values of attributes, or values that are read; kLimit:
// sizes past 2^62.
// lengths: of dimensions of the file that the block came from, where other groups may use them;
// read during the call. first_made_up: as for netcdf_view().
NMB_EXPORT Result<ClassicView> classic_view(std::shared_ptr<const Dataset> dataset, Kind target,
                                            const DimensionLengths* lengths = nullptr,
                                            std::optional<std::int64_t> first_made_up = {});

}  // namespace nmb
