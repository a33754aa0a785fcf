#include "nminspect/object_pattern.h"

#include "common/options/block_name.h"
#include "hdf5_types/netcdf_marks.h"

namespace nmb::tools {

Result<Totals> totals_of(const InspectedFile& file, const NamePattern& pattern) {
  if (pattern.is_whole_prefix()) return file.totals_of_prefix(pattern.literal_prefix());
  Totals totals;
  NMB_TRY(for_each_block(file, pattern, [&](const BlockEntry& entry) -> Result<bool> {
    totals += entry.totals();
    return true;
  }));
  return totals;
}

Result<ObjectPattern> ObjectPattern::glob(std::string_view pattern) {
  ObjectPattern out;
  NMB_ASSIGN(out.full_, NamePattern::glob(pattern));
  const std::size_t slash = pattern.rfind('/');
  const bool root = slash == pattern.npos;
  const std::string_view block = root ? "" : pattern.substr(0, slash);
  const std::string_view variable = root ? pattern : pattern.substr(slash + 1);
  if (block.ends_with("**") || variable.find("**") != variable.npos) return out;
  Result<NamePattern> blocks = NamePattern::glob(block);
  Result<NamePattern> variables = NamePattern::glob(variable);
  // If the last slash is inside a set or after a backslash, the pattern cannot be divided there:
  // one of the two parts is not a valid glob.
  if (blocks.ok() && variables.ok())
    out.parts_ = Parts{std::move(*blocks), std::move(*variables), block.empty(), variable == "*"};
  return out;
}

Result<ObjectPattern> ObjectPattern::regex(std::string_view expression) {
  ObjectPattern out;
  NMB_ASSIGN(out.full_, NamePattern::regex(expression));
  return out;
}

Result<bool> ObjectPattern::matches(std::string_view block, std::string_view variable) const {
  if (!parts_) return full_.matches(full_name(block, variable));
  if (parts_->any_variable) return true;
  return parts_->variable.matches(variable);
}

Result<std::optional<BlockEntry>> ObjectPattern::block_above(const InspectedFile& file) const {
  const std::string& prefix = full_.literal_prefix();
  // If the pattern has no literal prefix, it names no block.
  if (prefix.empty()) return std::optional<BlockEntry>();
  const std::size_t slash = prefix.rfind('/');
  return file.find(slash == prefix.npos ? "" : prefix.substr(0, slash));
}

Status ObjectPattern::for_each_candidate(
    const InspectedFile& file, const std::function<Result<bool>(const BlockEntry&)>& visit) const {
  const auto visit_candidate = [&](const BlockEntry& entry) -> Result<bool> {
    // The stored data set of a dimension does not count as a variable, but may be visited. The
    // pattern "*" for a block's name does not match the empty name.
    if (entry.variables + entry.dimensions == 0 || (parts_ && !parts_->root && entry.name.empty()))
      return true;
    return visit(entry);
  };
  if (parts_) return for_each_block(file, parts_->block, visit_candidate);
  NMB_ASSIGN(const std::optional<BlockEntry> above, block_above(file));
  if (above) {
    NMB_ASSIGN(const bool more, visit_candidate(*above));
    if (!more) return {};
  }
  return file.for_each_entry(full_.literal_prefix(), visit_candidate);
}

Result<bool> ObjectPattern::visit_matches(const InspectedFile& file, const BlockEntry& entry,
                                          const Visit& visit) const {
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file.dataset(entry));
  for (VarId id = 0; id < dataset->metadata.variable_count(); ++id) {
    NMB_ASSIGN(const bool fits, matches(entry.name, dataset->metadata.variable(id).name));
    if (!fits) continue;
    NMB_ASSIGN(const bool more, visit(entry, *dataset, id));
    if (!more) return false;
  }
  return true;
}

Result<std::uint64_t> ObjectPattern::count(const InspectedFile& file) const {
  std::uint64_t total = 0;
  const Visit count_one = [&](const BlockEntry&, const Dataset& dataset, VarId id) -> Result<bool> {
    if (!is_dimension_only(dataset.metadata, id)) ++total;
    return true;
  };
  if (!parts_ && full_.is_whole_prefix()) {
    NMB_ASSIGN(const Totals below, file.totals_of_prefix(full_.literal_prefix()));
    NMB_ASSIGN(const std::optional<BlockEntry> above, block_above(file));
    if (above && full_.literal_prefix().ends_with('/'))
      total = above->variables;
    else if (above && above->variables > 0)
      NMB_TRY(visit_matches(file, *above, count_one).status());
    return total + below.variables;
  }
  NMB_TRY(for_each_candidate(file, [&](const BlockEntry& entry) -> Result<bool> {
    if (!parts_ || !parts_->any_variable) return visit_matches(file, entry, count_one);
    total += entry.variables;
    return true;
  }));
  return total;
}

Status ObjectPattern::for_each(const InspectedFile& file, const Visit& visit) const {
  return for_each_candidate(
      file, [&](const BlockEntry& entry) { return visit_matches(file, entry, visit); });
}

}  // namespace nmb::tools
