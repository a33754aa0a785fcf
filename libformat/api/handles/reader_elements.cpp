// Reads elements of any type through the handles of a Reader (see nmb/reader.h).
#include <algorithm>
#include <map>
#include <utility>

#include "dump/group_walk.h"
#include "handles/handle_parts.h"
#include "handles/link_follower.h"
#include "handles/reader_state.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"
#include "nmb/reader.h"
#include "values/stored_type.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

const TypeTable* types_of(const Metadata& metadata) {
  return metadata.extension() ? &metadata.extension()->types : nullptr;
}

// Resizes *bytes for `count` elements of a type.
Status make_room(const DataType& type, std::uint64_t count, std::vector<std::byte>* bytes) {
  std::uint64_t size = 0;
  if (checked_mul(count, type.size, &size)) {
    try {
      bytes->resize(size);
      return {};
    } catch (const std::exception&) {  // std::bad_alloc or std::length_error
    }
  }
  return failure(Code::kLimit, count, " elements of type ", type.text(), " do not fit in memory");
}

}  // namespace

Result<std::shared_ptr<BlockElements>> ReaderState::elements(
    const std::shared_ptr<const Dataset>& dataset) const {
  constexpr std::size_t kKept = 8;
  constexpr std::uint64_t kCache = 64 << 20;
  const auto is_it = [&](const auto& held) { return &held->dataset() == dataset.get(); };
  {
    const std::scoped_lock lock(mutex_);
    if (!chunks_) chunks_ = std::make_shared<ChunkCache>(kCache);
    const auto found = std::ranges::find_if(elements_, is_it);
    if (found != elements_.end()) {
      elements_.splice(elements_.begin(), elements_, found);
      return elements_.front();
    }
  }
  NMB_ASSIGN(std::shared_ptr<BlockElements> made, BlockElements::of(dataset, chunks_));
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(elements_, is_it);
  if (found != elements_.end()) return *found;
  elements_.push_front(made);
  if (elements_.size() > kKept) elements_.pop_back();
  return made;
}

Result<FileDimensions> ReaderState::dimensions(const Dataset& dataset) const {
  if (!dataset.metadata.extension()) return FileDimensions();
  const std::scoped_lock lock(dimensions_mutex_);
  if (!dimensions_) dimensions_.emplace(file.blocks());
  return dimensions_->of(dataset);
}

// --- attributes ---

Result<DataType> AttView::try_datatype() const {
  NMB_TRY(check_handle(dataset_));
  const Metadata& metadata = dataset_->metadata;
  NMB_ASSIGN(const ElementForm form,
             ElementForm::of(types_of(metadata), metadata.find_attribute(owner_, name_)->type));
  return form.type();
}

Result<Elements> AttView::try_elements() const {
  NMB_ASSIGN(const DataType type, try_datatype());
  Elements out;
  NMB_TRY(make_room(type, count_, &out.values));
  const Metadata& metadata = dataset_->metadata;
  NMB_TRY(read_attribute(metadata, *metadata.find_attribute(owner_, name_), out.values, &out.heap)
              .of_object(joined_text("block \"", dataset_->name, "\": attribute \"", name_, "\"")));
  return out;
}

// --- variables ---

Result<DataType> VarView::try_datatype() const {
  NMB_TRY(check_handle(dataset_));
  const Metadata& metadata = dataset_->metadata;
  NMB_ASSIGN(const ElementForm form,
             ElementForm::of(types_of(metadata), metadata.variable(id_).type));
  return form.type();
}

Result<std::string> VarView::try_type_name() const {
  NMB_TRY(check_handle(dataset_));
  const Type code = dataset_->metadata.variable(id_).type;
  if (!TypeTable::is_extended(code)) return std::string();
  const TypeTable& types = dataset_->metadata.extension()->types;
  if (const std::string& own = types.at(code).name; !own.empty()) return own;
  const Digest digest = type_digests(types)[static_cast<std::uint32_t>(code) - TypeTable::kFirst];
  std::string_view group = dataset_->name;
  std::shared_ptr<const Dataset> dataset = dataset_;
  for (;;) {
    TypeNames names;
    if (dataset) NMB_TRY(add_names_of_types(*dataset, &names));
    if (std::optional<std::string> found = names.find(digest)) return *std::move(found);
    if (group.empty()) return std::string();
    const std::size_t slash = group.rfind('/');
    group = slash == std::string_view::npos ? std::string_view() : group.substr(0, slash);
    NMB_ASSIGN(const std::optional<BlockEntry> entry, file_->file.find(group));
    dataset.reset();
    if (entry) NMB_ASSIGN(dataset, file_->file.dataset(*entry));
  }
}

Result<Elements> VarView::try_elements() const {
  NMB_ASSIGN(const Hyperslab slab, try_whole());
  return try_elements(slab);
}

Result<Elements> VarView::try_elements(const Hyperslab& slab) const {
  NMB_ASSIGN(const std::uint64_t count, try_count(slab));
  NMB_ASSIGN(const DataType type, try_datatype());
  Elements out;
  NMB_TRY(make_room(type, count, &out.values).in_file(file_->path()));
  NMB_TRY(try_read_elements(slab, out.values, &out.heap));
  return out;
}

Status VarView::try_read_elements(const Hyperslab& slab, std::span<std::byte> out,
                                  std::vector<std::byte>* heap) const {
  NMB_TRY(check_handle(dataset_));
  const auto read = [&]() -> Status {
    NMB_ASSIGN(const std::shared_ptr<BlockElements> elements, file_->elements(dataset_));
    return elements->read(id_, slab, out, heap);
  };
  return read().in_file(file_->path());
}

Result<FillValue> VarView::try_fill_value() const {
  NMB_TRY(check_handle(dataset_));
  NMB_ASSIGN(const std::shared_ptr<BlockElements> elements, file_->elements(dataset_));
  NMB_ASSIGN(auto fill, elements->fill(id_));
  FillValue out;
  out.element = std::move(fill.first);
  switch (fill.second) {
    case FillOrigin::kAttribute:
      out.from = FillValue::From::kAttribute;
      break;
    case FillOrigin::kSet:
      out.from = FillValue::From::kSet;
      break;
    case FillOrigin::kDefault:
      out.from = FillValue::From::kDefault;
      break;
  }
  return out;
}

Result<StoredValues> VarView::try_stored() const {
  NMB_TRY(check_handle(dataset_));
  const Metadata& metadata = dataset_->metadata;
  StoredValues out;
  const Extension* const extension = metadata.extension().get();
  if (!extension) return out;
  const Type type = metadata.variable(id_).type;
  if (TypeTable::is_extended(type))
    out.is_little_endian = extension->types.at(type).order == ByteOrder::kLittle;
  if (const Storage* const storage = extension->storage_of(id_)) {
    out.chunk = storage->chunk;
    for (const Filter& filter : storage->filters)
      out.filters.push_back({filter.id, filter.name, filter.parameters});
  }
  NMB_ASSIGN(const std::shared_ptr<BlockElements> elements, file_->elements(dataset_));
  out.is_null = elements->is_null(id_);
  if (const hdf5::Creation* const creation = elements->creation(id_);
      creation && out.chunk.empty()) {
    out.chunk = creation->chunk;
    for (const Filter& filter : creation->filters)
      out.filters.push_back({filter.id, filter.name, filter.parameters});
  }
  return out;
}

// --- blocks ---

bool BlockView::is_classic() const {
  check(check_handle(entry_));
  return entry_->kind != static_cast<std::uint16_t>(Kind::kExtended);
}

namespace {

// A block as netCDF shows it, before links add other names.
struct NetcdfBlock {
  NetcdfBlock(std::shared_ptr<const Dataset> dataset_of, const FileDimensions& dimensions)
      : dataset(std::move(dataset_of)),
        view(netcdf_view(*dataset, &dimensions.lengths, dimensions.first_made_up)),
        shapes(ReaderState::shapes(*dataset)) {}

  std::vector<AttView> atts(VarId owner) const {
    std::vector<AttView> out;
    const auto known = shapes.find(owner);
    const AttributeShapes none;
    dataset->metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
      if (!view.hides(owner, attribute.name))
        out.push_back(ReaderState::view(dataset, owner, attribute,
                                        known == shapes.end() ? none : known->second));
    });
    return out;
  }

  std::shared_ptr<const Dataset> dataset;
  NetcdfView view;
  std::map<VarId, AttributeShapes> shapes;  // of owners that have some
};

// Adds variables and blocks under the names that links of a block give them.
class OtherNamesShown {
 public:
  OtherNamesShown(const ReaderState& file, const NetcdfBlock& block, ShownBlock* shown)
      : file_(file), follower_(file.file), block_(block), shown_(*shown) {
    for (std::size_t i = 0; i < shown_.dims.size(); ++i) places_.emplace(shown_.dims[i].name, i);
  }

  Status add() {
    const Dataset& dataset = *block_.dataset;
    NMB_ASSIGN(const std::vector<hdf5::Link> links, LinkFollower::other_names(dataset.metadata));
    for (const hdf5::Link& link : links) {
      NMB_ASSIGN(const std::optional<LinkFollower::Target> target,
                 follower_.follow(dataset.name, link.name));
      if (!target) continue;
      if (!target->variable)
        shown_.other_blocks.push_back({link.name, target->block.name});
      else if (target->block.name == dataset.name)
        NMB_TRY(add_variable(link.name, block_, *target->variable));
      else
        NMB_TRY(add_of_other(link.name, *target));
    }
    return {};
  }

 private:
  Status add_of_other(const std::string& name, const LinkFollower::Target& target) {
    auto other = others_.find(target.block.name);
    if (other == others_.end()) {
      NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_.file.dataset(target.block));
      NMB_ASSIGN(const FileDimensions dimensions, file_.dimensions(*dataset));
      other = others_.emplace(target.block.name, NetcdfBlock(dataset, dimensions)).first;
    }
    return add_variable(name, other->second, *target.variable);
  }

  Status add_variable(const std::string& name, const NetcdfBlock& block, VarId id) {
    const NetcdfView& view = block.view;
    const auto shown = std::ranges::lower_bound(view.variables, id, {}, &NetcdfView::Variable::id);
    if (shown == view.variables.end() || shown->id != id)
      return {};  // netCDF shows it only as a dimension
    name_dimension(name, block, *shown);
    std::vector<std::uint32_t> dims;
    for (const std::uint32_t d : shown->dimensions) {
      NetcdfView::Dimension dimension = view.dimensions[d];
      // Each name of a dimension scale is a dimension for netCDF.
      if (view.is_scale[id] && dimension.name == shown->name) dimension.name = name;
      dims.push_back(place_of(dimension));
    }
    std::vector<AttView> atts = block.atts(id);
    constexpr std::size_t kMostCopied = 10'000'000;
    copied_ += 1 + dims.size() + atts.size();
    if (copied_ > kMostCopied)
      return Status(Code::kLimit, file_.path(), kNoOffset, "",
                    "found too many names of variables with many attributes");
    shown_.vars.push_back({file_.view(block.dataset, id), name, std::move(dims), std::move(atts)});
    return {};
  }

  // The variables of the block that use a dimension of another block call it by the first name that
  // the block itself has for its scale.
  void name_dimension(const std::string& name, const NetcdfBlock& from,
                      const NetcdfView::Variable& scale) {
    if (&from == &block_ || !from.view.is_scale[scale.id] || places_.contains(name)) return;
    const auto own =
        std::ranges::find(from.view.dimensions, scale.name,
                          [](const NetcdfView::Dimension& dimension) { return dimension.name; });
    if (own == from.view.dimensions.end()) return;
    const auto& all = block_.view.dimensions;
    const auto used = std::ranges::find(all, own->path, &NetcdfView::Dimension::path);
    if (used == all.end()) return;
    const auto place = static_cast<std::size_t>(used - all.begin());
    const auto known = places_.find(shown_.dims[place].name);
    if (shown_.dims[place].name != used->name || known == places_.end()) return;
    places_.erase(known);
    shown_.dims[place].name = name;
    places_.emplace(name, place);
  }

  // Names of dimensions are unique in a block, so a dimension of another block gets its path as its
  // name if the block has another dimension of the same name.
  std::uint32_t place_of(NetcdfView::Dimension dimension) {
    auto known = places_.find(dimension.name);
    if (known != places_.end() && shown_.dims[known->second].length != dimension.length) {
      dimension.name = dimension.path;
      known = places_.find(dimension.name);
    }
    if (known == places_.end()) {
      known = places_.emplace(dimension.name, shown_.dims.size()).first;
      shown_.dims.push_back({dimension.name, dimension.length, false, dimension.may_grow});
    }
    return static_cast<std::uint32_t>(known->second);
  }

  const ReaderState& file_;
  LinkFollower follower_;
  const NetcdfBlock& block_;
  ShownBlock& shown_;
  std::map<std::string, std::size_t> places_;  // in shown_.dims
  std::map<std::string, NetcdfBlock> others_;  // by name of the block
  std::size_t copied_ = 0;                     // attributes and dimensions so far
};

}  // namespace

Result<ShownBlock> BlockView::try_shown() const {
  NMB_TRY(check_handle(entry_));
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_->file.dataset(*entry_));
  NMB_ASSIGN(const FileDimensions dimensions, file_->dimensions(*dataset));
  const NetcdfBlock block(dataset, dimensions);
  ShownBlock out;
  for (const NetcdfView::Dimension& dimension : block.view.dimensions)
    out.dims.push_back({dimension.name, dimension.length, false, dimension.may_grow});
  if (const auto record = dataset->metadata.record_dimension())
    for (DimView& dimension : out.dims)
      dimension.is_record = dimension.name == dataset->metadata.dimension(*record).name;
  for (const NetcdfView::Variable& variable : block.view.variables)
    out.vars.push_back({file_->view(dataset, variable.id), variable.name, variable.dimensions,
                        block.atts(variable.id)});
  out.atts = block.atts(kGlobal);
  NMB_TRY(OtherNamesShown(*file_, block, &out).add());
  return out;
}

}  // namespace nmb
