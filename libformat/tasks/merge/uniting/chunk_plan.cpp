#include "merge/uniting/chunk_plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "client/decode_group.h"
#include "netcdf/netcdf_view.h"
#include "sources/laid_values.h"
#include "sources/late_values.h"
#include "sources/selected_values.h"
#include "sources/value_source.h"
#include "values/chunk_filters.h"
#include "values/chunk_grid.h"
#include "values/open_array.h"
#include "wire/codecs.h"

namespace nmb {

namespace {

using hdf5::Property;

// Returns the late values from which a subset selects its values, or nullptr.
const LateValues* view_below(const ByteSource* source) {
  if (const auto* held = form_of<form::Held>(source)) return view_below(held->base.get());
  if (const auto* selected = form_of<std::shared_ptr<const SelectedValues>>(source))
    return view_below((*selected)->source.get());
  // The first source has the values; the others have bytes to which the values refer.
  if (const auto* spliced = form_of<form::Spliced>(source))
    return view_below(spliced->sources.front().get());
  const auto* const laid = form_of<std::shared_ptr<const LaidValues>>(source);
  if (!laid) return view_in(source);
  for (const auto* slices : {&(*laid)->fixed, &(*laid)->record})
    for (const LaidSlice& slice : *slices)
      for (const LaidPart& part : slice.parts)
        if (const LateValues* view = view_below(part.source.get())) return view;
  return nullptr;
}

// Returns the block of kind 6 that supplies the values of a dataset. Returns nullptr if the values
// have another source.
Result<std::shared_ptr<const LoadedBlock>> block_of(const DatasetUnion& united,
                                                    std::uint32_t member, const Source& values) {
  const LateValues* const view =
      united.selected_of(member) ? view_below(values.get()) : view_in(values.get());
  if (!view) return std::shared_ptr<const LoadedBlock>();
  const auto origin = std::get<ViewOrigin>(view->opener().origin());
  return hdf5::decode_group(origin.block, *origin.body, origin.extent, view->name());
}

// Returns a type with little-endian values. type: a type of numbers that CDF-5 has.
ExtendedType little_endian(Type type) {
  ExtendedType out;
  out.size = type_size(type);
  out.precision = static_cast<std::uint32_t>(out.size * 8);
  out.is_signed =
      type == Type::kByte || type == Type::kShort || type == Type::kInt || type == Type::kInt64;
  if (type != Type::kFloat && type != Type::kDouble) return out;
  const bool is_double = type == Type::kDouble;
  out.type_class = TypeClass::kFloat;
  out.normalization = Normalization::kImplied;
  out.sign_position = out.precision - 1;
  out.exponent_size = is_double ? 11 : 8;
  out.mantissa_size = out.exponent_position = is_double ? 52 : 23;
  out.exponent_bias = is_double ? 1023 : 127;
  return out;
}

// Returns the definition of a type without its name, or nullopt for a type of CDF-5.
std::optional<ExtendedType> extended_type(const TypeTable& types, Type type) {
  if (!TypeTable::is_extended(type)) return std::nullopt;
  ExtendedType out = types.at(type);
  out.name.clear();
  return out;
}

Chunking chunking_of(const Storage& storage, StoredType type,
                     std::span<const Property> properties) {
  Chunking out{std::move(type), storage.chunk, storage.filters};
  out.fill_state = hdf5::FillState::kDefault;
  for (const Property& p : properties)
    if (p.owner == storage.variable && p.attribute == hdf5::kNoAttribute &&
        p.number == Property::Number::kCreation) {
      out.allocation = p.creation.allocation;
      out.fill_time = p.creation.fill_time;
      out.fill_state = p.creation.fill_state;
    }
  return out;
}

// Turns the chunking of values of another type into the chunking of their bytes. The stored bytes
// of chunks are the same in both. The fill value stays a whole value. length: the number of bytes
// in a value.
void make_characters(std::uint64_t length, Chunking* chunking) {
  chunking->type.extended.reset();
  chunking->chunk.push_back(length);
  for (Filter& filter : chunking->filters)
    if (filter.id == kShuffle && filter.parameters.empty())
      filter.parameters = {static_cast<std::uint32_t>(length)};
}

// Returns the creation properties of a variable.
hdf5::Creation creation_of(std::span<const Property> properties, VarId variable) {
  for (const Property& p : properties)
    if (p.owner == variable && p.attribute == hdf5::kNoAttribute &&
        p.number == Property::Number::kCreation)
      return p.creation;
  return {};
}

// Returns the chunking of a variable whose values get another type. type: the new type.
Chunking widened(Chunking chunking, Type type, bool maps_fill) {
  StoredType& stored = chunking.type;
  const ArrayForm before = stored.form;
  if (before.type == type) return chunking;
  stored.form.type = type;
  stored.extended.reset();
  if (before.is_swapped) stored.extended = little_endian(type);
  stored.fill = converted(std::move(stored.fill), before, stored.form, maps_fill);
  return chunking;
}

// Returns whether two lists of filters decode values in the same way.
bool are_alike(const std::vector<Filter>& a, const std::vector<Filter>& b) {
  return std::ranges::equal(a, b, [](const Filter& one, const Filter& other) {
    // The parameter of a codec is its level, which does not matter for decoding.
    return one.id == other.id && (codec_of(one.id) || one.parameters == other.parameters);
  });
}

// Returns whether stored chunks of one variable can be copied unchanged to the other variable.
bool are_alike(const Chunking& a, const Chunking& b) {
  return a.type.form == b.type.form && a.chunk == b.chunk && a.type.fill == b.type.fill &&
         are_alike(a.filters, b.filters);
}

class ChunkPlanner {
 public:
  ChunkPlanner(const DatasetUnion& united, const Dataset& all, const Compression* compression,
               std::uint64_t small_array)
      : united_(united),
        metadata_(all.metadata),
        compression_(compression),
        small_array_(small_array) {
    if (compression) plan_.wanted.uses.resize(compression->chunk.size());
    for (VarId v = 0; v < metadata_.variable_count(); ++v) {
      UnitedVariable& variable = plan_.variables.emplace_back();
      for (const DimId d : metadata_.variable(v).dimensions) {
        const Dimension dimension = metadata_.dimension(d);
        variable.lengths.push_back(dimension.is_record() ? all.records : dimension.length);
      }
      for (DatasetUnion::Box& box : united.boxes(all, v))
        variable.parts.push_back({std::move(box)});
    }
  }

  Result<std::optional<ChunkPlan>> plan(bool is_forced, bool keeps_byte_order) {
    const auto kNoChunks = std::optional<ChunkPlan>();
    const std::vector<Source> values = united_.values();
    for (std::uint32_t member = 0; member < values.size(); ++member)
      NMB_TRY(look_at(member, values[member]));
    for (UnitedVariable& variable : plan_.variables) find_plain(&variable);
    const bool is_needed = united_.has_own_types() || united_.is_classic_model() ||
                           united_.has_forms(keeps_byte_order) ||
                           (keeps_byte_order && has_swapped_array());
    if (!is_forced && !has_chunks() && !is_needed) return kNoChunks;
    for (VarId v = 0; v < metadata_.variable_count(); ++v) choose(v);
    if (!united_.has_growing() && !has_chunks() && !is_needed) return kNoChunks;
    return std::optional(std::move(plan_));
  }

 private:
  bool has_chunks() const {
    return std::ranges::any_of(plan_.variables, [](const UnitedVariable& variable) {
      return std::holds_alternative<Chunking>(variable.storage);
    });
  }

  // Returns whether a variable is an array of little-endian values without chunks.
  bool has_swapped_array() const {
    return std::ranges::any_of(plan_.variables, [](const UnitedVariable& variable) {
      const auto* const plain = std::get_if<PlainArray>(&variable.storage);
      return plain && plain->type.form.is_swapped;
    });
  }

  // --- how the datasets store the variables ---

  Status look_at(std::uint32_t member, const Source& values) {
    Source& extent = plan_.extents.emplace_back();
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, block_of(united_, member, values));
    if (!block) return {};
    NMB_ASSIGN(const std::vector<Property> properties,
               hdf5::decode_properties(block->metadata.extension()->hdf5));
    extent = block->extent;
    for (VarId v = 0; v < metadata_.variable_count(); ++v) look_at(member, v, *block, properties);
    return {};
  }

  void look_at(std::uint32_t member, VarId variable, const LoadedBlock& block,
               std::span<const Property> properties) {
    UnitedVariable& united = plan_.variables[variable];
    const auto part = std::ranges::lower_bound(united.parts, member, {},
                                               [](const ChunkedPart& p) { return p.box.member; });
    if (part == united.parts.end() || part->box.member != member)
      return look_at_empty(variable, block, properties);
    const Metadata& metadata = block.metadata;
    const Variable own = metadata_.variable(variable);
    const std::optional<VarId> found = find_netcdf_variable(metadata, own.name);
    if (!found) return;
    const Storage* const storage = metadata.extension()->storage_of(*found);
    const Variable there = metadata.variable(*found);
    const TypeTable& types = metadata.extension()->types;
    if (is_heap(variable, types, there.type)) return look_at_heap(&united, *found, properties);
    if (storage && storage->kind != StorageKind::kChunked) return;
    // The union shows the bytes of other types along one more dimension.
    const std::uint64_t own_length = united_.own_of(variable) ? types.value_size(there.type) : 0;
    const DatasetUnion::Box& box = part->box;
    if (own_length > 0
            ? box.count.size() != there.dimensions.size() + 1 || box.count.back() != own_length
            : box.count.size() != there.dimensions.size() || types.classic(there.type) != box.type)
      return;
    // Whether the block stores all values of the part, in the same order. If a variable is shorter
    // than its dimensions, its last chunks lack values.
    bool is_whole = true;
    const std::vector<IndexRuns>* selected = nullptr;
    if (const SelectedIndexes* all = united_.selected_of(member)) {
      const auto known = all->find(std::string(own.name));
      if (known == all->end()) return;
      selected = &known->second;
      is_whole = take_part(*selected, metadata, there, &*part);
    } else {
      for (std::size_t i = 0; i < there.dimensions.size(); ++i)
        is_whole = is_whole && metadata.dimension(there.dimensions[i]).length == box.count[i];
    }
    StoredType type{{box.type, types.is_swapped(there.type)}, extended_type(types, there.type), {}};
    if (!storage) {
      if ((!is_whole && !selected) || own_length > 0 || box.type != own.type || box.is_rebased ||
          metadata.is_record_variable(*found))
        return;
      part->region_begin = metadata.begin(*found) - block.layout.header_length;
      part->region_length = metadata.array_bytes(*found).value_or(0);
      if (selected && !select_plain(*selected, block, there, &*part)) return;
      type.fill = fill_value(metadata_, variable);
      type.form.swap(&type.fill);
      part->plain = std::move(type);
      return;
    }
    if (storage->chunk.size() != there.dimensions.size()) return;
    part->is_marked = std::ranges::any_of(properties, [&](const Property& p) {
      return p.owner == *found && p.number == Property::Number::kDamagedChunks;
    });
    part->region_begin = metadata.begin(*found);
    part->region_length = storage->region_length;
    if (!check_own_filters(storage->filters).ok()) return;
    type.fill = unstored_value(properties, *found, types.value_size(there.type));
    Chunking chunking = chunking_of(*storage, std::move(type), properties);
    if (own_length > 0) make_characters(own_length, &chunking);
    if (std::holds_alternative<std::monostate>(united.storage))
      united.storage = widened(chunking, own.type, box.maps_fill);
    // Chunks of times that are rebased are made of the united values.
    if (!is_whole || box.is_rebased) return;
    // Datasets that are divided into chunks in the same way share one object.
    if (part != united.parts.begin()) part->own = std::prev(part)->own;
    if (!part->own || *part->own != chunking)
      part->own = std::make_shared<const Chunking>(std::move(chunking));
  }

  // Returns whether a variable has values of variable length, and the type of a dataset too.
  bool is_heap(VarId variable, const TypeTable& types, Type type) const {
    const ClassicView::OwnValues* const own = united_.own_of(variable);
    return own && own->has_heap() && types.needs_heap(type);
  }

  static void look_at_heap(UnitedVariable* united, VarId there,
                           std::span<const Property> properties) {
    if (std::holds_alternative<std::monostate>(united->storage))
      united->storage = HeapStorage{creation_of(properties, there)};
  }

  // For a variable of a subset: records in `part` which part of the stored array it is. Returns
  // false if the indexes are not one range in each dimension, or if the array lacks some of them.
  static bool take_part(const std::vector<IndexRuns>& selected, const Metadata& metadata,
                        const Variable& there, ChunkedPart* part) {
    BoxInChunks::Part stored;
    bool is_all = true;
    // A string has one more dimension in `selected`, its characters, which are all selected.
    for (std::size_t i = 0; i < selected.size(); ++i) {
      const bool is_characters = i >= there.dimensions.size();
      const std::uint64_t length =
          is_characters ? part->box.count[i] : metadata.dimension(there.dimensions[i]).length;
      if (selected[i].size() != 1 || selected[i][0].stride != 1) return false;
      const auto [first, count, stride] = selected[i][0];
      if (first + count > length) return false;
      is_all = is_all && count == length;
      stored.first.push_back(first);
      stored.count.push_back(count);
      part->stored_lengths.push_back(length);
    }
    if (!is_all) part->stored = std::move(stored);
    return true;
  }

  // Sets part->plain_values for the selected part of an array without chunks. Returns false if the
  // array lacks some of the indexes.
  static bool select_plain(const std::vector<IndexRuns>& selected, const LoadedBlock& block,
                           const Variable& there, ChunkedPart* part) {
    SelectedValues values{block.extent,
                          part->region_begin,
                          block.metadata.extension()->types.value_size(there.type),
                          {}};
    std::uint64_t step = values.value_size;
    values.axes.resize(selected.size());
    for (std::size_t i = selected.size(); i-- > 0;) {
      const std::uint64_t length = block.metadata.dimension(there.dimensions[i]).length;
      for (const IndexRun& run : selected[i])
        if (run.first + (run.count - 1) * run.stride >= length) return false;
      values.axes[i] = {step, selected[i]};
      step *= length;
    }
    part->region_begin = 0;
    part->region_length = values.size();
    if (part->region_length > 0)
      part->plain_values = source_of(std::make_shared<const SelectedValues>(std::move(values)));
    return true;
  }

  // Arrays without chunks keep their byte order if the united variable is these arrays, one after
  // the other: each dataset has all values along all dimensions but the first.
  void find_plain(UnitedVariable* variable) {
    if (!std::holds_alternative<std::monostate>(variable->storage) || variable->parts.empty())
      return;
    PlainArray plain;
    std::uint64_t end = 0;  // along the first dimension
    for (const ChunkedPart& part : variable->parts) {
      const DatasetUnion::Box& box = part.box;
      if (!part.plain || *part.plain != *variable->parts.front().plain) return;
      for (std::size_t i = 0; i < variable->lengths.size(); ++i)
        if (box.first[i] != (i == 0 ? end : 0) || (i > 0 && box.count[i] != variable->lengths[i]))
          return;
      if (!variable->lengths.empty()) end += box.count.front();
      plain.runs.push_back({box.member, part.region_begin, part.region_length});
    }
    if (variable->lengths.empty() ? plain.runs.size() != 1 : end != variable->lengths.front())
      return;
    plain.type = *variable->parts.front().plain;
    for (std::size_t i = 0; i < plain.runs.size(); ++i)
      if (const Source& values = variable->parts[i].plain_values) {
        plain.runs[i].member = static_cast<std::uint32_t>(plan_.extents.size());
        plan_.extents.push_back(values);
      }
    variable->storage = std::move(plain);
  }

  // Handles a variable that has no values in this dataset. If it has the type of the united
  // variable, its chunks and filters count as those of the other datasets do.
  void look_at_empty(VarId variable, const LoadedBlock& block,
                     std::span<const Property> properties) {
    UnitedVariable& united = plan_.variables[variable];
    const Metadata& metadata = block.metadata;
    const Variable own = metadata_.variable(variable);
    const std::optional<VarId> found = find_netcdf_variable(metadata, own.name);
    if (!found || !std::holds_alternative<std::monostate>(united.storage)) return;
    const Storage* const storage = metadata.extension()->storage_of(*found);
    const Variable there = metadata.variable(*found);
    const TypeTable& types = metadata.extension()->types;
    if (is_heap(variable, types, there.type)) return look_at_heap(&united, *found, properties);
    if (!storage || storage->kind != StorageKind::kChunked) return;
    const ClassicView::OwnValues* const own_values = united_.own_of(variable);
    const std::uint64_t own_length = own_values ? own_values->type().size : 0;
    const bool has_type = own_values
                              ? TypeTable::is_extended(there.type) &&
                                    own_values->has_same_type({{}, types.only(there.type), {}})
                              : types.classic(there.type) == own.type;
    if (!has_type || storage->chunk.size() != there.dimensions.size() ||
        own.dimensions.size() != there.dimensions.size() + (own_values ? 1 : 0) ||
        !check_own_filters(storage->filters).ok())
      return;
    StoredType type{{own.type, types.is_swapped(there.type)}, extended_type(types, there.type), {}};
    type.fill = unstored_value(properties, *found, types.value_size(there.type));
    Chunking chunking = chunking_of(*storage, std::move(type), properties);
    if (own_values) make_characters(own_length, &chunking);
    united.storage = std::move(chunking);
  }

  // --- how the united dataset stores them ---

  void choose(VarId variable) {
    const Variable v = metadata_.variable(variable);
    if (v.dimensions.empty()) return;
    UnitedVariable& united = plan_.variables[variable];
    const std::vector<std::optional<std::size_t>> asked = asked_lengths(v);
    const bool is_asked_for = std::ranges::any_of(asked, [](const auto& a) { return !!a; });
    const ClassicView::OwnValues* const own = united_.own_of(variable);
    if (own && own->has_heap()) return choose_heap(v, &united);
    if (own && v.dimensions.size() == 1) return;  // a single value
    const std::uint64_t value_size = type_size(v.type);
    // Filters see whole values.
    const std::uint64_t filtered_size = own ? own->type().size : value_size;
    std::uint64_t bytes = value_size;
    for (const std::uint64_t n : united.lengths) bytes *= n;
    const bool is_growing = std::ranges::any_of(v.dimensions, [&](DimId d) { return grows(d); });
    auto* chunking = std::get_if<Chunking>(&united.storage);
    // A small coordinate keeps its filters. A small array that has no chunks is not divided into
    // chunks.
    const bool is_left_alone =
        bytes <= small_array_ && !is_growing && (united.lengths.size() == 1 || !chunking);
    const bool is_coded = compression_ && (is_asked_for || !is_left_alone);
    std::vector<Filter> filters;
    if (chunking) filters = filters_for(chunking->filters, filtered_size);
    // Chunk lengths alone do not change filters.
    if (is_coded && (compression_->codec || compression_->shuffle))
      filters = wanted_filters(*compression_, filters, filtered_size);
    if (!chunking) {
      // If a variable may grow, HDF5 can store it only in chunks.
      if (!is_growing && (!is_coded || (!is_asked_for && filters.empty()))) return;
      const auto* const plain = std::get_if<PlainArray>(&united.storage);
      StoredType type =
          plain ? plain->type
                : StoredType{{v.type}, {}, own ? own->fill : fill_value(metadata_, variable)};
      chunking = &united.storage.emplace<Chunking>(
          Chunking{std::move(type), usual_chunk(united.lengths, value_size)});
      for (std::uint64_t& n : chunking->chunk) n = std::max<std::uint64_t>(n, 1);
    }
    chunking->filters = std::move(filters);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      // If a dimension cannot grow, HDF5 does not allow chunks that are longer than the dimension.
      const std::uint64_t most = grows(v.dimensions[i])
                                     ? hdf5::kUnlimitedLength
                                     : std::max<std::uint64_t>(united.lengths[i], 1);
      std::uint64_t& chunk = chunking->chunk[i];
      if (asked[i]) {
        chunk = compression_->chunk[*asked[i]].length;
        ChunkUse& use = plan_.wanted.uses[*asked[i]];
        (chunk > most ? use.is_clipped : use.is_cut) = true;
      }
      chunk = std::min(chunk, most);
    }
    // A chunk has whole values.
    if (own) chunking->chunk.back() = own->type().size;
    const bool keeps_level = is_coded && compression_->codec;
    for (ChunkedPart& part : united.parts)
      part.is_alike = part.own && are_alike(*part.own, *chunking) &&
                      (!keeps_level || part.own->filters == chunking->filters);
    if (is_coded && compression_->codec && is_plugin(codec_row(*compression_->codec)))
      plan_.wanted.needs_plugin = true;
  }

  // HDF5 needs chunks for a variable that may grow. If it cannot grow, its chunks must not be
  // longer than its dimensions.
  void choose_heap(const Variable& v, UnitedVariable* united) const {
    if (!std::holds_alternative<HeapStorage>(united->storage)) united->storage = HeapStorage{};
    hdf5::Creation& creation = std::get<HeapStorage>(united->storage).creation;
    const std::size_t rank = v.dimensions.size() - 1;
    bool is_growing = false;
    for (std::size_t i = 0; i < rank; ++i) is_growing |= grows(v.dimensions[i]);
    if (creation.layout != hdf5::Layout::kChunked || creation.chunk.size() != rank) {
      creation.layout = is_growing ? hdf5::Layout::kChunked : hdf5::Layout::kContiguous;
      creation.allocation = is_growing ? hdf5::Allocation::kIncremental : hdf5::Allocation::kLate;
      creation.filters.clear();
      creation.chunk.clear();
      if (!is_growing) return;
      creation.chunk =
          usual_chunk({united->lengths.begin(), united->lengths.end() - 1}, TypeTable::kHeapValue);
    }
    for (std::size_t i = 0; i < rank; ++i) {
      std::uint64_t& chunk = creation.chunk[i];
      if (!grows(v.dimensions[i])) chunk = std::min(chunk, united->lengths[i]);
      chunk = std::max<std::uint64_t>(chunk, 1);
    }
  }

  bool grows(DimId dimension) const {
    return metadata_.record_dimension() == dimension || united_.grows(dimension);
  }

  // Returns for each dimension of a variable the index of the requested chunk length.
  std::vector<std::optional<std::size_t>> asked_lengths(const Variable& v) {
    std::vector<std::optional<std::size_t>> asked(v.dimensions.size());
    if (!compression_) return asked;
    const auto& all = compression_->chunk;
    for (std::size_t i = 0; i < asked.size(); ++i)
      for (std::size_t place = 0; place < all.size(); ++place) {
        if (!all[place].is_for(v.name) ||
            all[place].dimension != metadata_.dimension(v.dimensions[i]).name)
          continue;
        plan_.wanted.uses[place].is_known = true;
        if (!asked[i]) asked[i] = place;
      }
    return asked;
  }

  const DatasetUnion& united_;
  const Metadata& metadata_;
  const Compression* const compression_;
  const std::uint64_t small_array_;
  ChunkPlan plan_;
};

}  // namespace

Result<std::optional<ChunkPlan>> plan_chunks(const DatasetUnion& united, const Dataset& all,
                                             const Compression* compression,
                                             std::uint64_t small_array, bool is_forced,
                                             bool keeps_byte_order) {
  return ChunkPlanner(united, all, compression, small_array).plan(is_forced, keeps_byte_order);
}

Result<std::size_t> count_compressed(const DatasetUnion& united, const Dataset& all) {
  const std::vector<Source> values = united.values();
  NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, block_of(united, 0, values.front()));
  if (!block) return std::size_t{0};
  const auto& storage = block->metadata.extension()->storage;
  return static_cast<std::size_t>(std::ranges::count_if(storage, [&](const Storage& one) {
    return one.kind == StorageKind::kChunked && !one.filters.empty() &&
           all.metadata.find_variable(netcdf_name(block->metadata, one.variable));
  }));
}

}  // namespace nmb
