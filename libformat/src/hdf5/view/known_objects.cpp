// Collects facts about the objects of a view (see known_objects.h).
#include "hdf5/view/known_objects.h"

#include <algorithm>
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

void KnownObjects::add_block(const std::string& name, std::size_t source,
                             std::vector<std::optional<std::int64_t>> scales, bool tracks_links,
                             std::vector<std::string> groups) {
  for (const std::optional<std::int64_t>& number : scales)
    if (number) sources_[source].numbers.insert(*number);
  if (!scales.empty()) blocks_[name] = {source, std::move(scales), {}};
  groups_.add(name, tracks_links, std::move(groups));
}

// Numbers the scales as netCDF-C does when it reads the source. If a scale has no number, netCDF-C
// takes the largest number that it has read so far, plus 1. Visits the groups in the order in which
// netCDF-C reads them.
void KnownObjects::number_scales() {
  for (const std::string& name : groups_.in_order()) {
    const auto found = blocks_.find(name);
    if (found == blocks_.end()) continue;
    BlockScales& block = found->second;
    std::uint64_t& next = sources_[block.source].next;
    block.numbers.clear();
    for (const std::optional<std::int64_t>& own : block.own) {
      block.numbers.push_back(own.value_or(static_cast<std::int64_t>(next)));
      next = std::max(next, static_cast<std::uint64_t>(block.numbers.back()) + 1);
    }
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
  number_scales();
  std::vector<Source*> sources;
  for (Source& source : sources_) sources.push_back(&source);
  std::ranges::stable_sort(sources, {}, &Source::order);
  std::uint64_t next = 0;
  for (Source* const source : sources) {
    source->first = next;
    next += source->next;
    if (next > kMostDimensions) return false;
  }
  return true;
}

}  // namespace nmb
