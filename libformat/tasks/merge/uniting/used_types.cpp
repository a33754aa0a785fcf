#include "merge/uniting/used_types.h"

#include <cstring>

#include "model/extension_codec.h"
#include "model/paths.h"

namespace nmb {

namespace {

std::string definition_of(const TypeTable& types, Type type) {
  std::vector<std::byte> bytes;
  append_types(types.only(type, TypeTable::Names::kDropped), &bytes);
  std::string out(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// Returns whether netCDF needs a named datatype for values of this type.
bool needs_name(const ExtendedType& type) {
  return type.type_class == TypeClass::kCompound || type.type_class == TypeClass::kEnum ||
         type.type_class == TypeClass::kOpaque || type.type_class == TypeClass::kVlen;
}

}  // namespace

void UsedTypes::add_group(const std::string& group, std::size_t file,
                          const std::vector<TypeTable>& named) {
  for (std::size_t i = 0; i < named.size(); ++i) {
    const Type type = named[i].last();
    Key key{definition_of(named[i], type), named[i].at(type).name};
    for (int round = 0; round < 2; ++round) {
      groups_[group].numbers.emplace(key, i);
      first_.emplace(std::pair(file, key), group);
      key.second.clear();
    }
  }
}

bool UsedTypes::find_upwards(std::string_view group, const Key& key) {
  for (std::string above(group);; above = split_path(above).parent) {
    if (const auto known = groups_.find(above); known != groups_.end())
      if (const auto found = known->second.numbers.find(key);
          found != known->second.numbers.end()) {
        known->second.used.insert(found->second);
        return true;
      }
    if (above.empty()) return false;
  }
}

void UsedTypes::use(std::string_view group, std::size_t file, const TypeTable& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].name.empty() && !needs_name(types[i])) continue;
    const auto type = static_cast<Type>(TypeTable::kFirst + i);
    Key key{definition_of(types, type), types[i].name};
    for (int round = 0; round < (types[i].name.empty() ? 1 : 2); ++round) {
      if (find_upwards(group, key)) break;
      const auto first = first_.find(std::pair(file, key));
      if (first != first_.end() && find_upwards(first->second, key)) break;
      key.second.clear();
    }
  }
}

std::set<std::size_t> UsedTypes::used_in(std::string_view group) const {
  const auto known = groups_.find(group);
  return known == groups_.end() ? std::set<std::size_t>() : known->second.used;
}

}  // namespace nmb
