#include "netcdf/subset.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "model/name_rules.h"
#include "model/naming_attributes.h"
#include "model/paths.h"
#include "netcdf/selected_variables.h"
#include "netcdf/subset_indexes.h"
#include "sources/laid_values.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

class Subsetter {
 public:
  Subsetter(const Dataset& dataset, Source values, const SubsetRules& rules,
            const SubsetGroup& group)
      : dataset_(dataset),
        from_(dataset.metadata),
        values_(values ? std::move(values) : owned_bytes({}, dataset.name)),
        rules_(rules),
        group_(group) {
    out_.used.resize(rules.count());
  }

  Result<DatasetSubset> make() {
    NMB_TRY(choose_variables());
    NMB_ASSIGN(indexes_, subset_indexes(dataset_, rules_, group_, is_chosen_, &out_.used));
    out_.is_outside = indexes_.is_outside;
    // Limits that leave no index matter only to variables that are part of the subset.
    for (VarId v = 0; v < from_.variable_count(); ++v)
      for (const DimId d : dimensions_of(v))
        if (is_chosen_[v] && indexes_.runs[d] && indexes_.runs[d]->empty()) out_.is_outside = true;
    if (out_.is_outside) return std::move(out_);
    NMB_TRY(check_indirect());
    NMB_TRY(define());
    return std::move(out_);
  }

 private:
  static Status conflict(std::string text) { return Status(Code::kConflict, std::move(text)); }
  std::span<const DimId> dimensions_of(VarId v) const { return from_.variable(v).dimensions; }

  Status choose_variables() {
    is_chosen_.assign(from_.variable_count(), rules_.variables.empty());
    if (rules_.variables.empty()) return {};
    std::vector<VarId> chosen;
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      const std::string name(from_.variable(v).name), path = joined_path(group_.name, name);
      for (std::size_t i = 0; i < rules_.variables.size(); ++i) {
        const auto& matches = rules_.variables[i].matches;
        NMB_ASSIGN(bool is_wanted, matches(name));
        if (!is_wanted) NMB_ASSIGN(is_wanted, matches(path));
        if (!is_wanted) continue;
        out_.used[i] = 1;
        if (!is_chosen_[v]) chosen.push_back(v);
        is_chosen_[v] = true;
      }
    }
    out_.has_wanted = !chosen.empty();
    const std::vector<std::vector<VarId>> needed = needed_variables(from_);
    // A group below may use the dimensions of a group without chosen variables.
    if (chosen.empty())
      for (VarId v = 0; v < from_.variable_count(); ++v)
        if (is_coordinate(from_, v)) {
          is_chosen_[v] = true;
          chosen.push_back(v);
        }
    for (VarId v = 0; group_.needed && v < from_.variable_count(); ++v) {
      if (!group_.needed->contains(joined_path(group_.name, from_.variable(v).name))) continue;
      out_.has_wanted = true;
      if (!is_chosen_[v]) chosen.push_back(v);
      is_chosen_[v] = true;
    }
    for (const VarId v : kept_coordinates()) {
      is_chosen_[v] = true;
      chosen.push_back(v);
    }
    while (!chosen.empty()) {
      const VarId v = chosen.back();
      chosen.pop_back();
      for (const VarId other : needed[v]) {
        if (is_chosen_[other]) continue;
        is_chosen_[other] = true;
        chosen.push_back(other);
      }
    }
    return {};
  }

  // Returns the coordinates along SubsetGroup::kept: its coordinate variable, and those that
  // attributes of other variables name.
  std::vector<VarId> kept_coordinates() const {
    std::vector<VarId> found;
    if (!group_.kept) return found;
    const auto add = [&](VarId v) {
      if (std::ranges::count(dimensions_of(v), *group_.kept) > 0) found.push_back(v);
    };
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      if (is_coordinate(from_, v)) add(v);
      constexpr std::string_view kCoordinates = "coordinates";
      for_each_word(kCoordinates, char_attribute(from_, v, kCoordinates),
                    [&](std::string_view word) {
                      if (const auto named = from_.find_variable(word)) add(*named);
                    });
    }
    return found;
  }

  // Refuses to select indexes of a dimension if values of the dataset are indexes of it.
  Status check_indirect() {
    const auto refuse = [&](DimId d, VarId v, std::string_view attribute) -> Status {
      if (!indexes_.runs[d] || !is_chosen_[v]) return {};
      return conflict(joined_text(variable_text(from_, v), " (attribute ", attribute,
                                  ") counts indexes of ", dimension_text(from_, d),
                                  ", which would not be right in a subset"));
    };
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      for (const char* attribute : {"compress", "sample_dimension", "instance_dimension"}) {
        Status status;
        for_each_word(attribute, char_attribute(from_, v, attribute), [&](std::string_view word) {
          const auto d = from_.find_dimension(word);
          if (status.ok() && d) status = refuse(*d, v, attribute);
        });
        NMB_TRY(status);
      }
      // The variable counts the samples of each instance; the counts fit only all samples.
      if (from_.find_attribute(v, "sample_dimension"))
        for (const DimId d : dimensions_of(v)) NMB_TRY(refuse(d, v, "sample_dimension"));
      NMB_TRY(from_.try_each_attribute(v, [&](const Attribute& attribute) -> Status {
        const bool has_indexes =
            attribute.name.ends_with("_connectivity") || attribute.name == "node_coordinates" ||
            attribute.name == "node_count" || attribute.name == "part_node_count" ||
            attribute.name == "interior_ring";
        if (!has_indexes) return {};
        Status status;
        for_each_word(attribute.name, char_attribute(from_, v, attribute.name),
                      [&](std::string_view word) {
                        const auto named = from_.find_variable(word);
                        if (!named) return;
                        for (const DimId d : dimensions_of(*named))
                          if (status.ok()) status = refuse(d, v, attribute.name);
                      });
        return status;
      }));
    }
    return {};
  }

  Status define() {
    Metadata& to = out_.dataset.metadata;
    std::vector<std::optional<DimId>> ids(from_.dimension_count());
    std::vector<bool> is_used(from_.dimension_count(), rules_.variables.empty());
    for (VarId v = 0; v < from_.variable_count(); ++v)
      if (is_chosen_[v])
        for (const DimId d : dimensions_of(v)) is_used[d] = true;
    if (group_.kept) is_used[*group_.kept] = true;
    out_.dataset.name = dataset_.name;
    for (DimId d = 0; d < from_.dimension_count(); ++d) {
      // A dimension without variables and without indexes could not be defined.
      if (!is_used[d] || (indexes_.runs[d] && indexes_.runs[d]->empty())) continue;
      const Dimension dimension = from_.dimension(d);
      const std::uint64_t length = count_of(indexes_of(d));
      NMB_ASSIGN(ids[d], to.def_dim(dimension.name, dimension.is_record() ? kUnlimited : length));
      out_.dimensions.push_back(d);
      if (dimension.is_record()) out_.dataset.records = length;
    }
    const auto copy_attributes = [&](VarId owner, VarId copy) {
      return from_.try_each_attribute(owner, [&](const Attribute& attribute) {
        return to.def_att(copy, attribute.name, attribute.type, attribute.values);
      });
    };
    NMB_TRY(copy_attributes(kGlobal, kGlobal));
    std::vector<VarId> variables;
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      if (!is_chosen_[v]) continue;
      std::vector<DimId> own;
      for (const DimId d : dimensions_of(v)) own.push_back(*ids[d]);
      NMB_ASSIGN(const VarId copy, to.def_var(from_.variable(v).name, from_.variable(v).type, own));
      NMB_TRY(copy_attributes(v, copy));
      variables.push_back(v);
    }
    NMB_TRY(to.settle_names());
    NMB_ASSIGN(out_.dataset.layout, layout_classic(to, Kind::kCdf5));
    out_.dataset.layout.records = out_.dataset.records;
    auto laid = std::make_shared<LaidValues>(
        laid_values(out_.dataset.layout, out_.dataset.records, values_->name()));
    for (VarId copy = 0; copy < variables.size(); ++copy)
      NMB_TRY(lay(variables[copy], copy, laid.get()));
    out_.dataset.extent = source_of(std::shared_ptr<const LaidValues>(std::move(laid)));
    return {};
  }

  IndexRuns indexes_of(DimId d) const {
    if (indexes_.runs[d]) return *indexes_.runs[d];
    return length_of(dataset_, d) == 0 ? IndexRuns() : IndexRuns{{0, length_of(dataset_, d)}};
  }

  // Adds the values of a variable. copy: its number in the subset.
  Status lay(VarId v, VarId copy, LaidValues* laid) {
    const Metadata& to = out_.dataset.metadata;
    const std::span<const DimId> ids = dimensions_of(v);
    if (const auto turned = indexes_.turned.find(v); turned != indexes_.turned.end()) {
      NMB_ASSIGN(Source values, turned_values(v, turned->second));
      laid->add(to, copy, std::move(values), 0, to.slice_bytes(copy).value_or(0));
      return {};
    }
    std::vector<IndexRuns>& runs =
        out_.selected.emplace(from_.variable(v).name, std::vector<IndexRuns>()).first->second;
    for (const DimId d : ids) runs.push_back(indexes_of(d));
    const std::uint64_t begin = from_.begin(v) - dataset_.layout.header_length;
    const bool is_record = from_.is_record_variable(v);
    const auto is_whole = [&](std::size_t i) { return !indexes_.runs[ids[i]]; };
    bool is_plain = !is_record || (runs[0].size() == 1 || is_whole(0));
    for (std::size_t i = is_record ? 1 : 0; i < ids.size(); ++i) is_plain = is_plain && is_whole(i);
    if (is_plain) {
      const IndexRun records = is_record && !runs[0].empty() ? runs[0][0] : IndexRun{0, 1, 1};
      laid->add(to, copy, values_, begin + records.first * dataset_.layout.record_size,
                records.stride * dataset_.layout.record_size);
      return {};
    }
    laid->add(to, copy, selected_source(v, runs), 0, to.slice_bytes(copy).value_or(0));
    return {};
  }

  Source selected_source(VarId v, const std::vector<IndexRuns>& runs) const {
    const std::span<const DimId> ids = dimensions_of(v);
    SelectedValues selected{values_,
                            from_.begin(v) - dataset_.layout.header_length,
                            type_size(from_.variable(v).type),
                            {}};
    std::uint64_t step = selected.value_size;
    selected.axes.resize(ids.size());
    for (std::size_t i = ids.size(); i-- > 0;) {
      const bool is_records = i == 0 && from_.is_record_variable(v);
      selected.axes[i] = {is_records ? dataset_.layout.record_size : step, runs[i]};
      step *= length_of(dataset_, ids[i]);
    }
    return source_of(std::make_shared<const SelectedValues>(std::move(selected)));
  }

  // Returns the values of a longitude, or of its bounds. turns: the degrees to add at each index.
  Result<Source> turned_values(VarId v, const std::vector<double>& turns) const {
    const Type type = from_.variable(v).type;
    for (const char* attribute : {"scale_factor", "add_offset", "_Unsigned"})
      if (from_.find_attribute(v, attribute))
        return conflict("the values of " + variable_text(from_, v) +
                        " wrap around 360 degrees, but are packed (attribute " + attribute +
                        "); use SubsetRules::slabs");
    std::vector<IndexRuns> runs;
    std::uint64_t of_index = 1;
    for (const DimId d : dimensions_of(v)) {
      if (!runs.empty()) of_index *= length_of(dataset_, d);
      runs.push_back(indexes_of(d));
    }
    const Source selected = selected_source(v, runs);
    std::vector<std::byte> bytes(selected->size());
    NMB_TRY(selected->read_at(0, bytes));
    std::vector<double> values(turns.size() * of_index);
    (void)convert_from_external(type, bytes.data(), values.size(), MemoryType::kDouble,
                                values.data());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += turns[i / of_index];
    if (convert_to_external(MemoryType::kDouble, values.data(), values.size(), type, bytes.data()) >
        0)
      return conflict("the type of " + variable_text(from_, v) +
                      " cannot hold longitudes that differ by 360 degrees; use "
                      "SubsetRules::slabs");
    return owned_bytes(std::move(bytes), selected->name());
  }

  const Dataset& dataset_;
  const Metadata& from_;
  const Source values_;
  const SubsetRules& rules_;
  const SubsetGroup& group_;
  DatasetSubset out_;
  std::vector<bool> is_chosen_;  // by variable
  SubsetIndexes indexes_;
};

}  // namespace

std::string SubsetRules::object_of(std::size_t rule) const {
  if (rule < variables.size()) return "variable " + in_quotes(variables[rule].text);
  rule -= variables.size();
  if (rule < slabs.size()) return "dimension " + in_quotes(slabs[rule].dimension);
  rule -= slabs.size();
  if (times && rule-- == 0) return "coordinate with units of time";
  if (rule < ranges.size()) return "coordinate " + in_quotes(ranges[rule].coordinate);
  return "longitude or latitude";
}

Result<DatasetSubset> subset_of(const Dataset& dataset, Source values, const SubsetRules& rules,
                                const SubsetGroup& group) {
  return Subsetter(dataset, std::move(values), rules, group).make();
}

}  // namespace nmb
