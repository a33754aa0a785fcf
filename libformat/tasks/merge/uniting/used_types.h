// UsedTypes: finds the named datatypes that the variables and attributes of a subset use.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/extension.h"

namespace nmb {

// netCDF-C stores copies of named datatypes in data sets, without names, and finds the name by
// comparison. Such a copy uses the datatype of the nearest group, upwards from its own group, or
// else the first one of the file that is equal.
class UsedTypes {
 public:
  // Adds the named datatypes of a group. file: the same number for all groups of one file.
  void add_group(const std::string& group, std::size_t file, const std::vector<TypeTable>& named);
  bool has_any() const { return !groups_.empty(); }
  // Records that the group uses a type, and the types that it contains. Call this after all groups
  // were added.
  void use(std::string_view group, std::size_t file, const TypeTable& types);
  // Returns which of the named datatypes of a group are used.
  std::set<std::size_t> used_in(std::string_view group) const;

 private:
  // A definition without names, and the name of the type.
  using Key = std::pair<std::string, std::string>;
  struct Group {
    std::map<Key, std::size_t> numbers;  // each type has a second entry, with an empty name
    std::set<std::size_t> used;
  };
  bool find_upwards(std::string_view group, const Key& key);

  std::map<std::string, Group, std::less<>> groups_;
  // By file: the group of the first type with this definition.
  std::map<std::pair<std::size_t, Key>, std::string> first_;
};

}  // namespace nmb
