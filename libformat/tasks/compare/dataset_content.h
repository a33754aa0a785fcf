// DatasetContent: the content of a block, apart from the values of its variables (spec/digest.md,
// section 2). Dimensions, types, links, attributes and variables are in the order of their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/canonical_types.h"
#include "compare/compare.h"
#include "hdf5_types/hdf5_section.h"
#include "model/dataset.h"
#include "model/path_move.h"
#include "netcdf/netcdf_view.h"
#include "wire/failure.h"

namespace nmb {

struct DimensionContent {
  std::string name;
  std::uint64_t length = 0;
  bool is_unlimited = false;
};

struct AxisContent {
  // The level of a dimension that no group above the block defines. `dimension` is then a path.
  static constexpr std::uint32_t kElsewhere = std::numeric_limits<std::uint32_t>::max();

  std::string dimension;    // name of the dimension; empty if the axis has no dimension with a name
  std::uint32_t level = 0;  // number of levels from the block up to the group of the dimension
  std::uint64_t length = 0;
  bool is_unlimited = false;
  std::uint64_t maximum = 0;  // maximum length; 0 if it is unlimited or equal to the length
  // The paths of its scales in HDF5, if these are not exactly the scale of `dimension`. netCDF may
  // give a dimension to an axis without a scale.
  std::optional<std::vector<std::string>> other_scales{};
  friend bool operator==(const AxisContent&, const AxisContent&) = default;
};

struct AttributeContent {
  std::string_view name;
  std::string type;                  // canonical
  std::vector<std::uint64_t> shape;  // empty unless there are several dimensions
  std::uint64_t count = 0;           // number of values, each of type `type`
  std::vector<std::byte> values;     // canonical
  bool is_string = false;            // text that is a string of variable length
};

struct TypeContent {
  std::string name;
  std::string type;  // canonical
  std::vector<AttributeContent> attributes;
  std::string comment;
  std::shared_ptr<const Metadata> holder;  // holds the names of the attributes
};

struct LinkContent {
  std::string name;
  std::string_view kind;
  std::uint32_t number = 0;
  std::string content;
};

// Not thread-safe, except for the functions that say so.
class DatasetContent {
 public:
  // name: the block's name in messages. lengths: lengths of dimensions in the whole file. move:
  // changes the paths of objects. planned: see ContentFile. Errors: kDamaged, kLimit.
  static Result<DatasetContent> of(std::string name, std::shared_ptr<const Dataset> dataset,
                                   const DimensionLengths& lengths, const PathMove& move,
                                   const std::optional<PlannedHdf5>& planned = {});

  const std::string& name() const { return name_; }
  const Dataset& dataset() const { return *dataset_; }
  // Returns whether the block is a classic dataset, or has signs of netCDF.
  bool is_netcdf() const;
  // Returns whether the block will be written to an HDF5 file (ContentFile::planned).
  bool is_planned() const { return planned_.has_value(); }
  // Adds the file of the block to a failure.
  Status in_file(const Status& status) const { return status.in_file(dataset_->extent->name()); }
  // Adds the file of the block and a variable to a failure.
  Status of_variable(const Status& status, std::size_t number) const;
  const CanonicalTypes& types() const { return types_; }
  const std::vector<DimensionContent>& dimensions() const { return dimensions_; }
  const std::vector<LinkContent>& links() const { return links_; }
  // Errors of the functions below: kDamaged, kLimit. The message names the object.
  Result<std::vector<TypeContent>> named_types();
  Result<std::vector<AttributeContent>> attributes() { return attributes_of(kGlobal); }
  std::string comment() const { return comment_of(kGlobal); }
  bool is_empty() const;

  // Variables are numbered from 0 in the order of their names.
  std::size_t variable_count() const { return variables_.size(); }
  const std::string& variable_name(std::size_t number) const {
    return view_.variables[variables_[number]].name;
  }
  VarId id(std::size_t number) const { return view_.variables[variables_[number]].id; }
  // The type in the block's own type table. Thread-safe.
  Type type(std::size_t number) const { return dataset_->metadata.variable(id(number)).type; }
  Result<std::string> type_text(std::size_t number) { return texts_.of(type(number)); }
  // Returns whether the variable has no values and no shape (a null dataspace of HDF5).
  // Thread-safe.
  bool is_null(std::size_t number) const;
  // Thread-safe.
  Result<std::vector<AxisContent>> axes(std::size_t number) const;
  Result<std::vector<AttributeContent>> variable_attributes(std::size_t number) {
    return attributes_of(id(number));
  }
  // Returns the canonical fill value of a variable of a netCDF type: _FillValue, or netCDF's
  // default. Returns no bytes for characters, for one-byte types without _FillValue (netCDF has no
  // default for them), and for types that netCDF does not have.
  Result<std::vector<std::byte>> fill_value(std::size_t number);
  std::string variable_comment(std::size_t number) const { return comment_of(id(number)); }
  // Returns the HDF5 properties of a variable. Thread-safe.
  std::span<const hdf5::Property> properties(std::size_t number) const {
    return properties_of(id(number));
  }

 private:
  DatasetContent(std::string name, std::shared_ptr<const Dataset> dataset, NetcdfView view,
                 PathMove move);
  void add_dimensions();
  // Adds the named types to which a planned HDF5 file will have links.
  Status add_planned_types(std::vector<TypeContent>* named);
  void add_other_scales(VarId variable, std::span<const std::uint32_t> dimensions,
                        std::vector<AxisContent>* axes) const;
  void add_links();
  std::span<const hdf5::Property> properties_of(VarId owner) const;
  const hdf5::Property* property(VarId owner, hdf5::Property::Number number,
                                 std::uint32_t attribute = hdf5::kNoAttribute) const;
  std::string comment_of(VarId owner) const;
  Result<std::vector<AttributeContent>> attributes_of(VarId owner);
  Result<AttributeContent> attribute_content(const Attribute& attribute,
                                             const hdf5::Property* space);

  std::string name_;
  std::shared_ptr<const Dataset> dataset_;
  PathMove move_;
  std::optional<PlannedHdf5> planned_;  // only for a classic dataset
  NetcdfView view_;
  CanonicalTypes types_;
  TypeTexts texts_;
  std::vector<hdf5::Property> properties_;
  std::vector<DimensionContent> dimensions_;
  std::vector<AxisContent> named_axes_;  // for each dimension of the view
  std::vector<LinkContent> links_;
  std::vector<std::size_t> variables_;  // indexes into the variables of the view
};

}  // namespace nmb
