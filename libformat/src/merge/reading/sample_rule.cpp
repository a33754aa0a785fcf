// Counts samples (see merge/reading/sample_rule.h).
#include "merge/reading/sample_rule.h"

#include <algorithm>
#include <charconv>

#include "nmb/block_entry.h"

namespace nmb {

Result<SampleRule> SampleRule::parse(std::string_view text) {
  SampleRule rule;
  if (text.empty()) return rule;
  if (text == "none") {
    rule.by_ = By::kNone;
    return rule;
  }
  if (text == "group") {
    rule.by_ = By::kGroup;
    return rule;
  }
  if (text.starts_with("dim:") && text.size() > 4) {
    rule.by_ = By::kDimension;
    rule.dimension_ = text.substr(4);
    return rule;
  }
  if (text.starts_with("vars:")) {
    const std::string_view digits = text.substr(5);
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), rule.divisor_);
    if (error == std::errc() && end == digits.data() + digits.size() && rule.divisor_ > 0) {
      rule.by_ = By::kVariables;
      return rule;
    }
  }
  return Status(Code::kUsage, "found samples \"" + std::string(text) +
                                  "\", expected vars:N, dim:NAME, group or none");
}

SampleRule::Objects SampleRule::objects_of(const Metadata& metadata, std::uint64_t records) const {
  Objects objects{metadata.variable_count(), std::nullopt};
  if (by_ != By::kDimension) return objects;
  if (const std::optional<DimId> id = metadata.find_dimension(dimension_)) {
    const Dimension dimension = metadata.dimension(*id);
    objects.length = dimension.is_record() ? records : dimension.length;
  }
  return objects;
}

SampleRule::Objects SampleRule::objects_of(const Dataset& dataset,
                                           const DimensionLengths* lengths) const {
  const NetcdfView view = netcdf_view(dataset, lengths);
  Objects objects{view.variables.size(), std::nullopt};
  const auto dimension =
      std::ranges::find(view.dimensions, dimension_, &NetcdfView::Dimension::name);
  if (dimension == view.dimensions.end()) return objects;
  // A group above that has the dimension counts it.
  const std::string own = dataset.name.empty() ? "/" : "/" + dataset.name + "/";
  const std::string& path = dimension->path;
  if (path.empty() || path.substr(0, path.rfind('/') + 1) == own)
    objects.length = dimension->length;
  return objects;
}

Result<std::uint64_t> SampleRule::count(const Objects& objects, std::string_view group) const {
  const std::uint64_t variables = objects.variables;
  switch (by_) {
    case By::kDefault:
      return default_samples(variables);
    case By::kVariables:
      if (variables % divisor_ != 0)
        return Status(Code::kConflict, "found " + std::to_string(variables) +
                                           " variables, expected a multiple of " +
                                           std::to_string(divisor_));
      return variables / divisor_;
    case By::kDimension:
      return objects.length.value_or(0);
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
