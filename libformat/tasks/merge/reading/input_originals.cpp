#include "merge/reading/input_originals.h"

#include <utility>

#include "model/find_above.h"
#include "model/paths.h"

namespace nmb {

Result<InputOriginals> InputOriginals::find(const FileReader& reader,
                                            const std::vector<bool>& chosen, bool opens,
                                            const std::set<std::string>& lost) {
  InputOriginals out;
  NMB_ASSIGN(const std::vector<ExternalFile> files, reader.external_files());
  std::multimap<std::uint64_t, std::uint32_t> numbers;  // by order
  for (std::uint32_t i = 0; i < files.size(); ++i)
    if (files[i].is_original) numbers.emplace(files[i].order, i + 1);
  for (const std::string& name : lost) out.kept_by_block_.emplace(name, OriginalUse());
  if (numbers.empty()) return out;
  std::map<std::string, std::uint64_t, std::less<>> owners;  // orders of blocks with originals
  std::set<std::uint64_t> parted, used;                      // orders of owners
  auto wanted = chosen.begin();
  // A block comes before the blocks below it.
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    const bool is_chosen = chosen.empty() || *wanted++;
    const auto [begin, end] = numbers.equal_range(entry.order);
    if (begin != end) owners.emplace(entry.name, entry.order);
    for (auto at = begin; at != end; ++at) {
      const ExternalFile& file = files[at->second - 1];
      out.with_block_.insert(at->second);
      out.chosen_ += is_chosen;
      if (!opens) continue;
      NMB_ASSIGN(Source bytes, reader.open_external(at->second));
      out.originals_.emplace(entry.order, InputOriginal{at->second, file.path, std::move(bytes),
                                                        file.digest, file.sha256});
    }
    for (std::string_view at = entry.name;; at = split_path(at).parent) {
      if (const auto owner = owners.find(at); owner != owners.end())
        (is_chosen ? used : parted).insert(owner->second);
      if (at.empty()) return true;
    }
  }));
  out.kept_ = out.with_block_;
  for (const std::uint64_t order : parted)
    for (const InputOriginal& dropped : out.take(order)) {
      out.kept_.erase(dropped.number);
      out.parted_ += used.contains(order);
    }
  for (const auto& [name, order] : owners)
    out.kept_by_block_.insert_or_assign(name, OriginalUse{order, opens && !parted.contains(order)});
  return out;
}

// Takes the nearest original at or above the block that is not newer than the block: a file may
// have been added later below another one, and an original may have replaced the file from which
// older blocks came.
std::optional<bool> InputOriginals::keeps_file_of(const BlockEntry& block) const {
  const auto found = find_at_or_above(kept_by_block_, block.name, [&](const auto& original) {
    return original.second.order <= block.order;
  });
  return found == kept_by_block_.end() ? std::nullopt : std::optional(found->second.is_kept);
}

std::vector<InputOriginal> InputOriginals::take(std::uint64_t order) {
  std::vector<InputOriginal> out;
  const auto [begin, end] = originals_.equal_range(order);
  for (auto at = begin; at != end; ++at) out.push_back(std::move(at->second));
  originals_.erase(begin, end);
  return out;
}

}  // namespace nmb
