#include "netcdf/netcdf_view.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "hdf5_types/netcdf_marks.h"
#include "netcdf/group_order.h"
#include "netcdf/shared_dimensions.h"
#include "netcdf/shown_type.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Sets of a block's dimensions. All dimensions of a set are one dimension of netCDF.
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
  // Unites dimension `d` with the dimensions of the same key.
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
  ViewMaker(const Dataset& dataset, const DimensionLengths* lengths,
            std::optional<std::int64_t> first_made_up)
      : dataset_(dataset),
        metadata_(dataset.metadata),
        lengths_(lengths),
        first_made_up_(first_made_up),
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
      const std::string_view name =
          view_.is_netcdf ? netcdf_name(metadata_, v) : metadata_.variable(v).name;
      view_.variables.push_back({v, std::string(name), {}});
    }
    if (view_.is_netcdf)
      for (VarId v = 0; v < metadata_.variable_count(); ++v) place(v);
    name_dimensions();
    return std::move(view_);
  }
  // made_up(): number of dimensions that netCDF-C makes up. chooses(): whether netCDF-C chooses a
  // dimension by its length. Call these functions after make().
  std::int64_t made_up() const { return made_up_; }
  bool chooses() const { return chooses_; }

 private:
  // The properties of a netCDF dimension, stored for the first dimension of its set.
  struct DimensionProperties {
    std::optional<std::int64_t> id;
    std::string path;
    std::optional<VarId> scale;
  };

  void find_marks() {
    view_.is_scale.resize(metadata_.variable_count());
    view_.is_united = is_classic_dataset(metadata_);
    view_.is_netcdf =
        metadata_.find_attribute(kGlobal, "_NCProperties").has_value() ||
        (!view_.is_united && metadata_.find_attribute(kGlobal, kClassicModel).has_value());
    for (VarId v = 0; v < metadata_.variable_count(); ++v) {
      view_.is_scale[v] = is_dimension_scale(metadata_, v);
      const std::optional<Attribute> list = metadata_.find_attribute(v, kList);
      if (view_.is_scale[v] || metadata_.find_attribute(v, kDimensionId) ||
          metadata_.find_attribute(v, kCoordinates) || (list && is_list(metadata_, *list)))
        view_.is_netcdf = true;
    }
  }

  // Unites each dimension of a variable with the dimension that the variable's marks identify for
  // the same axis.
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
    // netCDF-C takes a variable to have scales only if its first axis has one.
    if (first_made_up_ && !view_.is_scale[v] && ids.empty() && paths[0].empty()) {
      if (std::ranges::any_of(paths, [](const std::string& path) { return !path.empty(); }))
        ignores_scales_.insert(v);
      return;
    }
    for (std::size_t i = 0; i < rank; ++i) {
      is_marked_[v][i] = !ids.empty() || !paths[i].empty() || (i == 0 && view_.is_scale[v]);
      if (!ids.empty()) sets_.unite_by(&by_id_, ids[i], variable.dimensions[i]);
      if (!paths[i].empty()) sets_.unite_by(&by_path_, paths[i], variable.dimensions[i]);
    }
  }

  std::string own_path(std::string_view variable) const {
    // A root block has no name, or is a dataset that was opened from a file.
    const bool is_root =
        dataset_.name.empty() || (dataset_.extent && dataset_.name == dataset_.extent->name());
    return joined_text(is_root ? "/" : "/" + dataset_.name + "/", variable);
  }

  std::uint64_t length(DimId d) const {
    return metadata_.dimension(d).is_record() ? dataset_.records : metadata_.dimension(d).length;
  }

  // Splits a set of fixed dimensions whose lengths differ. For each dimension, returns the first
  // dimension of its set.
  std::vector<DimId> first_of_sets(std::vector<DimensionProperties>* properties) {
    const std::uint32_t count = metadata_.dimension_count();
    std::vector<DimId> first(count);
    std::vector<bool> grows(count), differ(count);
    for (DimId d = 0; d < count; ++d) {
      first[d] = sets_.find(d);
      const std::optional<VarId> scale = (*properties)[first[d]].scale;
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
      const std::optional<VarId> scale = (*properties)[set].scale;
      if (scale && metadata_.variable(*scale).dimensions[0] == d)
        std::swap((*properties)[d], (*properties)[set]);
    }
    return first;
  }

  // Like netCDF-C, gives each scale without a number the number after the largest earlier number.
  // Returns the number after the numbers of all scales.
  std::int64_t count_unnumbered(std::vector<DimensionProperties>* properties) {
    std::int64_t next = 0;
    for (VarId v = 0; v < view_.is_scale.size(); ++v) {
      if (!view_.is_scale[v] || metadata_.variable(v).dimensions.empty()) continue;
      const std::vector<std::int64_t> own = integers(metadata_, v, kDimensionId, 1);
      const std::int64_t id = own.empty() || own.front() < 0 ? next : own.front();
      next = std::max(next, id + 1);
      if (own.empty() || own.front() < 0)
        (*properties)[sets_.find(metadata_.variable(v).dimensions[0])].id = id;
    }
    return next;
  }

  // Returns whether a dimension of the block was made up for axes that have no scale.
  bool is_phony(DimId d) const {
    return may_have_phony_ && is_made_up(metadata_.dimension(d).name);
  }
  bool is_phony(VarId v, std::size_t place) const {
    return ignores_scales_.contains(v) || (is_phony(metadata_.variable(v).dimensions[place]) &&
                                           (is_marked_[v].empty() || !is_marked_[v][place]));
  }

  // Gives each axis without a scale a dimension that has the axis's length and that may grow if and
  // only if the axis may. Takes the first such dimension that the variable does not use yet, or
  // makes a new one. of_scales: the view's dimension for each scale. next: the number of the first
  // new dimension.
  void add_phony(const std::map<VarId, std::uint32_t>& of_scales, std::int64_t next,
                 std::set<std::string>* taken) {
    using Shape = std::pair<std::uint64_t, bool>;
    std::map<Shape, std::vector<std::uint32_t>> known;
    // netCDF-C treats every dimension of length 0 as unlimited, but an axis of fixed length 0 as
    // fixed.
    const auto add_known = [&](Shape shape, std::size_t number) {
      if (first_made_up_ && shape.first == 0) shape.second = true;
      known[shape].push_back(static_cast<std::uint32_t>(number));
    };
    for (const auto& [scale, number] : of_scales) {
      const DimId d = metadata_.variable(scale).dimensions[0];
      add_known({length(d), may_grow_[d]}, number);
    }
    const auto add_to = [&](NetcdfView::Variable* variable) {
      const Variable v = metadata_.variable(variable->id);
      std::set<std::uint32_t> used;  // dimensions that axes with scales use
      for (std::size_t i = 0; i < v.dimensions.size(); ++i)
        if (!is_phony(variable->id, i)) used.insert(variable->dimensions[i]);
      std::map<Shape, std::size_t> tried;
      for (std::size_t i = 0; i < v.dimensions.size(); ++i) {
        if (!is_phony(variable->id, i)) continue;
        chooses_ = true;
        const DimId d = v.dimensions[i];
        const Shape shape(length(d), may_grow_[d]);
        const std::vector<std::uint32_t>& numbers = known[shape];
        std::size_t& at = tried[shape];
        while (at < numbers.size() && used.contains(numbers[at])) ++at;
        variable->dimensions[i] = static_cast<std::uint32_t>(view_.dimensions.size());
        if (at < numbers.size()) {
          variable->dimensions[i] = numbers[at++];
        } else {
          const std::string base = joined_text("phony_dim_", next++);
          std::string name = base;
          for (unsigned n = 2; !taken->insert(name).second; ++n) name = joined_text(base, "_", n);
          used.insert(variable->dimensions[i]);
          add_known(shape, view_.dimensions.size());
          view_.dimensions.push_back({std::move(name), shape.first, shape.second, {}, true});
        }
      }
    };
    const std::size_t before = view_.dimensions.size();
    for (const bool is_shown : {true, false}) {
      for (NetcdfView::Variable& variable : view_.variables)
        if (is_shown == shows(metadata_.variable(variable.id).type)) add_to(&variable);
      if (is_shown) made_up_ = static_cast<std::int64_t>(view_.dimensions.size() - before);
    }
  }

  bool shows(Type code) const {
    if (!TypeTable::is_extended(code)) return true;
    const ExtendedType& type = metadata_.extension()->types.at(code);
    return is_shown_by_netcdf(type, !type.name.empty() && !type.name.starts_with("//"));
  }

  void name_dimensions() {
    const std::uint32_t count = metadata_.dimension_count();
    std::vector<DimensionProperties> properties(count);
    for (const auto& [id, d] : by_id_) {
      DimensionProperties& of = properties[sets_.find(d)];
      if (!of.id) of.id = id;
    }
    for (const auto& [path, d] : by_path_) properties[sets_.find(d)].path = path;
    for (VarId v = 0; v < view_.is_scale.size(); ++v)
      if (view_.is_scale[v] && !metadata_.variable(v).dimensions.empty())
        properties[sets_.find(metadata_.variable(v).dimensions[0])].scale = v;
    const std::int64_t next = count_unnumbered(&properties);
    const std::vector<DimId> first = first_of_sets(&properties);

    // Dimensions that no axis with a scale uses are numbered later.
    std::vector<bool> is_named(count);
    std::vector<bool> is_used(
        count,
        ignores_scales_
            .empty());  // whether a variable uses the dimension under the dimension's own name
    for (VarId v = 0; v < metadata_.variable_count(); ++v)
      if (!ignores_scales_.contains(v))
        for (const DimId d : metadata_.variable(v).dimensions) is_used[d] = true;
    for (DimId d = 0; d < count; ++d)
      if (!is_phony(d) && is_used[d]) is_named[first[d]] = true;
    for (VarId v = 0; v < metadata_.variable_count(); ++v)
      for (std::size_t i = 0; i < is_marked_[v].size(); ++i)
        if (is_marked_[v][i]) is_named[first[metadata_.variable(v).dimensions[i]]] = true;
    std::vector<DimId> order;
    for (DimId d = 0; d < count; ++d)
      if (first[d] == d && is_named[d]) order.push_back(d);
    std::stable_sort(order.begin(), order.end(), [&](DimId a, DimId b) {
      const std::optional<std::int64_t>&x = properties[a].id, &y = properties[b].id;
      return x && y ? *x < *y : x.has_value() && !y.has_value();
    });
    std::vector<std::uint32_t> number(count);
    std::set<std::string> taken;
    std::map<VarId, std::uint32_t> of_scales;
    for (const DimId d : order) {
      number[d] = static_cast<std::uint32_t>(view_.dimensions.size());
      const std::string own(metadata_.dimension(d).name);
      std::string name = properties[d].scale
                             ? std::string(metadata_.variable(*properties[d].scale).name)
                         : !properties[d].path.empty() ? last_part(properties[d].path)
                                                       : own;
      for (unsigned n = 2; name.empty() || taken.contains(name); ++n)
        name = n == 2 ? own : joined_text(own, "_", n - 1);
      taken.insert(name);
      if (properties[d].scale) of_scales.emplace(*properties[d].scale, number[d]);
      const bool is_shared = view_.is_netcdf && grows_[d];
      view_.dimensions.push_back(
          {std::move(name), is_shared ? 0 : length(d), grows_[d], std::move(properties[d].path)});
    }
    for (NetcdfView::Variable& variable : view_.variables)
      for (const DimId d : metadata_.variable(variable.id).dimensions)
        variable.dimensions.push_back(number[first[d]]);
    if (may_have_phony_) add_phony(of_scales, first_made_up_.value_or(next), &taken);
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
  const std::optional<std::int64_t> first_made_up_;  // first number of made-up dimensions; nullopt
                                                     // if the group is numbered separately
  std::int64_t made_up_ = 0;
  bool chooses_ = false;
  NetcdfView view_;
  DimensionSets sets_;
  std::map<std::int64_t, DimId> by_id_;
  std::map<std::string, DimId> by_path_;
  std::vector<bool> may_grow_;  // whether each dimension of the block may grow
  std::vector<bool> grows_;     // whether each set may grow, stored for its first dimension
  const bool may_have_phony_;   // whether the block may have dimensions without a name in the file
  // For each variable, whether the dimension of each axis is marked. The inner list is empty if no
  // axis is marked.
  std::vector<std::vector<bool>> is_marked_;
  std::set<VarId> ignores_scales_;  // variables whose scales netCDF-C ignores
};

}  // namespace

bool NetcdfView::hides(VarId owner, std::string_view attribute) const {
  if (attribute == kClassicModel) return is_netcdf || is_united;
  if (!is_netcdf) return false;
  constexpr std::string_view kBooks[] = {"_NCProperties", kDimensionId, kCoordinates};
  if (std::find(std::begin(kBooks), std::end(kBooks), attribute) != std::end(kBooks)) return true;
  if (owner == kGlobal) return false;
  if (attribute == kList || attribute == "REFERENCE_LIST") return true;
  return is_scale[owner] && (attribute == "CLASS" || attribute == "NAME");
}

NetcdfView netcdf_view(const Dataset& dataset, const DimensionLengths* lengths,
                       std::optional<std::int64_t> first_made_up) {
  return ViewMaker(dataset, lengths, first_made_up).make();
}

std::string_view netcdf_name(const Metadata& metadata, VarId variable) {
  std::string_view name = metadata.variable(variable).name;
  if (metadata.extension() && name.starts_with(kNonCoordinate) &&
      name.size() > kNonCoordinate.size())
    name.remove_prefix(kNonCoordinate.size());
  return name;
}

std::string stored_as_no_coordinate(std::string_view name) {
  return joined_text(kNonCoordinate, name);
}

std::optional<VarId> find_netcdf_variable(const Metadata& metadata, std::string_view name) {
  std::optional<VarId> id;
  if (metadata.extension()) id = metadata.find_variable(stored_as_no_coordinate(name));
  if (!id) id = metadata.find_variable(name);
  return id && !is_dimension_only(metadata, *id) ? id : std::nullopt;
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

MadeUpNumbers::MadeUpNumbers() : tree_(std::make_unique<hdf5::GroupTree>()) {}
MadeUpNumbers::~MadeUpNumbers() = default;

Status MadeUpNumbers::add(const Dataset& group) {
  NMB_TRY(tree_->add(group));
  const Metadata& metadata = group.metadata;
  if (!metadata.extension()) return {};
  Group found;
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    if (metadata.variable(v).dimensions.empty() || !is_dimension_scale(metadata, v)) continue;
    const std::vector<std::int64_t> id = integers(metadata, v, kDimensionId, 1);
    found.scales.push_back(id.empty() ? -1 : id.front());
  }
  ViewMaker maker(group, nullptr, 0);
  maker.make();
  found.made_up = maker.made_up();
  groups_[group.name] = std::move(found);
  return {};
}

MadeUpNumbers::First MadeUpNumbers::first() const {
  const std::vector<std::string> order = tree_->in_order();
  std::int64_t next = 0;
  for (const std::string& name : order)
    if (const auto group = groups_.find(name); group != groups_.end())
      for (const std::int64_t id : group->second.scales)
        next = std::max(next, (id < 0 ? next : id) + 1);
  // Made-up dimensions are numbered after all scales of the file. The groups below a group are
  // numbered before the group.
  First numbers;
  const auto count = [&](const std::string& name) {
    const auto group = groups_.find(name);
    if (group == groups_.end()) return;
    numbers.emplace(name, next);
    next += group->second.made_up;
  };
  std::vector<const std::string*> open;  // a group and the groups above it
  for (const std::string& name : order) {
    while (!open.empty() && !hdf5::is_at_or_below(name, *open.back())) {
      count(*open.back());
      open.pop_back();
    }
    open.push_back(&name);
  }
  for (; !open.empty(); open.pop_back()) count(*open.back());
  return numbers;
}

namespace {

// Visits all blocks from HDF5 that are at or below the block `top`.
Status for_each_group(const FileBlocks& blocks, const std::string& top,
                      const std::function<Status(const Dataset&)>& visit) {
  return blocks.for_each_entry(top, [&](const BlockEntry& entry) -> Result<bool> {
    if (!hdf5::is_at_or_below(entry.name, top) ||
        entry.kind != static_cast<std::uint16_t>(Kind::kExtended))
      return true;
    NMB_ASSIGN(const std::shared_ptr<const Dataset> group, blocks.dataset(entry));
    NMB_TRY(visit(*group));
    return true;
  });
}

}  // namespace

// Returns the uppermost block above `block`, or `block` if there is none.
Result<std::string> FileDimensionsReader::source_of(const std::string& block) const {
  for (std::size_t end = 0; end < block.size();
       end = std::min(block.find('/', end + 1), block.size())) {
    NMB_ASSIGN(const std::optional<BlockEntry> above, blocks_.find(block.substr(0, end)));
    if (above) return block.substr(0, end);
  }
  return block;
}

Result<FileDimensions> FileDimensionsReader::of(const Dataset& block, MadeUpNames names) {
  FileDimensions found;
  if (!block.metadata.extension()) return found;
  ViewMaker maker(block, nullptr, 0);
  const NetcdfView view = maker.make();
  std::optional<std::string> top;  // uppermost block that defines a dimension that may grow
  for (const NetcdfView::Dimension& dimension : view.dimensions) {
    if (!dimension.may_grow || dimension.path.empty()) continue;
    const std::size_t slash = dimension.path.rfind('/');
    const std::string owner = slash > 0 && slash != std::string::npos
                                  ? dimension.path.substr(1, slash - 1)
                                  : std::string();
    if (!top || owner.size() < top->size()) top = owner;
  }
  if (top)
    NMB_TRY(for_each_group(blocks_, *top, [&](const Dataset& group) -> Status {
      add_dimension_lengths(group, &found.lengths);
      return {};
    }));
  if (!maker.chooses() || names == MadeUpNames::kOfNoMatter) return found;
  found.first_made_up = 0;
  if (maker.made_up() == 0) return found;
  NMB_ASSIGN(const std::string source, source_of(block.name));
  auto known = numbers_.find(source);
  if (known == numbers_.end()) {
    MadeUpNumbers numbers;
    NMB_TRY(
        for_each_group(blocks_, source, [&](const Dataset& group) { return numbers.add(group); }));
    known = numbers_.emplace(source, numbers.first()).first;
  }
  const auto own = known->second.find(block.name);
  if (own != known->second.end()) found.first_made_up = own->second;
  return found;
}

}  // namespace nmb
