// Finds records that netCDF does not see in HDF5 files and views (see reader/file_reader.h).
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "model/name_rules.h"
#include "netcdf/shared_dimensions.h"
#include "reader/file_reader.h"
#include "wire/joined_text.h"

namespace nmb {

std::string LostRecords::text() const {
  if (blocks == 0) return {};
  std::string out = joined_text(records, records == 1 ? " record" : " records", " of dimension ",
                                in_quotes((block.empty() ? "" : block + "/") + dimension),
                                ", which no variable uses");
  if (blocks > 1)
    out += joined_text(", and the records of ", blocks - 1, " more such ",
                       blocks == 2 ? "dimension" : "dimensions");
  return out + "; netCDF programs see 0 records";
}

Result<LostRecords> lost_records(const FileReader& reader) {
  struct Records {
    std::string block, dimension;
    std::uint64_t count = 0;
  };
  std::map<std::string, Records> lost;  // records that netCDF does not see, by the dimension's path
  // Each group is visited after the groups above it.
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.records == 0) return true;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader.block(entry));
    const Metadata& metadata = block->metadata;
    const std::optional<DimId> dimension = first_growing(metadata);
    if (!dimension || !is_classic_dataset(metadata)) return true;
    bool is_used = false;
    for (VarId v = 0; v < metadata.variable_count() && !is_used; ++v)
      is_used = std::ranges::find(metadata.variable(v).dimensions, *dimension) !=
                metadata.variable(v).dimensions.end();
    const std::string name(metadata.dimension(*dimension).name);
    const std::vector<std::uint32_t> levels = levels_above(metadata);
    const std::uint32_t above = levels.empty() ? 0 : levels[*dimension];
    std::optional<std::string> path = path_above(entry.name, above, name);
    if (!path) path = path_above(entry.name, 0, name);
    if (!is_used && above == 0)
      lost.emplace(std::move(*path), Records{entry.name, name, entry.records});
    else if (const auto found = lost.find(*path);
             is_used && above > 0 && found != lost.end() && found->second.count == entry.records)
      lost.erase(found);
    return true;
  }));
  LostRecords out;
  out.blocks = lost.size();
  if (lost.empty()) return out;
  const Records& first = lost.begin()->second;
  out.block = first.block;
  out.dimension = first.dimension;
  out.records = first.count;
  return out;
}

}  // namespace nmb
