#include "prove/axis_places.h"

#include <algorithm>

#include "model/paths.h"

namespace nmb {

void AxisPlaces::add(const Key& key, std::size_t input, std::uint64_t length, std::uint64_t whole,
                     bool grows) {
  Parts& parts = dimensions_[key];
  parts.whole = whole;
  parts.grows |= grows;
  const auto [known, is_new] = parts.lengths.emplace(input, length);
  parts.is_clear &= known->second == length;
}

// Returns the parts of a dimension of the same name in the nearest group above that has one.
const AxisPlaces::Parts* AxisPlaces::above(const Key& key) const {
  for (std::string block = key.block; !block.empty();) {
    block = split_path(block).parent;
    const auto found = dimensions_.find({block, key.dimension});
    if (found != dimensions_.end()) return &found->second;
  }
  return nullptr;
}

void AxisPlaces::place(Parts* parts) const {
  parts->sum = 0;
  for (const auto& [input, length] : parts->lengths) {
    parts->begins[input] = parts->sum;
    parts->sum += length;
  }
  if (!parts->is_clear) return;
  // A dimension that no variable of an input uses may have the length 0 there.
  if (std::ranges::all_of(parts->lengths, [&](const auto& part) {
        return part.second == parts->whole || part.second == 0;
      }))
    parts->kind = Kind::kSame;
  else if (parts->sum == parts->whole)
    parts->kind = Kind::kJoined;
}

void AxisPlaces::settle(bool fills) {
  for (auto& [key, parts] : dimensions_) {
    place(&parts);
    const Parts* const higher = fills && parts.kind == Kind::kUnknown ? above(key) : nullptr;
    if (!higher) continue;
    // An input without values along the dimension may state the length 0.
    for (const auto& [input, length] : higher->lengths)
      if (const auto known = parts.lengths.emplace(input, length).first; known->second == 0)
        known->second = length;
    place(&parts);
  }
}

std::vector<AxisPlaces::Key> AxisPlaces::joined() const {
  std::vector<Key> keys;
  for (const auto& [key, parts] : dimensions_)
    if (parts.kind == Kind::kJoined) keys.push_back(key);
  return keys;
}

std::uint64_t AxisPlaces::begin(const Key& key, std::size_t input) const {
  const Parts& parts = dimensions_.at(key);
  return parts.kind == Kind::kSame ? 0 : parts.begins.at(input);
}

std::optional<std::uint64_t> AxisPlaces::joined_begin(const Key& key, std::size_t input) const {
  const auto found = dimensions_.find(key);
  if (found == dimensions_.end() || found->second.kind != Kind::kJoined) return std::nullopt;
  const auto length = found->second.lengths.find(input);
  if (length == found->second.lengths.end() || length->second == 0) return std::nullopt;
  return found->second.begins.at(input);
}

}  // namespace nmb
