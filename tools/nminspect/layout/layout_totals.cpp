#include "nminspect/layout/layout_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "common/options/block_name.h"

namespace nmb::tools {

namespace {

constexpr std::size_t kMostNameBytes = std::size_t{256} << 20;

std::uint64_t key_of(RegionOwner owner) {
  return static_cast<std::uint64_t>(owner.of) << 32 | owner.number;
}

// Returns the first byte of part `part` of `count` parts of `size` bytes.
std::uint64_t part_begin(std::uint64_t size, std::size_t part, std::size_t count) {
  return size / count * part + size % count * part / count;
}

}  // namespace

LayoutTotals totals_of(const Layout& layout, std::uint64_t limit) {
  LayoutTotals totals;
  std::unordered_map<std::uint64_t, OwnerTotal> owners;
  for (const Region& region : layout.regions) {
    const auto kind = static_cast<std::size_t>(region.kind);
    totals.bytes[kind] += region.length;
    ++totals.regions[kind];
    if (region.kind == RegionKind::kDead) totals.dead.push_back(region);
    if (region.owner.of == RegionOwner::Of::kFile) continue;
    OwnerTotal& owner =
        owners.try_emplace(key_of(region.owner), OwnerTotal{region.owner, 0, region.position})
            .first->second;
    owner.bytes += region.length;
  }
  totals.largest.reserve(owners.size());
  for (const auto& [key, owner] : owners) totals.largest.push_back(owner);
  const auto is_larger = [](const OwnerTotal& a, const OwnerTotal& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.position < b.position;
  };
  const auto count =
      static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(limit, totals.largest.size()));
  std::partial_sort(totals.largest.begin(), totals.largest.begin() + count, totals.largest.end(),
                    is_larger);
  totals.largest.resize(static_cast<std::size_t>(count));
  return totals;
}

std::vector<BytesOfKinds> parts_of(const Layout& layout, std::size_t count) {
  const std::uint64_t size = layout.regions.empty() ? 0 : layout.regions.back().end();
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, size));
  std::vector<BytesOfKinds> parts(count);
  auto region = layout.regions.begin();
  for (std::size_t part = 0; part < count; ++part) {
    std::uint64_t at = part_begin(size, part, count);
    const std::uint64_t end = part_begin(size, part + 1, count);
    while (at < end) {
      if (region->end() <= at) {
        ++region;
        continue;
      }
      const std::uint64_t until = std::min(end, region->end());
      parts[part][static_cast<std::size_t>(region->kind)] += until - at;
      at = until;
    }
  }
  return parts;
}

std::vector<Region> largest_first(std::vector<Region> ranges) {
  std::ranges::stable_sort(ranges, std::ranges::greater(), &Region::length);
  return ranges;
}

RegionKind main_kind(const BytesOfKinds& part) {
  return static_cast<RegionKind>(std::ranges::max_element(part) - part.begin());
}

std::string share_text(std::uint64_t part, std::uint64_t all) {
  const double percent = all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
  return part > 0 && percent < 0.1 ? "< 0.1 %" : fmt::format("{:.1f} %", percent);
}

std::string_view owner_word(RegionOwner::Of of) {
  constexpr std::string_view kWords[] = {"file", "block", "original", "variable", "records"};
  return kWords[static_cast<std::size_t>(of)];
}

Status OwnerNames::add(RegionOwner owner, std::string_view name) {
  bytes_ += name.size();
  if (bytes_ > kMostNameBytes)
    return Status(Code::kLimit, "the names have more than 256 MiB, which is the limit");
  names_.emplace(Key{owner.of, owner.number}, name);
  return {};
}

Result<OwnerNames> OwnerNames::read(const InspectedFile& file, const Layout& layout,
                                    const std::vector<OwnerTotal>* wanted) {
  OwnerNames out;
  std::vector<bool> blocks;  // the wanted blocks
  std::vector<RegionOwner> others;
  const auto want = [&](RegionOwner owner) {
    if (owner.of == RegionOwner::Of::kFile) return;
    if (owner.of != RegionOwner::Of::kBlock) return others.push_back(owner);
    if (owner.number >= blocks.size()) blocks.resize(owner.number + std::size_t{1});
    blocks[owner.number] = true;
  };
  if (wanted)
    for (const OwnerTotal& total : *wanted) want(total.owner);
  else
    for (const Region& region : layout.regions) want(region.owner);
  if (const FileReader* const reader = file.reader()) {
    if (reader->generation() != layout.generation)
      return Status(Code::kBusy, "the file was changed while it was read; try again");
    std::uint32_t number = 0;
    if (!blocks.empty())
      NMB_TRY(reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
        if (blocks[number])
          NMB_TRY(out.add({RegionOwner::Of::kBlock, number}, name_for_user(entry.name)));
        return ++number < blocks.size();
      }));
    if (others.empty()) return out;
    NMB_ASSIGN(const std::vector<ExternalFile> files, reader->external_files());
    for (const RegionOwner owner : others) NMB_TRY(out.add(owner, files.at(owner.number).path));
    return out;
  }
  if (others.empty()) return out;
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file.dataset(""));
  for (const RegionOwner owner : others)
    NMB_TRY(out.add(owner, owner.of == RegionOwner::Of::kRecords
                               ? "all records"
                               : dataset->metadata.variable(owner.number).name));
  return out;
}

const std::string& OwnerNames::of(RegionOwner owner) const {
  return names_.at(Key{owner.of, owner.number});
}

}  // namespace nmb::tools
