#include "model/path_move.h"

#include "model/paths.h"

namespace nmb {

std::string PathMove::moved(std::string_view path) const {
  // The path of a named datatype to which no link leads begins with two slashes.
  const std::size_t lead = path.starts_with("//") ? 2 : 1;
  if (!path.starts_with('/')) return std::string(path);
  std::string_view rest = path.substr(lead);
  if (!from.empty()) {
    if (!rest.starts_with(from)) return std::string(path);
    rest.remove_prefix(from.size());
    if (!rest.empty() && rest.front() != '/') return std::string(path);
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return std::string(lead, '/') + joined_path(to, rest);
}

}  // namespace nmb
