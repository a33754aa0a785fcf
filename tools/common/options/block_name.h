// Names of blocks and objects as users write them. "/" means the block with the empty name, and a
// leading "/" is removed.
#pragma once

#include <string>
#include <string_view>

namespace nmb::tools {

inline std::string_view name_from_user(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  return name;
}

// Returns the name as listings show it.
inline std::string_view name_for_user(std::string_view block) {
  return block.empty() ? "/" : block;
}

inline std::string full_name(std::string_view block, std::string_view variable) {
  std::string out(block);
  if (!out.empty()) out += '/';
  return out.append(variable);
}

}  // namespace nmb::tools
