// Blocks as netCDF-C shows them (see nmb/netcdf_view.h).
#include "nmb/netcdf_view.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "interop/netcdf_marks.h"
#include "interop/shared_dimensions.h"

namespace nmb {

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Whether netCDF-C has variables of a type; it passes over others, such as compounds without a
// name.
bool is_shown_by_netcdf(const TypeTable& types, Type code) {
  if (!TypeTable::is_extended(code)) return true;
  const ExtendedType& type = types.at(code);
  switch (type.type_class) {
    case TypeClass::kInteger:
    case TypeClass::kString:
      return true;
    case TypeClass::kFloat:
      return type.size <= 8;
    default:
      return !type.name.empty() && !type.name.starts_with("//");
  }
}

// Dimensions of the block that are one of netCDF's.
class DimensionSets {
 public:
  explicit DimensionSets(std::uint32_t dimensions) : parent_(dimensions) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  std::uint32_t find(std::uint32_t d) {
    while (parent_[d] != d) d = parent_[d] = parent_[parent_[d]];
    return d;
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  // Unites d with those of the same key.
  template <class Key>
  void unite_by(std::map<Key, DimId>* keys, const Key& key, DimId d) {
    const auto [at, is_new] = keys->emplace(key, d);
    if (!is_new) unite(at->second, d);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

class ViewMaker {
 public:
  ViewMaker(const Dataset& dataset, const DimensionLengths* lengths)
      : dataset_(dataset),
        metadata_(dataset.metadata),
        lengths_(lengths),
        sets_(metadata_.dimension_count()),
        may_grow_(metadata_.dimension_count()),
        may_have_phony_(!is_classic_dataset(metadata_)),
        is_marked_(metadata_.variable_count()) {
    if (metadata_.record_dimension()) may_grow_[*metadata_.record_dimension()] = true;
    if (metadata_.extension())
      for (const Unlimited& u : metadata_.extension()->unlimited) may_grow_[u.dimension] = true;
  }

  NetcdfView make() {
    if (metadata_.extension()) find_marks();
    for (VarId v = 0; v < metadata_.variable_count(); ++v) {
      if (is_dimension_only(metadata_, v)) continue;
      std::string name(metadata_.variable(v).name);
      if (view_.is_netcdf && name.starts_with(kNonCoordinate) &&
          name.size() > kNonCoordinate.size())
        name.erase(0, kNonCoordinate.size());
      view_.variables.push_back({v, std::move(name), {}});
    }
    if (view_.is_netcdf)
      for (VarId v = 0; v < metadata_.variable_count(); ++v) place(v);
    name_dimensions();
    return std::move(view_);
  }

 private:
  // What is told of a dimension of netCDF's, by its first one of the block.
  struct Told {
    std::optional<std::int64_t> id;
    std::string path;
    std::optional<VarId> scale;
  };

  void find_marks() {
    view_.is_scale.resize(metadata_.variable_count());
    view_.is_netcdf = metadata_.find_attribute(kGlobal, "_NCProperties").has_value();
    for (VarId v = 0; v < metadata_.variable_count(); ++v) {
      view_.is_scale[v] = is_dimension_scale(metadata_, v);
      const std::optional<Attribute> list = metadata_.find_attribute(v, kList);
      if (view_.is_scale[v] || metadata_.find_attribute(v, kDimensionId) ||
          metadata_.find_attribute(v, kCoordinates) || (list && is_list(metadata_, *list)))
        view_.is_netcdf = true;
    }
  }

  // Unites the dimensions of a variable with those that its marks say are the same.
  void place(VarId v) {
    const Variable variable = metadata_.variable(v);
    const std::size_t rank = variable.dimensions.size();
    if (rank == 0) return;
    if (view_.is_scale[v]) {
      const std::vector<std::int64_t> id = integers(metadata_, v, kDimensionId, 1);
      if (!id.empty()) sets_.unite_by(&by_id_, id.front(), variable.dimensions[0]);
      sets_.unite_by(&by_path_, own_path(variable.name), variable.dimensions[0]);
    }
    const std::vector<std::int64_t> ids = integers(metadata_, v, kCoordinates, rank);
    const std::vector<std::string> paths = scale_paths(metadata_, v, rank);
    is_marked_[v].resize(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      is_marked_[v][i] = !ids.empty() || !paths[i].empty() || (i == 0 && view_.is_scale[v]);
      if (!ids.empty()) sets_.unite_by(&by_id_, ids[i], variable.dimensions[i]);
      if (!paths[i].empty()) sets_.unite_by(&by_path_, paths[i], variable.dimensions[i]);
    }
  }

  std::string own_path(std::string_view variable) const {
    // A root block has no name, or is a dataset by itself.
    const bool is_root = dataset_.name.empty() || dataset_.name == dataset_.extent->name();
    return (is_root ? "/" : "/" + dataset_.name + "/") + std::string(variable);
  }

  std::uint64_t length(DimId d) const {
    return metadata_.dimension(d).is_record() ? dataset_.records : metadata_.dimension(d).length;
  }

  // Undoes sets of dimensions that differ in length and do not grow.
  std::vector<DimId> first_of_sets(std::vector<Told>* told) {
    const std::uint32_t count = metadata_.dimension_count();
    std::vector<DimId> first(count);
    std::vector<bool> grows(count), differ(count);
    for (DimId d = 0; d < count; ++d) {
      first[d] = sets_.find(d);
      const std::optional<VarId> scale = (*told)[first[d]].scale;
      grows[first[d]] = scale ? may_grow_[metadata_.variable(*scale).dimensions[0]]
                              : grows[first[d]] || may_grow_[d];
      if (length(d) != length(first[d])) differ[first[d]] = true;
    }
    grows_ = grows;
    for (DimId d = 0; d < count; ++d) {
      const DimId set = sets_.find(d);
      if (!differ[set] || grows[set]) continue;
      first[d] = d;
      grows_[d] = may_grow_[d];
      const std::optional<VarId> scale = (*told)[set].scale;
      if (scale && metadata_.variable(*scale).dimensions[0] == d)
        std::swap((*told)[d], (*told)[set]);
    }
    return first;
  }

  // netCDF-C gives a scale without a number the next above all that it met before. Returns the next
  // number behind all scales.
  std::int64_t count_unnumbered(std::vector<Told>* told) {
    std::int64_t next = 0;
    for (VarId v = 0; v < view_.is_scale.size(); ++v) {
      if (!view_.is_scale[v] || metadata_.variable(v).dimensions.empty()) continue;
      const std::vector<std::int64_t> own = integers(metadata_, v, kDimensionId, 1);
      const std::int64_t id = own.empty() || own.front() < 0 ? next : own.front();
      next = std::max(next, id + 1);
      if (own.empty() || own.front() < 0)
        (*told)[sets_.find(metadata_.variable(v).dimensions[0])].id = id;
    }
    return next;
  }

  // Whether a dimension of the block stands for places of data sets that have no scale.
  bool is_phony(DimId d) const {
    return may_have_phony_ && is_made_up(metadata_.dimension(d).name);
  }
  bool is_phony(VarId v, std::size_t place) const {
    return is_phony(metadata_.variable(v).dimensions[place]) &&
           (is_marked_[v].empty() || !is_marked_[v][place]);
  }

  // Gives each place without a scale the first dimension of its length and limitedness that the
  // variable does not use yet, else a new one. of_scales: the view's dimensions, by their scale.
  // next: the number of the first new one.
  void add_phony(const std::map<VarId, std::uint32_t>& of_scales, std::int64_t next,
                 std::set<std::string>* taken) {
    using Shape = std::pair<std::uint64_t, bool>;
    std::map<Shape, std::vector<std::uint32_t>> known;
    for (const auto& [scale, number] : of_scales) {
      const DimId d = metadata_.variable(scale).dimensions[0];
      known[{length(d), may_grow_[d]}].push_back(number);
    }
    const auto add_to = [&](NetcdfView::Variable* variable) {
      const Variable v = metadata_.variable(variable->id);
      std::set<std::uint32_t> used;  // by places with scales
      for (std::size_t i = 0; i < v.dimensions.size(); ++i)
        if (!is_phony(variable->id, i)) used.insert(variable->dimensions[i]);
      std::map<Shape, std::size_t> tried;
      for (std::size_t i = 0; i < v.dimensions.size(); ++i) {
        if (!is_phony(variable->id, i)) continue;
        const DimId d = v.dimensions[i];
        const Shape shape(length(d), may_grow_[d]);
        std::vector<std::uint32_t>& numbers = known[shape];
        std::size_t& at = tried[shape];
        while (at < numbers.size() && used.contains(numbers[at])) ++at;
        if (at == numbers.size()) {
          const std::string base = "phony_dim_" + std::to_string(next++);
          std::string name = base;
          for (unsigned n = 2; !taken->insert(name).second; ++n)
            name = base + "_" + std::to_string(n);
          numbers.push_back(static_cast<std::uint32_t>(view_.dimensions.size()));
          view_.dimensions.push_back({std::move(name), shape.first, shape.second, {}});
        }
        variable->dimensions[i] = numbers[at++];
      }
    };
    for (const bool is_shown : {true, false})
      for (NetcdfView::Variable& variable : view_.variables)
        if (is_shown ==
            (!metadata_.extension() || is_shown_by_netcdf(metadata_.extension()->types,
                                                          metadata_.variable(variable.id).type)))
          add_to(&variable);
  }

  void name_dimensions() {
    const std::uint32_t count = metadata_.dimension_count();
    std::vector<Told> told(count);
    for (const auto& [id, d] : by_id_) {
      Told& of = told[sets_.find(d)];
      if (!of.id) of.id = id;
    }
    for (const auto& [path, d] : by_path_) told[sets_.find(d)].path = path;
    for (VarId v = 0; v < view_.is_scale.size(); ++v)
      if (view_.is_scale[v] && !metadata_.variable(v).dimensions.empty())
        told[sets_.find(metadata_.variable(v).dimensions[0])].scale = v;
    const std::int64_t next = count_unnumbered(&told);
    const std::vector<DimId> first = first_of_sets(&told);

    // Those that no place with a scale has get their numbers below.
    std::vector<bool> is_named(count);
    for (DimId d = 0; d < count; ++d)
      if (!is_phony(d)) is_named[first[d]] = true;
    for (VarId v = 0; v < metadata_.variable_count(); ++v)
      for (std::size_t i = 0; i < is_marked_[v].size(); ++i)
        if (is_marked_[v][i]) is_named[first[metadata_.variable(v).dimensions[i]]] = true;
    std::vector<DimId> order;
    for (DimId d = 0; d < count; ++d)
      if (first[d] == d && is_named[d]) order.push_back(d);
    std::stable_sort(order.begin(), order.end(), [&](DimId a, DimId b) {
      const std::optional<std::int64_t>&x = told[a].id, &y = told[b].id;
      return x && y ? *x < *y : x.has_value() && !y.has_value();
    });
    std::vector<std::uint32_t> number(count);
    std::set<std::string> taken;
    std::map<VarId, std::uint32_t> of_scales;
    for (const DimId d : order) {
      number[d] = static_cast<std::uint32_t>(view_.dimensions.size());
      const std::string own(metadata_.dimension(d).name);
      std::string name = told[d].scale ? std::string(metadata_.variable(*told[d].scale).name)
                         : !told[d].path.empty() ? last_part(told[d].path)
                                                 : own;
      for (unsigned n = 2; name.empty() || taken.contains(name); ++n)
        name = n == 2 ? own : own + "_" + std::to_string(n - 1);
      taken.insert(name);
      if (told[d].scale) of_scales.emplace(*told[d].scale, number[d]);
      const bool is_shared = view_.is_netcdf && grows_[d];
      view_.dimensions.push_back(
          {std::move(name), is_shared ? 0 : length(d), grows_[d], std::move(told[d].path)});
    }
    for (NetcdfView::Variable& variable : view_.variables)
      for (const DimId d : metadata_.variable(variable.id).dimensions)
        variable.dimensions.push_back(number[first[d]]);
    if (may_have_phony_) add_phony(of_scales, next, &taken);
    for (const NetcdfView::Variable& variable : view_.variables) {
      const Variable of_block = metadata_.variable(variable.id);
      for (std::size_t i = 0; i < variable.dimensions.size(); ++i) {
        NetcdfView::Dimension& to = view_.dimensions[variable.dimensions[i]];
        if (to.may_grow) to.length = std::max(to.length, length(of_block.dimensions[i]));
      }
    }
    if (!lengths_ || !view_.is_netcdf) return;
    for (NetcdfView::Dimension& dimension : view_.dimensions)
      if (const auto of_all = lengths_->find(dimension.path);
          dimension.may_grow && of_all != lengths_->end())
        dimension.length = std::max(dimension.length, of_all->second);
  }

  const Dataset& dataset_;
  const Metadata& metadata_;
  const DimensionLengths* const lengths_;
  NetcdfView view_;
  DimensionSets sets_;
  std::map<std::int64_t, DimId> by_id_;
  std::map<std::string, DimId> by_path_;
  std::vector<bool> may_grow_;  // of the block's own
  std::vector<bool> grows_;     // by the first of a set
  const bool may_have_phony_;   // dimensions that the file does not name
  // Of each variable, the places whose dimension is said; empty: none.
  std::vector<std::vector<bool>> is_marked_;
};

}  // namespace

bool NetcdfView::hides(VarId owner, std::string_view attribute) const {
  if (!is_netcdf) return false;
  constexpr std::string_view kBooks[] = {"_NCProperties", kDimensionId, kCoordinates,
                                         "_nc3_strict"};
  if (std::find(std::begin(kBooks), std::end(kBooks), attribute) != std::end(kBooks)) return true;
  if (owner == kGlobal) return false;
  if (attribute == kList || attribute == "REFERENCE_LIST") return true;
  return is_scale[owner] && (attribute == "CLASS" || attribute == "NAME");
}

NetcdfView netcdf_view(const Dataset& dataset, const DimensionLengths* lengths) {
  return ViewMaker(dataset, lengths).make();
}

bool is_dimension_only(const Metadata& metadata, VarId variable) {
  return metadata.extension() && is_dimension_scale(metadata, variable) &&
         fixed_text(metadata, variable, "NAME").starts_with(kNotAVariable);
}

void add_dimension_lengths(const Dataset& group, DimensionLengths* lengths) {
  const Metadata& metadata = group.metadata;
  if (!metadata.extension() ||
      (!metadata.record_dimension() && metadata.extension()->unlimited.empty()))
    return;
  const NetcdfView view = netcdf_view(group);
  for (const NetcdfView::Variable& variable : view.variables)
    for (const std::uint32_t d : variable.dimensions) {
      const NetcdfView::Dimension& dimension = view.dimensions[d];
      if (!dimension.may_grow || dimension.path.empty()) continue;
      std::uint64_t& length = (*lengths)[dimension.path];
      length = std::max(length, dimension.length);
    }
}

Status add_dimension_lengths(const NetcdfView& view, const ForEachEntry& for_each,
                             const LoadEntry& load, DimensionLengths* lengths) {
  std::optional<std::string> top;
  for (const NetcdfView::Dimension& dimension : view.dimensions) {
    if (!dimension.may_grow || dimension.path.empty()) continue;
    const std::size_t slash = dimension.path.rfind('/');
    const std::string owner = slash > 0 && slash != std::string::npos
                                  ? dimension.path.substr(1, slash - 1)
                                  : std::string();
    if (!top || owner.size() < top->size()) top = owner;
  }
  if (!top) return {};
  return for_each(*top, [&](const BlockEntry& entry) -> Result<bool> {
    const bool is_below = top->empty() || entry.name == *top ||
                          (entry.name.starts_with(*top) && entry.name[top->size()] == '/');
    if (!is_below || entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) return true;
    NMB_ASSIGN(const std::shared_ptr<const Dataset> group, load(entry));
    add_dimension_lengths(*group, lengths);
    return true;
  });
}

}  // namespace nmb
