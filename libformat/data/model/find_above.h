// Finds the entry of a path, or of a path above it, in a map of groups.
#pragma once

#include <string_view>

#include "model/paths.h"

namespace nmb {

// Returns the entry of `path`, or of the nearest path above it (up to ""), for which
// is_wanted(entry) is true, or map.end() if there is none. `map` must find a std::string_view.
template <class Map, class IsWanted>
auto find_at_or_above(const Map& map, std::string_view path, const IsWanted& is_wanted) {
  for (;; path = split_path(path).parent) {
    const auto found = map.find(path);
    if (found != map.end() && is_wanted(*found)) return found;
    if (path.empty()) return map.end();
  }
}
// Returns whether the map has `path` or a path above it.
template <class Map>
bool has_at_or_above(const Map& map, std::string_view path) {
  return find_at_or_above(map, path, [](const auto&) { return true; }) != map.end();
}

}  // namespace nmb
