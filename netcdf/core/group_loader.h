// GroupLoader: gives the objects of a block netCDF's numbers and types.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "netcdf/netcdf_view.h"
#include "open_file.h"

namespace nmb::udf {

class GroupLoader {
 public:
  GroupLoader(OpenFile& file, Group& group) : file_(file), group_(group) {}
  int load();

 private:
  // The types of a dataset.
  struct Types {
    const TypeTable* table = nullptr;
    std::vector<Digest> digests;
  };
  static Types types_of(const Dataset& dataset);

  int add_types(const Dataset& dataset);
  int define_type(const Types& types, Type code, std::string_view name);
  int define_fields(const Types& types, const ExtendedType& type, const DataType& data,
                    const MemoryForm& form, UserType* out, bool* is_known);
  // Sets NC_NAT if netCDF has no such type, or no name for it.
  int find_type(const Types& types, Type code, nc_type* out);
  int find_user_type(const Digest& digest, nc_type* out);
  int add_dimensions(const Dataset& dataset, const ShownBlock& shown,
                     const std::vector<bool>& is_used);
  int outer_dimension(std::string_view owner, std::string_view name, std::optional<int>* out);
  int add_attributes(const Types& types, const Dataset& dataset, VarId owner,
                     const std::vector<AttView>& shown, std::vector<GroupAttribute>* out);
  int add_variables(const ShownBlock& shown);
  int order_variables(const Dataset& dataset);
  std::size_t source_of(const std::shared_ptr<const Dataset>& dataset);

  OpenFile& file_;
  Group& group_;
  Group made_;
  std::vector<Types> source_types_;      // of made_.sources
  std::vector<nc_type> variable_types_;  // of the shown variables
  std::vector<int> dimension_ids_;       // of the shown dimensions
};

}  // namespace nmb::udf
