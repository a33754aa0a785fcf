// For NMB files, NmbVerifier finds the structures.
#include "verify/layout.h"

#include <algorithm>
#include <array>

#include "model/classic.h"
#include "verify/nmb_verifier.h"
#include "verify/region_list.h"
#include "verify/verify.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

Status too_many(const ByteSource& file) {
  return Status(
      Code::kLimit, file.name(), kNoOffset, "",
      joined_text("more than ", kMostRegions, " regions, which is the limit for a map of a file"));
}

Result<Layout> layout_of_nmb(const ByteSource& file) {
  VerifierOptions options;
  options.level = VerifyLevel::kIndex;
  FirstFinding first;
  RegionList regions;
  NmbVerifier verifier(file, options, first, &regions);
  NMB_ASSIGN(const VerifySummary summary, verifier.run());
  NMB_TRY(summary.incomplete);
  if (!verifier.found_all()) {
    NMB_TRY(first.status(file.name()));
    return Status(Code::kDamaged, file.name(), kNoOffset, "",
                  "a structure could not be found; nmverify says more");
  }
  if (!regions.is_complete()) return too_many(file);
  Layout layout{FileKind::kNmb, verifier.generation(), regions.take(file.size())};
  for (Region& region : layout.regions)
    if (region.owner.of == RegionOwner::Of::kOriginal &&
        verifier.is_dead_space(region.owner.number)) {
      region.kind = RegionKind::kDead;
      region.owner = {};
    }
  return layout;
}

// Returns the regions of the values of a classic file, without padding.
Result<std::vector<Region>> values_of(const ClassicHeader& header) {
  const ClassicLayout& layout = header.layout;
  const Metadata& metadata = header.metadata;
  std::vector<Region> values, record;  // `record`: the first record
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    NMB_ASSIGN(const VariableShape shape, shape_of(metadata, layout, v, layout.records));
    const bool is_record = shape.record_size != 0;
    std::uint64_t bytes = shape.element_size;
    for (std::size_t i = is_record ? 1 : 0; i < shape.lengths.size(); ++i)
      bytes *= shape.lengths[i];
    (is_record ? record : values)
        .push_back({metadata.variable(v).begin,
                    bytes,
                    RegionKind::kValues,
                    {RegionOwner::Of::kVariable, v}});
  }
  const std::uint64_t records_length = layout.records * layout.record_size;
  if (record.size() == 1) {
    // The records are adjacent, with their padding.
    record[0].length = records_length;
    values.push_back(record[0]);
  } else if (!record.empty() && layout.records <= kMostRecordRegions / record.size()) {
    for (std::uint64_t i = 0; i < layout.records; ++i)
      for (Region region : record) {
        region.position += i * layout.record_size;
        values.push_back(region);
      }
  } else if (!record.empty()) {
    values.push_back(
        {layout.record_begin, records_length, RegionKind::kValues, {RegionOwner::Of::kRecords, 0}});
  }
  std::erase_if(values, [](const Region& region) { return region.length == 0; });
  std::ranges::sort(values, {}, &Region::position);
  return values;
}

Result<Layout> layout_of_classic(const ByteSource& file, FileKind kind) {
  NMB_ASSIGN(const ClassicHeader header, decode_classic_header(file));
  NMB_ASSIGN(std::vector<Region> values, values_of(header));
  RegionList regions;
  regions.add({0, header.layout.header_length, RegionKind::kHead, {}});
  std::uint64_t at = header.layout.header_length;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Region& region = values[i];
    // The file may end before the last record is complete.
    region.length = std::min(region.length, file.size() - std::min(region.position, file.size()));
    if (region.position < at)
      return Status(Code::kDamaged, file.name(), region.position, "",
                    "values that share bytes with other values or with the header");
    at = region.end();
    // Padding belongs to the values before it.
    const std::uint64_t next = i + 1 < values.size() ? values[i + 1].position : file.size();
    region.length += std::min((4 - at % 4) % 4, next - std::min(next, at));
    regions.add(region);
  }
  if (!regions.is_complete()) return too_many(file);
  return Layout{kind, 0, regions.take(file.size())};
}

}  // namespace

std::string_view region_name(RegionKind kind) {
  constexpr std::array<std::string_view, kRegionKinds> kNames{
      "head",   "superblock", "dictionary", "index", "data map", "table",      "metadata",
      "values", "original",   "HDF5 view",  "dead",  "unused",   "uncommitted"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<Layout> layout_of(const ByteSource& file) {
  NMB_ASSIGN(const FileKind kind, kind_of(file));
  if (kind == FileKind::kNmb) return layout_of_nmb(file);
  if (is_classic(kind)) return layout_of_classic(file, kind);
  return refused_kind(file, kind);
}

}  // namespace nmb
