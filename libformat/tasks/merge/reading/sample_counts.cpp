#include "merge/reading/sample_counts.h"

#include <algorithm>

#include "wire/block_entry.h"

namespace nmb {

SampleCounts counts_of(const SampleRule& rule, const Metadata& metadata, std::uint64_t records) {
  SampleCounts counts{metadata.variable_count(), std::nullopt};
  if (rule.by != SampleRule::By::kDimension) return counts;
  if (const std::optional<DimId> id = metadata.find_dimension(rule.dimension)) {
    const Dimension dimension = metadata.dimension(*id);
    counts.length = dimension.is_record() ? records : dimension.length;
  }
  return counts;
}

SampleCounts counts_of(const SampleRule& rule, const Dataset& dataset,
                       const DimensionLengths* lengths) {
  const NetcdfView view = netcdf_view(dataset, lengths);
  SampleCounts counts{view.variables.size(), std::nullopt};
  const auto dimension =
      std::ranges::find(view.dimensions, rule.dimension, &NetcdfView::Dimension::name);
  if (dimension == view.dimensions.end()) return counts;
  // A dimension that a group above defines is counted for that group.
  const std::string own = dataset.name.empty() ? "/" : "/" + dataset.name + "/";
  const std::string& path = dimension->path;
  if (path.empty() || path.substr(0, path.rfind('/') + 1) == own) counts.length = dimension->length;
  return counts;
}

Result<std::uint64_t> count_samples(const SampleRule& rule, const SampleCounts& counts,
                                    std::string_view group) {
  using By = SampleRule::By;
  const std::uint64_t variables = counts.variables;
  switch (rule.by) {
    case By::kDefault:
      return default_samples(variables);
    case By::kVariables:
      if (variables % rule.variables != 0)
        return Status(Code::kConflict, "found " + std::to_string(variables) +
                                           " variables, expected a multiple of " +
                                           std::to_string(rule.variables));
      return variables / rule.variables;
    case By::kDimension:
      return counts.length.value_or(0);
    case By::kGroup:
      return variables > 0 && !group.empty() && group.find('/') == std::string_view::npos
                 ? std::uint64_t{1}
                 : std::uint64_t{0};
    case By::kNone:
      return std::uint64_t{0};
  }
  return std::uint64_t{0};
}

}  // namespace nmb
