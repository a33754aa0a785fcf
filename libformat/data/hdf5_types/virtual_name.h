// Names of sources of virtual data sets, as HDF5 reads them. A name with "%b" stands for many
// sources, with a number in place of "%b"; "%%" stands for a percent sign.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nmb::hdf5 {

// Returns the position of the first "%b" in a name, or npos.
inline std::size_t find_number(std::string_view name) {
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] != '%') continue;
    if (name[i + 1] == 'b') return i;
    i += name[i + 1] == '%';
  }
  return name.npos;
}

// Returns the name of the n-th source. Sets *has_number to true if the name has a "%b".
inline std::string numbered(std::string_view name, std::uint64_t n, bool* has_number) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_pair = name[i] == '%' && i + 1 < name.size();
    if (is_pair && name[i + 1] == 'b') {
      out += std::to_string(n);
      *has_number = true;
      ++i;
    } else {
      out += name[i];
      if (is_pair && name[i + 1] == '%') ++i;
    }
  }
  return out;
}

// Returns the name of a single source, `name`: its percent signs are doubled.
inline std::string without_number(std::string_view name) {
  std::string out;
  for (const char c : name) out.append(c == '%' ? 2 : 1, c);
  return out;
}

// Returns the name of a source in the same file after objects got new paths, or nullopt if map()
// returns nullopt. map(path) returns the new path of an object as std::optional<std::string>; both
// paths begin with '/'. Only the parts before the first part with a number change.
template <class Map>
std::optional<std::string> moved_source(std::string_view name, const Map& map) {
  const bool is_absolute = name.starts_with('/');
  const std::string path = (is_absolute ? "" : "/") + std::string(name);
  const std::size_t number = find_number(path);
  const std::size_t end = number == path.npos ? path.size() : path.rfind('/', number);
  bool has_number = false;
  std::string before = numbered(path.substr(0, end), 0, &has_number);
  if (before.empty()) before = "/";
  const std::optional<std::string> after = map(before);
  if (!after) return std::nullopt;
  if (*after == before) return std::string(name);
  std::string moved = without_number(*after);
  if (end < path.size()) moved = (*after == "/" ? "" : moved) + path.substr(end);
  return is_absolute ? moved : moved.substr(1);
}

}  // namespace nmb::hdf5
