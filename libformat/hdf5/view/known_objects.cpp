#include "view/known_objects.h"

#include <algorithm>
#include <span>
#include <string>

#include "encoding/chunk_tree.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

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
  for (const std::optional<std::int64_t>& number : scales) {
    if (!number) continue;
    auto& numbers = sources_[source].numbers;
    if (!numbers) numbers = std::make_unique<std::unordered_set<std::int64_t>>();
    numbers->insert(*number);
  }
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
    OwnScales& block = found->second;
    std::uint64_t& next = sources_[block.source].next;
    block.numbers.clear();
    for (const std::optional<std::int64_t>& own : block.own) {
      block.numbers.push_back(own.value_or(static_cast<std::int64_t>(next)));
      next = std::max(next, static_cast<std::uint64_t>(block.numbers.back()) + 1);
    }
  }
}

Status KnownObjects::settle(std::uint64_t heap_position) {
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
  number_scales();
  return number_sources();
}

// Gives each source its range of dimension numbers. A source keeps its range of the earlier view if
// its dimensions still fit in it. The ranges of all other sources follow the earlier ones, in the
// order of the sources' creation. So numbers stay the same when blocks are added, replaced or
// removed.
Status KnownObjects::number_sources() {
  constexpr std::uint64_t kMostDimensions = 0x7FFFFFFF, kMostOrder = 0xFFFFFFFF;
  const ViewNumbers none;
  const ViewNumbers& earlier = earlier_ ? *earlier_ : none;
  std::vector<std::uint32_t> begins{earlier.next};
  for (const ViewNumbers::Row& row : earlier.rows) begins.push_back(row.first);
  std::ranges::sort(begins);
  std::vector<Source*> sources;
  for (Source& source : sources_)
    if (source.next > 0) sources.push_back(&source);
  std::ranges::stable_sort(sources, {}, &Source::order);
  std::uint64_t next = earlier.next;
  numbers_.rows.clear();
  has_other_first_ = false;
  for (Source* const source : sources) {
    const auto row =
        std::ranges::lower_bound(earlier.rows, source->order, {}, &ViewNumbers::Row::order);
    bool stays = row != earlier.rows.end() && row->order == source->order;
    if (stays) {
      const auto end = std::ranges::upper_bound(begins, row->first);
      stays = end != begins.end() && source->next <= *end - row->first;
    }
    source->first = stays ? row->first : next;
    if (!stays) next += source->next;
    if (next > kMostDimensions || source->order > kMostOrder)
      return failure(Code::kUnsupported,
                     "HDF5 view: the file has or had 2^31 dimensions or 2^32 blocks, or more");
    has_other_first_ = has_other_first_ || source->first > 0;
    numbers_.rows.push_back(
        {static_cast<std::uint32_t>(source->order), static_cast<std::uint32_t>(source->first)});
  }
  numbers_.next = static_cast<std::uint32_t>(next);
  return {};
}

}  // namespace nmb
