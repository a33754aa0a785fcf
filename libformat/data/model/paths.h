// Splits and joins paths and full names (spec/format.md, section 8.4). A full name consists of the
// names of groups and of an object with '/' between them, but not at either end.
#pragma once

#include <string>
#include <string_view>

namespace nmb {

struct SplitPath {
  std::string_view parent, name;
};

// Splits "a/b/c" into "a/b" and "c", and "c" into "" and "c".
inline SplitPath split_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// Returns the path of an object without the '/' with which it may begin.
inline std::string_view without_slash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

// Returns the name of a file without folder and ending. A dot at the beginning of the name does not
// begin an ending.
inline std::string_view stem_of(std::string_view path) {
  const std::string_view base = split_path(path).name;
  const std::size_t dot = base.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? base : base.substr(0, dot);
}

// Joins "a/b" and "c" to "a/b/c". Either argument may be empty.
inline std::string joined_path(std::string_view group, std::string_view name) {
  std::string path;
  path.reserve(group.size() + 1 + name.size());
  path.append(group);
  if (!group.empty() && !name.empty()) path += '/';
  return path.append(name);
}

}  // namespace nmb
