// Two views of blocks that came from HDF5 or netCDF-4. netcdf_view() shows a block as netCDF-C
// shows it: with netCDF's dimension names and lengths, and without names and attributes for
// netCDF's internal use. classic_view() shows a block as a classic dataset, and lists what this
// dataset loses (docs/reference/hdf5.md, "To classic netCDF").
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

#include "model/dataset.h"
#include "model/extension.h"
#include "model/metadata.h"
#include "netcdf/attribute_form.h"
#include "sources/late_values.h"
#include "wire/block_entry.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

namespace hdf5 {
class GroupTree;
}

// A block from HDF5 as netCDF-C shows it. Data sets that are not variables are left out.
struct NetcdfView {
  struct Dimension {
    std::string name;  // name, which is unique in the block
    std::uint64_t length = 0;
    bool may_grow = false;
    std::string path{};  // path of the dimension's scale in the file, with the leading '/'; empty
                         // if there is no scale
    // Whether the name is a phony_dim_N that stands for an axis without a scale. The file does not
    // contain this name.
    bool is_made_up = false;
  };
  struct Variable {
    VarId id = 0;
    std::string name;
    // Indexes into NetcdfView::dimensions, slowest first. Along an unlimited dimension, the number
    // of stored values may be less than the length of the dimension. netCDF then shows fill values
    // after the stored values.
    std::vector<std::uint32_t> dimensions;
  };

  // Whether the block has signs of netCDF or of HDF5 dimension scales. If false, the block is shown
  // unchanged, with one exception: if a dimension has no name in HDF5, each axis of each variable
  // gets a dimension of its own (docs/reference/hdf5.md, "Dimensions without a scale"). If a
  // netCDF-4 group has no dimensions of its own and no such signs, the group cannot be
  // distinguished from a plain HDF5 group.
  bool is_netcdf = false;
  bool is_united = false;  // whether the block is a classic dataset of kind 6
  // Dimensions in netCDF's order, if the file records this order. The length of an unlimited
  // dimension is the length of its longest variable in this block. If DimensionLengths are given,
  // variables in other groups count, too.
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;  // variables in the order of the block
  std::vector<bool> is_scale;       // by VarId: whether the variable is a dimension scale of HDF5

  // Returns whether an attribute of a variable, or of the block (kGlobal), is hidden because it is
  // only for internal use. netCDF-C hides CLASS and NAME on all objects, but this view hides them
  // only on dimension scales.
  NMB_EXPORT bool hides(VarId owner, std::string_view attribute) const;
};

// Returns netCDF's view of a dataset. `dataset` may be of any kind; a classic dataset is shown in
// full. Signs of netCDF are ignored if they have a form that HDF5 and netCDF do not write.
// `lengths` are the lengths of dimensions in the whole file; nullptr means that other blocks are
// ignored. `first_made_up` is the number N in the name of the first phony_dim_N; MadeUpNumbers
// computes it. If `first_made_up` is given, the dimensions are exactly those that netCDF-C shows.
// Without `first_made_up`, N is counted within the block, and each axis with a scale keeps its
// scale, even if netCDF-C does not see the scale.
NMB_EXPORT NetcdfView netcdf_view(const Dataset& dataset, const DimensionLengths* lengths = nullptr,
                                  std::optional<std::int64_t> first_made_up = {});

// Returns the name by which netCDF shows a variable. The stored name is another one if a dimension
// has the same name as the variable, but is not the first dimension of the variable. The result
// points into the metadata.
NMB_EXPORT std::string_view netcdf_name(const Metadata& metadata, VarId variable);
// Returns the variable that netCDF shows under the name `name`.
NMB_EXPORT std::optional<VarId> find_netcdf_variable(const Metadata& metadata,
                                                     std::string_view name);
// Returns the name under which a variable may be stored that netCDF shows as `name` (see
// netcdf_name()).
NMB_EXPORT std::string stored_as_no_coordinate(std::string_view name);

// Adds the lengths of unlimited dimensions in one group of a file. The group's name must be its
// path, without the leading '/'.
NMB_EXPORT void add_dimension_lengths(const Dataset& group, DimensionLengths* lengths);

// The numbers N that netCDF-C gives to dimensions without a scale (phony_dim_N), counted over all
// groups of a file. Not thread-safe.
class NMB_EXPORT MadeUpNumbers {
 public:
  MadeUpNumbers();
  ~MadeUpNumbers();
  MadeUpNumbers(const MadeUpNumbers&) = delete;
  MadeUpNumbers& operator=(const MadeUpNumbers&) = delete;

  // Adds a group of the file. Groups may be added in any order. The group's name is its path,
  // without the leading '/'. The name of one block may precede the path, if it precedes the paths
  // of all groups. Errors: kDamaged if the hdf5 section is damaged.
  Status add(const Dataset& group);
  // For each group, the number of its first dimension without a scale. If a group has no dimension
  // without a scale, the value is the number with which the next group begins.
  using First = std::map<std::string, std::int64_t, std::less<>>;
  First first() const;

 private:
  struct Group {
    // netCDF-4's dimension numbers of the dimension scales, in the order of the group. If netCDF-C
    // uses the next free number, the element is -1.
    std::vector<std::int64_t> scales;
    std::int64_t made_up = 0;  // number of dimensions without a scale
  };
  std::unique_ptr<hdf5::GroupTree> tree_;
  std::map<std::string, Group, std::less<>> groups_;
};

// Functions to find a file's blocks. These functions work like the functions of Reader.
struct FileBlocks {
  std::function<Result<std::optional<BlockEntry>>(std::string_view name)> find;
  std::function<Status(std::string_view prefix,
                       const std::function<Result<bool>(const BlockEntry&)>& visit)>
      for_each_entry;
  std::function<Result<std::shared_ptr<const Dataset>>(const BlockEntry&)> dataset;
};

// Information from other blocks of a file that the view of one block needs.
struct FileDimensions {
  DimensionLengths lengths;
  // Number of the first phony_dim_N; nullopt if each axis of each variable has a scale.
  std::optional<std::int64_t> first_made_up{};
};

// Whether phony_dim_N must have the number that netCDF-C gives it.
enum class MadeUpNames : std::uint8_t { kWanted, kOfNoMatter };

// Finds the FileDimensions of blocks of one file. Not thread-safe.
class NMB_EXPORT FileDimensionsReader {
 public:
  explicit FileDimensionsReader(FileBlocks blocks) : blocks_(std::move(blocks)) {}

  // Reads other blocks only if `block` has unlimited dimensions with a scale, or dimensions without
  // a scale. Assumes that the topmost block above `block`, and all blocks below the topmost block,
  // came from the same file. Errors: those of the functions in FileBlocks; kDamaged.
  Result<FileDimensions> of(const Dataset& block, MadeUpNames names = MadeUpNames::kWanted);

 private:
  Result<std::string> source_of(const std::string& block) const;

  FileBlocks blocks_;
  // The numbers in each file. The key is the name of the topmost block.
  std::map<std::string, MadeUpNumbers::First> numbers_;
};

// --- as a classic dataset ---

// An object that the classic dataset does not contain, or that it contains in another form.
struct Loss {
  std::string object;  // for example: variable "v", attribute "v:units", dimension "x", link "l",
                       // group "/g"; empty for the file
  std::string text;    // what was found, what was expected, and what happens to the object
  std::string line() const { return object.empty() ? text : object + ": " + text; }
};

struct ClassicView {
  // A dataset of kind CDF-5, but with types of `target` only. The extent of this dataset reads like
  // the extent of a classic file: chunks, other byte orders and unwritten values are converted.
  // Each chunk is decoded only once if the extent is read in ascending order, and if one row of
  // chunks fits in the cache of 256 MiB. A row of chunks consists of all chunks that have the same
  // position along the slowest dimension. For record variables, a row contains these chunks of all
  // record variables.
  std::shared_ptr<const Dataset> dataset;
  // The losses of links, variables, dimensions and attributes. If the list is empty,
  // write_classic() makes a file with the same content.
  std::vector<Loss> losses;
  // A dimension that may grow in the block, but has a fixed length in the classic dataset.
  struct FixedDimension {
    DimId dimension = 0;   // in the classic dataset
    std::size_t loss = 0;  // index in `losses`
  };
  std::vector<FixedDimension> fixed_dimensions;
  // Dimensions of the classic dataset whose names the file does not contain: phony_dim_N.
  std::vector<DimId> made_up;
  // A dimension of length 0 that may grow and that no variable uses. The classic dataset lacks it.
  struct EmptyDimension {
    std::string name;
    std::size_t loss = 0;  // index in `losses`
  };
  std::vector<EmptyDimension> empty_dimensions;
  // Variables of the block that netCDF shows but the classic dataset lacks.
  std::vector<VarId> left_out;
  // Names of variables of the classic dataset that lose a fill value. The data set of such a
  // variable had a fill value that is not netCDF's default and is not in an attribute. No values
  // differ, but later writes to the classic dataset fill unwritten values with another value.
  std::vector<std::string> lost_fill_values;
  // A variable whose type a classic dataset lacks. In the classic dataset, the bytes of its values
  // are characters along one more dimension. With OwnTypes::kLost, only variables of strings of
  // fixed length are in the classic dataset; this is a loss if it is not written as a classic file.
  struct OwnValues {
    std::string variable;
    TypeTable types;              // the type of the variable is the last one
    std::vector<std::byte> fill;  // value of elements that were never written
    // The bytes to which values of variable length refer. The extent of the classic dataset has
    // them after the values of all variables.
    struct Heap {
      std::uint64_t begin = 0, length = 0;  // in the extent
      std::uint64_t offset = 0;             // in the values, offsets begin with this number
    };
    Heap heap{};

    const ExtendedType& type() const { return types.at(types.last()); }
    bool has_heap() const { return types.needs_heap(types.last()); }
    bool has_same_type(const OwnValues& other) const {
      return types.only(types.last(), TypeTable::Names::kDropped) ==
             other.types.only(other.types.last(), TypeTable::Names::kDropped);
    }
  };
  std::vector<OwnValues> own{};
  // With OwnTypes::kKept: the attributes whose type a classic dataset lacks. In the classic
  // dataset, they are the characters that encode_own() makes.
  struct OwnAttribute {
    VarId owner = kGlobal;  // in the classic dataset
    std::string name;
    bool operator==(const OwnAttribute&) const = default;
  };
  std::vector<OwnAttribute> own_attributes{};
  // With OwnTypes::kKept: how the block stores attributes that a united block would store in
  // another way (netcdf/attribute_form.h).
  std::vector<AttributeForm> attribute_forms{};
  // With OwnTypes::kKept: the named datatypes of the group.
  std::vector<TypeTable> named_types{};
};

// Returns the variables and attributes of a classic dataset whose types are not types of `target`.
// If a variable is in the list, its attributes are not listed in addition. This function is for
// callers that leave these objects out. classic_view() keeps the objects whose values fit another
// type.
NMB_EXPORT std::vector<Loss> type_losses(const Metadata& metadata, Kind target);

// Shows `dataset` as a classic dataset of kind `target` (CDF-1, CDF-2 or CDF-5). If `dataset` is a
// classic dataset, only the types that `target` does not have are changed. A variable of integers
// gets the narrowest of the types short, int and double that can hold all its values. If none of
// these types can hold all values, the variable is left out. Each change is a loss
// (docs/reference/hdf5.md). To find the new type of a variable, the function reads all values of
// the variable. These are not losses: internal attributes of netCDF and HDF5 (NetcdfView::hides),
// chunks, filters, byte orders, and blocks below this block. If other groups may use the same
// dimensions, `lengths` must give the lengths of dimensions in the whole file. `lengths` is not
// needed after the call. `first_made_up` has the same meaning as in netcdf_view(). The record
// dimension is an unlimited dimension that is the slowest one in every variable that uses it. If
// there are several, the dimension named `record` is chosen, or else the first that a variable
// uses. Errors: kDamaged if the hdf5 section, values of attributes, or values that are read are
// damaged; kLimit if sizes exceed 2^62.
NMB_EXPORT Result<ClassicView> classic_view(std::shared_ptr<const Dataset> dataset, Kind target,
                                            const DimensionLengths* lengths = nullptr,
                                            std::optional<std::int64_t> first_made_up = {},
                                            std::string_view record = {},
                                            OwnTypes own_types = OwnTypes::kLost);

}  // namespace nmb
