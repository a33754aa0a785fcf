// Collects facts about the objects of a view (see known_objects.h).
#include "hdf5/view/known_objects.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "hdf5/bytes/chunk_tree.h"
#include "wire/hash.h"

namespace nmb {

namespace {

Digest key_of(std::string_view kind, std::string_view path, std::span<const std::byte> rest) {
  std::string text(kind);
  text += path;
  text += '\0';
  text.append(reinterpret_cast<const char*>(rest.data()), rest.size());
  return digest_of(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

Digest KnownObjects::key_of_path(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  return key_of("/", path, {});
}

Digest KnownObjects::key_of_type(std::string_view path, std::span<const std::byte> message) {
  return key_of("type ", path, message);
}

void KnownObjects::count_tree(std::uint64_t chunks, std::size_t rank) {
  for (std::size_t i = 0; i < kNodeRanks.size(); ++i)
    tree_bytes_[i] += chunk_tree_bytes(chunks, rank, kNodeRanks[i]);
}

void KnownObjects::count_dimension(std::size_t source, std::optional<std::int64_t> number) {
  Dimensions& dimensions = dimensions_[source];
  if (number && *number >= 0) {
    dimensions.numbered = std::max(dimensions.numbered, static_cast<std::uint64_t>(*number) + 1);
    dimensions.numbers.insert(*number);
  } else {
    ++dimensions.unnumbered;
  }
}

bool KnownObjects::settle(std::uint64_t heap_position) {
  constexpr std::uint64_t kMostDimensions = 0x7FFFFFFF;
  heap_position_ = heap_position;
  for (const auto& [target, count] : hard_links_) {
    if (is_placed(target))
      references_[target] = count + 1;
    else
      absent_.insert(target);
  }
  for (const auto& [type, uses] : type_uses_) {
    references_[type] = uses;
    if (!type_links_.contains(type)) unlinked_types_.insert(type);
  }
  for (const auto& [type, paths] : type_links_)
    for (const Digest& path : paths) {
      const auto more = hard_links_.find(path);
      references_[type] += 1 + (more == hard_links_.end() ? 0 : more->second);
    }
  const auto least = std::ranges::min_element(tree_bytes_);
  node_rank_ = kNodeRanks[static_cast<std::size_t>(least - tree_bytes_.begin())];
  // Numbers the sources in the order of their creation. So the numbers stay the same when blocks
  // are added.
  std::vector<std::size_t> sources(dimensions_.size());
  std::iota(sources.begin(), sources.end(), std::size_t{0});
  std::ranges::stable_sort(sources, {}, [&](std::size_t i) { return dimensions_[i].order; });
  first_dimensions_.resize(dimensions_.size());
  std::uint64_t next = 0;
  for (const std::size_t source : sources) {
    first_dimensions_[source] = next;
    next += dimensions_[source].numbered + dimensions_[source].unnumbered;
    if (next > kMostDimensions) return false;
  }
  return true;
}

}  // namespace nmb
