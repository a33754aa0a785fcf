// NeededInGroups: finds the variables in all groups of a file that selected variables need (CF
// conventions, section 2.7).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"
#include "netcdf/subset.h"
#include "wire/failure.h"

namespace nmb {

class NeededInGroups {
 public:
  // Adds a group. group: the path of the group in the file, without the first '/'. The name of the
  // dataset may have other groups before this path.
  void add(const std::string& group, const Dataset& dataset);

  // Returns the paths of the wanted variables, and of the variables that they need: the coordinates
  // of their dimensions, and all variables that attributes name (CF and UGRID conventions). A name
  // is searched in the group of the variable, then in the groups above it; a name with '/' is a
  // path. Errors: those of SubsetRules::Variables::matches().
  Result<NeededPaths> needed_by(const std::vector<SubsetRules::Variables>& wanted) const;

 private:
  struct Needs {
    std::vector<std::string> names;        // as attributes name them
    std::vector<std::string> coordinates;  // paths of the dimensions in other groups
  };
  using Group = std::map<std::string, Needs, std::less<>>;  // by variable

  const Needs* find(std::string_view path) const;
  std::string resolve(std::string_view group, std::string_view name) const;

  std::map<std::string, Group, std::less<>> groups_;
};

}  // namespace nmb
