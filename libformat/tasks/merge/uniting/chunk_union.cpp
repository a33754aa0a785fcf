#include "merge/uniting/chunk_union.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <variant>

#include "convert/chunk_region.h"
#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/netcdf_marks.h"
#include "merge/uniting/chunk_jobs.h"
#include "merge/uniting/chunk_origins.h"
#include "model/classic.h"
#include "model/value_begin.h"
#include "netcdf/shared_dimensions.h"
#include "sources/value_source.h"
#include "values/chunk_filters.h"
#include "values/gathered_chunk.h"
#include "values/open_array.h"

namespace nmb {

namespace {

using hdf5::Property;

constexpr std::uint64_t kMostChunk = (std::uint64_t{1} << 32) - 1;

class ChunkUniter {
 public:
  ChunkUniter(const DatasetUnion& united, const Dataset& all,
              const std::vector<std::uint32_t>& levels, const CodingRules& coding,
              const std::shared_ptr<SpoolFile>& spool, bool without_values, ChunkPlan plan)
      : united_(united),
        all_(all),
        from_(all.metadata),
        levels_(levels),
        coding_(coding),
        spool_(spool),
        without_values_(without_values),
        plan_(std::move(plan)),
        united_values_(static_cast<std::uint32_t>(plan_.extents.size())),
        runs_(united_values_ + 1) {}

  Result<UnitedChunks> unite() {
    NMB_TRY(define());
    UnitedChunks out;
    NMB_ASSIGN(out.body, encode_extended_body(to_, 0));
    out.extent_length = end_;
    const std::string name = name_for_damage();
    std::vector<Source> sources = std::move(plan_.extents);
    sources.insert(sources.end(), {all_.extent, spool_});
    sources.insert(sources.end(), arrays_.begin(), arrays_.end());
    // No source may be nullptr. Therefore the spool file replaces sources without values.
    std::ranges::replace(sources, Source(), Source(spool_));
    out.extent = source_of(form::Spliced{std::move(sources), runs_.take(), end_, name});
    out.wanted = std::move(plan_.wanted);
    return out;
  }

 private:
  bool is_subset(std::uint32_t member) const { return united_.selected_of(member) != nullptr; }
  // Returns whether a part has copied chunks that cannot be decoded. Those of a subset have all
  // been decoded.
  bool is_damaged(const ChunkedPart& part) const {
    return part.is_alike && part.is_marked && !is_subset(part.box.member);
  }

  // Returns the file name that messages show for the united values. Only messages about chunks that
  // cannot be decoded show it, so it is the first input with such chunks. (A failed read shows its
  // own input.)
  std::string name_for_damage() const {
    for (const UnitedVariable& variable : plan_.variables)
      for (const ChunkedPart& part : variable.parts)
        if (const Source& extent = plan_.extents[part.box.member]; extent && is_damaged(part))
          return extent->name();
    return all_.extent->name();
  }

  // Defines the block, and stores the values of its variables in the order of definition.
  Status define() {
    const auto extension = std::make_shared<Extension>();
    to_.set_extension(extension);
    const std::vector<bool> is_left_out = dimensions_of_characters();
    std::vector<std::uint32_t> levels;
    for (DimId d = 0; d < from_.dimension_count(); ++d) {
      ids_.push_back(to_.dimension_count());
      if (is_left_out[d]) continue;
      const Dimension dimension = from_.dimension(d);
      const bool is_record = dimension.is_record();
      NMB_TRY(to_.def_dim(dimension.name, is_record ? all_.records : dimension.length).status());
      if (is_record || united_.grows(d)) extension->unlimited.push_back({ids_[d], false});
      levels.push_back(levels_[d]);
    }
    for (const std::string& name : united_.empty()) {
      if (from_.find_dimension(name)) continue;
      NMB_ASSIGN(const DimId d, to_.def_dim(name, 0));
      extension->unlimited.push_back({d, false});
    }
    properties_.push_back(dimensions_above(levels));
    for (const TypeTable& named : united_.named_types())
      NMB_TRY(extension->types.add_from(named, named.last()).status());
    NMB_TRY(define_attributes(kGlobal, &extension->types));
    if (united_.is_classic_model() && !to_.find_attribute(kGlobal, kClassicModel)) {
      const std::array<std::byte, 4> one{{{}, {}, {}, std::byte{1}}};
      NMB_TRY(to_.def_att(kGlobal, kClassicModel, Type::kInt, one));
    }
    for (VarId v = 0; v < from_.variable_count(); ++v) NMB_TRY(define_variable(v, *extension));
    std::ranges::sort(properties_, {}, hdf5::place_of);
    for (const Property& property : properties_) hdf5::append_property(property, &extension->hdf5);
    return to_.settle_names();
  }

  // Returns the dimensions that only count the bytes of values. The block has whole values.
  std::vector<bool> dimensions_of_characters() const {
    std::vector<bool> of_characters(from_.dimension_count()), is_used(from_.dimension_count());
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      const Variable variable = from_.variable(v);
      std::span<const DimId> dimensions = variable.dimensions;
      if (united_.own_of(v)) {
        of_characters[dimensions.back()] = true;
        dimensions = dimensions.first(dimensions.size() - 1);
      }
      for (const DimId d : dimensions) is_used[d] = true;
    }
    for (DimId d = 0; d < is_used.size(); ++d) of_characters[d] = of_characters[d] && !is_used[d];
    return of_characters;
  }

  Status define_variable(VarId id, Extension& extension) {
    const auto& storage = plan_.variables[id].storage;
    const auto* const chunking = std::get_if<Chunking>(&storage);
    const auto* const plain = std::get_if<PlainArray>(&storage);
    const StoredType* const stored = chunking ? &chunking->type : plain ? &plain->type : nullptr;
    const bool is_extended = stored && stored->extended;
    const Variable variable = from_.variable(id);
    Type type = variable.type;
    if (is_extended) NMB_ASSIGN(type, number_of(*stored->extended, &extension.types));
    std::vector<DimId> dimensions;
    for (const DimId d : variable.dimensions) dimensions.push_back(ids_[d]);
    const ClassicView::OwnValues* const own = united_.own_of(id);
    if (own) {
      dimensions.pop_back();
      NMB_ASSIGN(type, extension.types.add_from(own->types, own->types.last()));
    }
    const bool has_heap = own && own->has_heap();
    const std::uint64_t begin = chunking || has_heap ? region_begin(end_) : end_;
    NMB_TRY(to_.def_var(variable.name, type, dimensions).status());
    to_.set_begin(id, begin);
    NMB_TRY(define_attributes(id, &extension.types));
    if (has_heap) return store_heap(id, *own, begin, extension);

    std::uint64_t length = from_.slice_bytes(id).value_or(0);
    if (chunking) {
      const Result<std::uint64_t> region = store(id, *chunking, begin);
      if (!region.ok()) return of_variable(variable, region.status());
      length = *region;
      extension.storage.push_back(
          {id, StorageKind::kChunked, length, chunking->chunk, chunking->filters});
      if (own) extension.storage.back().chunk.pop_back();
    } else if (length > 0) {
      std::uint64_t at = begin;
      for (const PlainArray::MemberRun& run :
           plain ? plain->runs : std::vector<PlainArray::MemberRun>()) {
        if (run.length > 0) runs_.add({at, run.length, run.begin, run.member});
        at += run.length;
      }
      if (!plain)
        runs_.add({begin, length, from_.begin(id) - all_.layout.header_length, united_values_});
    }
    end_ = begin + length;
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    const bool has_own_fill = own && !std::ranges::all_of(own->fill, is_zero);
    if (!chunking && !has_own_fill && (!is_extended || length == 0)) return {};
    Property p;
    p.number = Property::Number::kCreation;
    p.owner = id;
    p.creation.fill_state = hdf5::FillState::kUser;
    p.creation.fill_value = stored ? stored->fill : own->fill;
    if (chunking && chunking->fill_state != hdf5::FillState::kUser) {
      p.creation.fill_state = chunking->fill_state;
      p.creation.fill_value.clear();
    }
    // netCDF-C 4.9 takes a stated fill value of strings of fixed length for a pointer, and crashes.
    if (own && own->type().type_class == TypeClass::kString &&
        std::ranges::all_of(p.creation.fill_value, is_zero)) {
      p.creation.fill_state = hdf5::FillState::kDefault;
      p.creation.fill_value.clear();
    }
    if (chunking) {
      p.creation.layout = hdf5::Layout::kChunked;
      p.creation.allocation = chunking->allocation;
      p.creation.fill_time = chunking->fill_time;
    }
    properties_.push_back(p);
    if (std::ranges::any_of(plan_.variables[id].parts,
                            [&](const ChunkedPart& part) { return is_damaged(part); })) {
      Property mark;
      mark.number = Property::Number::kDamagedChunks;
      mark.owner = id;
      properties_.push_back(mark);
    }
    return {};
  }

  // Stores values of variable length: their array, then the bytes to which they refer.
  Status store_heap(VarId id, const ClassicView::OwnValues& own, std::uint64_t begin,
                    Extension& extension) {
    NMB_ASSIGN(const Source array, contiguous_array(all_, id, {}, nullptr));
    const std::uint64_t bytes = own.heap.offset;
    if (bytes > 0)
      runs_.add({begin, bytes, 0, static_cast<std::uint32_t>(united_values_ + 2 + arrays_.size())});
    if (own.heap.length > 0)
      runs_.add({begin + bytes, own.heap.length, own.heap.begin, united_values_});
    arrays_.push_back(array);
    end_ = begin + bytes + own.heap.length;
    extension.storage.push_back({id, StorageKind::kHeap, bytes + own.heap.length, {}, {}});
    const auto* const stored = std::get_if<HeapStorage>(&plan_.variables[id].storage);
    if (!stored || stored->creation == hdf5::Creation()) return {};
    Property p;
    p.number = Property::Number::kCreation;
    p.owner = id;
    p.creation = stored->creation;
    properties_.push_back(p);
    return {};
  }

  // Returns the number of a type, which is added if `types` lacks it.
  static Result<Type> number_of(const ExtendedType& type, TypeTable* types) {
    for (std::size_t i = 0; i < types->size(); ++i)
      if ((*types)[i] == type)
        return static_cast<Type>(TypeTable::kFirst + static_cast<std::uint32_t>(i));
    return types->add(type);
  }

  Status define_attributes(VarId owner, TypeTable* types) {
    std::uint32_t number = 0;
    return from_.try_each_attribute(owner, [&](const Attribute& attribute) -> Status {
      const std::uint32_t here = number++;
      const AttributeForm* const form = united_.form_of(owner, attribute.name);
      if (united_.is_own(owner, attribute.name)) {
        NMB_ASSIGN(const OwnAttributeValues own, decode_own(attribute.values));
        NMB_ASSIGN(const Type type, types->add_from(own.types, own.types.last()));
        if (form && own.count == 1) make_scalar(owner, here);
        return to_.def_extended_att(owner, attribute.name, type, own.count, own.values);
      }
      if (form) {
        NMB_ASSIGN(const std::optional<FormedAttribute> kept, formed(*form, attribute, types));
        if (kept) {
          if (kept->is_scalar) make_scalar(owner, here);
          return to_.def_extended_att(owner, attribute.name, kept->type, kept->count, kept->values);
        }
      }
      return to_.def_att(owner, attribute.name, attribute.type, attribute.values);
    });
  }

  void make_scalar(VarId owner, std::uint32_t attribute) {
    Property p;
    p.number = Property::Number::kSpace;
    p.owner = owner;
    p.attribute = attribute;
    p.space.space_class = hdf5::SpaceClass::kScalar;
    properties_.push_back(std::move(p));
  }

  static Status of_variable(const Variable& variable, const Status& status) {
    if (status.code() == Code::kNoSpace) return status;
    return status.of_object("variable " + std::string(variable.name));
  }

  // Stores the values of a variable. Returns the length of the region.
  Result<std::uint64_t> store(VarId id, const Chunking& chunking, std::uint64_t begin) {
    const UnitedVariable& variable = plan_.variables[id];
    const ArrayForm& form = chunking.type.form;
    NMB_ASSIGN(const ChunkGrid grid,
               ChunkGrid::make(variable.lengths, chunking.chunk, form.size()));
    if (grid.chunk_bytes() > kMostChunk)
      return Status(Code::kLimit, "the united values have chunks of 4 GiB or more");
    if (grid.count() == 0) return std::uint64_t{0};
    if (without_values_) return store_nothing(grid, chunking, begin);
    NMB_ASSIGN(const ChunkOrigins origins, find_origins(variable, chunking, grid, plan_.extents));
    NMB_ASSIGN(const Source united_array, contiguous_array(all_, id, {}, nullptr));
    std::vector<std::byte> united_fill = chunking.type.fill;
    form.swap(&united_fill);
    const auto load = [&](std::uint64_t number) -> Result<std::vector<std::byte>> {
      if (const auto& copied = origins.copied[number]) {
        NMB_TRY(check_copied(*copied, chunking, grid, number));
        return std::vector<std::byte>();
      }
      const auto parts = origins.parts_of(number, grid);
      GatheredChunk chunk(grid, number, parts.empty() ? united_fill : chunking.type.fill);
      for (const auto& use : parts) NMB_TRY(chunk.add(origins.boxes[use.part]).status());
      if (parts.empty()) NMB_TRY(chunk.add(*united_array));
      std::vector<std::byte> values = chunk.take();
      if (parts.empty()) form.swap(&values);
      return values;
    };
    const auto find_stored = [&](std::uint64_t number) { return origins.copied[number]; };
    const auto is_encoded = [&](std::uint64_t number) { return !origins.copied[number]; };
    // Returns no bytes if this rank must encode the chunks.
    const auto job = [&](std::span<const std::uint64_t> numbers,
                         std::uint64_t most) -> Result<std::vector<std::byte>> {
      ChunkJobMaker maker(
          {grid.lengths(), grid.chunk(), form, chunking.filters, chunking.type.fill}, grid, most);
      for (const std::uint64_t number : numbers) {
        maker.add(number);
        for (const auto& use : origins.parts_of(number, grid)) {
          const ChunkedPart& part = variable.parts[use.part];
          NMB_TRY(
              maker.take_from(origins.boxes[use.part], {part.own->type.form, part.box.maps_fill}));
        }
      }
      return maker.finish(load);
    };
    std::uint64_t largest = 0;
    for (const auto& use : origins.uses)
      if (const BoxInChunks& box = origins.boxes[use.part]; box.table)
        largest = std::max(largest, box.grid.chunk_bytes());
    return store_chunks({grid, chunking.filters, load, largest, is_encoded, job}, find_stored,
                        coding_, *spool_, begin, &runs_);
  }

  // Stores a table of chunks that were never written.
  Result<std::uint64_t> store_nothing(const ChunkGrid& grid, const Chunking& chunking,
                                      std::uint64_t begin) {
    const auto load = [](std::uint64_t) -> Result<std::vector<std::byte>> {
      return std::vector<std::byte>();
    };
    return store_chunks(
        {grid, chunking.filters, load, 0, [](std::uint64_t) { return false; }, {}},
        [](std::uint64_t) { return std::optional(StoredChunk()); }, coding_, *spool_, begin,
        &runs_);
  }

  // Checks a stored chunk that is copied. A chunk of a subset is decoded, because its input was not
  // checked as a whole; for any other chunk, only a stored checksum is checked. number: the number
  // of the chunk in the united variable.
  Status check_copied(const StoredChunk& chunk, const Chunking& chunking, const ChunkGrid& grid,
                      std::uint64_t number) const {
    const bool decodes = is_subset(chunk.source);
    if (chunk.stored_length == 0 || !(decodes || has_sum(chunking.filters, chunk.filter_mask)))
      return {};
    const ByteSource& source = *plan_.extents[chunk.source];
    std::vector<std::byte> bytes(chunk.stored_length);
    NMB_TRY(source.read_at(chunk.offset, bytes));
    const Status checked = decodes
                               ? decode_chunk(chunking.filters, chunk.filter_mask, std::move(bytes),
                                              grid.chunk_bytes(), grid.value_size())
                                     .status()
                               : check_sums(chunking.filters, chunk.filter_mask, std::move(bytes),
                                            grid.chunk_bytes(), grid.value_size());
    if (checked.code() != Code::kDamaged) return checked;
    std::string at;
    for (const std::uint64_t index : grid.first_of(number))
      at += (at.empty() ? "" : ", ") + std::to_string(index);
    return Status(Code::kDamaged, source.name(), kNoOffset, checked.rule(),
                  "chunk at index " + at + " of the result: " + checked.message());
  }

  const DatasetUnion& united_;
  const Dataset& all_;
  const Metadata& from_;
  const std::vector<std::uint32_t>& levels_;
  const CodingRules& coding_;
  const std::shared_ptr<SpoolFile> spool_;
  const bool without_values_;
  ChunkPlan plan_;
  // The sources of the united extent are plan_.extents, all_.extent, *spool_ and arrays_, in this
  // order.
  const std::uint32_t united_values_;  // index of all_.extent
  Metadata to_;
  std::vector<DimId> ids_;  // for each dimension of the union: its number in the block
  std::uint64_t end_ = 0;   // length of the extent so far
  std::vector<Property> properties_;
  std::vector<Source> arrays_;  // of values of variable length; they follow the other sources
  ChunkRuns runs_;
};

}  // namespace

Result<std::optional<UnitedChunks>> unite_chunks(const DatasetUnion& united, const Dataset& all,
                                                 const std::vector<std::uint32_t>& levels,
                                                 const ChunkUnionOptions& options,
                                                 std::shared_ptr<SpoolFile>* spool) {
  NMB_ASSIGN(std::optional<ChunkPlan> plan,
             plan_chunks(united, all, options.compression, options.small_array, options.is_forced,
                         options.keeps_byte_order));
  if (!plan) return std::optional<UnitedChunks>();
  // The file is made when the first union needs it.
  if (!*spool) {
    NMB_ASSIGN(*spool, SpoolFile::create());
  }
  NMB_ASSIGN(UnitedChunks out, ChunkUniter(united, all, levels, options.coding, *spool,
                                           options.without_values, *std::move(plan))
                                   .unite());
  return std::optional(std::move(out));
}

}  // namespace nmb
