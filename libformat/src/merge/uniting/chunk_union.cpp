// Stores united values in chunks (see merge/uniting/chunk_union.h).
#include "merge/uniting/chunk_union.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "hdf5/client/group_block.h"
#include "hdf5/model/hdf5_section.h"
#include "merge/reading/held_values.h"
#include "merge/reading/reopened_source.h"
#include "merge/uniting/array_form.h"
#include "merge/uniting/chunk_jobs.h"
#include "model/value_begin.h"
#include "netcdf/shared_dimensions.h"
#include "nmb/classic.h"
#include "nmb/netcdf_view.h"
#include "values/array_source.h"
#include "values/chunk_filters.h"
#include "values/chunk_table.h"
#include "values/codecs.h"
#include "values/gathered_chunk.h"
#include "values/open_array.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using hdf5::Property;

constexpr std::uint32_t kNobody = ~std::uint32_t{0};
constexpr std::uint64_t kMostChunk = (std::uint64_t{1} << 32) - 1;

// The first sources of the united extent. The sources from kFirstMember on are the extents of the
// members.
enum SourceIndex : std::uint32_t { kPlainValues, kSpool, kFirstMember };

// Returns the converted block of kind 6 that supplies the values of a dataset. Returns nullptr if
// the values have another source.
const ReopenedSource* view_in(const ByteSource* values) {
  if (const auto* held = dynamic_cast<const HeldValues*>(values)) values = held->base().get();
  if (const auto* spliced = dynamic_cast<const SplicedSource*>(values))
    for (const Source& source : spliced->sources())
      if (const ReopenedSource* view = view_in(source.get())) return view;
  return dynamic_cast<const ReopenedSource*>(values);
}

// Returns the block of kind 6 that supplies the values of a dataset. Returns nullptr if the values
// have another source, or if the block has no values.
Result<std::shared_ptr<const Block>> block_of(const Source& values) {
  const ReopenedSource* const view = view_in(values.get());
  if (!view || !view->origin().extent) return std::shared_ptr<const Block>();
  const ViewOrigin& origin = view->origin();
  hdf5::GroupBlock group;
  group.name = origin.block;
  group.body.resize(origin.body->size());
  NMB_TRY(origin.body->read_at(0, group.body));
  group.extent = origin.extent;
  group.extent_length = origin.extent->size();
  return hdf5::decode_group(std::move(group), view->name());
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

// Describes how a variable is stored in chunks.
struct Chunking {
  ArrayForm form;
  ExtendedType type;                 // used if `is_extended` is true
  bool is_extended = false;          // whether the type is not one of CDF-5
  std::vector<std::uint64_t> chunk;  // lengths of a chunk
  std::vector<Filter> filters;
  std::vector<std::byte> fill;  // the value of chunks that were never written, in this form
  hdf5::Allocation allocation = hdf5::Allocation::kIncremental;
  hdf5::FillTime fill_time = hdf5::FillTime::kIfSet;

  bool operator==(const Chunking&) const = default;
};

// Returns whether two lists of filters decode values in the same way.
bool are_alike(const std::vector<Filter>& a, const std::vector<Filter>& b) {
  return std::ranges::equal(a, b, [](const Filter& one, const Filter& other) {
    // The parameter of a codec is its level, which does not matter for decoding.
    return one.id == other.id && (codec_of(one.id) || one.parameters == other.parameters);
  });
}

// Returns whether stored chunks of one variable can be copied unchanged to the other variable.
bool are_alike(const Chunking& a, const Chunking& b) {
  return a.form == b.form && a.chunk == b.chunk && a.fill == b.fill &&
         are_alike(a.filters, b.filters);
}

// The part of a variable that one dataset has, and where the chunks of this part are stored.
struct ChunkedPart {
  DatasetUnion::Box box;
  bool is_alike = false;  // whether the part's chunks can be copied to the united variable
  // How the part's chunks are stored; nullptr if the chunks do not have all values of the part.
  std::shared_ptr<const Chunking> own{};
  std::uint64_t region_begin = 0, region_length = 0;
};

// An array without chunks that has all values of a variable.
struct PlainArray {
  std::uint32_t member = 0;
  std::uint64_t begin = 0;  // offset in the member's extent
  ExtendedType type;        // used if `is_extended` is true
  bool is_extended = false;

  // united: the type of the united variable.
  ArrayForm form(Type united) const {
    return {united, is_extended && type.order == ByteOrder::kLittle};
  }
};

struct UnitedVariable {
  std::vector<ChunkedPart> parts;
  std::optional<PlainArray> plain;
  std::shared_ptr<const Chunking> last;  // chunking of the dataset that was examined last
  std::optional<Chunking> chunking;
};

class ChunkUniter {
 public:
  ChunkUniter(const DatasetUnion& united, const Dataset& all,
              const std::vector<std::uint32_t>& levels, const ChunkUnionOptions& options,
              std::shared_ptr<SpoolFile>* spool)
      : united_(united),
        all_(all),
        from_(all.metadata),
        levels_(levels),
        options_(options),
        shared_spool_(*spool),
        values_(united.values()),
        sources_{all.extent, nullptr} {
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      UnitedVariable& variable = variables_.emplace_back();
      for (DatasetUnion::Box& box : united.boxes(all, v))
        variable.parts.push_back({std::move(box)});
    }
    sources_.resize(kFirstMember + values_.size());
  }

  Result<std::optional<UnitedChunks>> unite() {
    for (std::uint32_t member = 0; member < values_.size(); ++member) NMB_TRY(look_at(member));
    if (!options_.is_forced &&
        std::ranges::none_of(variables_, [](const UnitedVariable& v) { return !!v.chunking; }))
      return std::optional<UnitedChunks>();
    if (options_.compression) out_.wanted.uses.resize(options_.compression->chunk.size());
    for (VarId v = 0; v < variables_.size(); ++v) choose(v);
    if (!united_.has_growing() &&
        std::ranges::none_of(variables_, [](const UnitedVariable& v) { return !!v.chunking; }))
      return std::optional<UnitedChunks>();
    NMB_TRY(open_spool());
    NMB_TRY(define());
    NMB_ASSIGN(out_.body, encode_extended_body(to_, 0));
    out_.extent_length = end_;
    // No source may be nullptr. Therefore the spool file replaces sources without values.
    for (Source& source : sources_)
      if (!source) source = spool_;
    out_.extent = std::make_shared<SplicedSource>(std::move(sources_), runs_.take(), end_,
                                                  all_.extent->name());
    return std::optional(std::move(out_));
  }

 private:
  // The spool is made when the first union needs it.
  Status open_spool() {
    if (!shared_spool_) {
      NMB_ASSIGN(shared_spool_, SpoolFile::create());
    }
    spool_ = shared_spool_;
    sources_[kSpool] = spool_;
    return {};
  }

  // Finds the chunks of one dataset.
  Status look_at(std::uint32_t member) {
    NMB_ASSIGN(const std::shared_ptr<const Block> block, block_of(values_[member]));
    if (!block) return {};
    NMB_ASSIGN(const std::vector<Property> properties,
               hdf5::decode_properties(block->metadata.extension()->hdf5));
    sources_[kFirstMember + member] = block->extent;
    for (VarId v = 0; v < variables_.size(); ++v) look_at(member, v, *block, properties);
    return {};
  }

  void look_at(std::uint32_t member, VarId variable, const Block& block,
               std::span<const Property> properties) {
    UnitedVariable& united = variables_[variable];
    const auto part = std::ranges::lower_bound(united.parts, member, {},
                                               [](const ChunkedPart& p) { return p.box.member; });
    if (part == united.parts.end() || part->box.member != member) return;
    const Metadata& metadata = block.metadata;
    const Variable own = from_.variable(variable);
    const std::optional<VarId> found = find_netcdf_variable(metadata, own.name);
    if (!found) return;
    const Storage* const storage = metadata.extension()->storage_of(*found);
    if (storage && storage->kind != StorageKind::kChunked) return;
    const Variable there = metadata.variable(*found);
    const TypeTable& types = metadata.extension()->types;
    // The union shows strings of n bytes as characters with one more dimension of length n.
    const std::uint64_t string_length = length_of_strings(types, there.type);
    if (string_length > 0 ? part->box.count.size() != there.dimensions.size() + 1 ||
                                part->box.count.back() != string_length
                          : part->box.count.size() != there.dimensions.size() ||
                                types.classic(there.type) != part->box.type)
      return;
    // If a variable is shorter than its dimensions, its last chunks lack values.
    bool is_whole = true;
    for (std::size_t i = 0; i < there.dimensions.size(); ++i)
      is_whole = is_whole && metadata.dimension(there.dimensions[i]).length == part->box.count[i];
    if (!storage) {
      if (is_whole && string_length == 0 && part->box.type == own.type &&
          part->box.count == lengths_of(variable))
        look_at_plain(member, block, *found, &united);
      return;
    }
    if (storage->chunk.size() != there.dimensions.size()) return;
    Chunking chunking = chunking_of(*storage, types, there.type, properties);
    chunking.form = {part->box.type, types.is_swapped(there.type)};
    part->region_begin = metadata.begin(*found);
    part->region_length = storage->region_length;
    if (!check_filters(chunking.filters).ok()) return;
    // If a fill value has different bytes, no character equals it. Then all values are written.
    if (string_length > 0) is_whole = make_characters(string_length, &chunking) && is_whole;
    if (!united.chunking) united.chunking = widened(chunking, own.type, part->box.maps_fill);
    if (!is_whole) return;
    // Datasets that are divided into chunks in the same way share one object.
    if (!united.last || !(*united.last == chunking))
      united.last = std::make_shared<const Chunking>(std::move(chunking));
    part->own = united.last;
  }

  // Returns the number of bytes in a string of fixed length. Returns 0 for other types, and for
  // strings of 1 byte, which are characters.
  static std::uint64_t length_of_strings(const TypeTable& types, Type type) {
    if (!TypeTable::is_extended(type)) return 0;
    const ExtendedType& own = types.at(type);
    const bool is_string = own.type_class == TypeClass::kString && !own.variable_length;
    return is_string && own.size > 1 ? own.size : 0;
  }

  // Turns the chunking of strings into the chunking of their characters. The stored bytes of chunks
  // are the same in both. length: the number of bytes in a string. Returns whether all bytes of the
  // fill value are the same; if they differ, the fill value becomes a NUL character.
  static bool make_characters(std::uint64_t length, Chunking* chunking) {
    chunking->is_extended = false;
    chunking->type = {};
    chunking->chunk.push_back(length);
    for (Filter& filter : chunking->filters)
      if (filter.id == kShuffle && filter.parameters.empty())
        filter.parameters = {static_cast<std::uint32_t>(length)};
    const std::byte first = chunking->fill.front();
    const bool is_uniform = std::ranges::count(chunking->fill, first) == std::ssize(chunking->fill);
    chunking->fill.assign(1, is_uniform ? first : std::byte{0});
    return is_uniform;
  }

  // Returns the chunking of a variable whose values get another type. type: the new type.
  static Chunking widened(Chunking chunking, Type type, bool maps_fill) {
    const ArrayForm before = chunking.form;
    if (before.type == type) return chunking;
    chunking.form.type = type;
    chunking.is_extended = chunking.form.is_swapped = before.is_swapped;
    if (chunking.is_extended) chunking.type = little_endian(type);
    chunking.fill = converted(std::move(chunking.fill), before, chunking.form, maps_fill);
    return chunking;
  }

  // Takes an array without chunks if it is the whole united variable. The array then keeps its byte
  // order.
  // found: an array that has all values of the united variable.
  static void look_at_plain(std::uint32_t member, const Block& block, VarId found,
                            UnitedVariable* united) {
    const Metadata& metadata = block.metadata;
    if (united->parts.size() != 1 || metadata.is_record_variable(found)) return;
    const Type type = metadata.variable(found).type;
    PlainArray& plain = united->plain.emplace();
    plain.member = member;
    plain.begin = metadata.begin(found) - block.layout.header_length;
    plain.is_extended = TypeTable::is_extended(type);
    if (!plain.is_extended) return;
    plain.type = metadata.extension()->types.at(type);
    plain.type.name.clear();
  }

  static Chunking chunking_of(const Storage& storage, const TypeTable& types, Type type,
                              std::span<const Property> properties) {
    Chunking out;
    out.is_extended = TypeTable::is_extended(type);
    if (out.is_extended) {
      out.type = types.at(type);
      out.type.name.clear();
    }
    out.chunk = storage.chunk;
    out.filters = storage.filters;
    out.fill = unstored_value(properties, storage.variable, types.value_size(type));
    for (const Property& p : properties)
      if (p.owner == storage.variable && p.attribute == hdf5::kNoAttribute &&
          p.number == Property::Number::kCreation) {
        out.allocation = p.creation.allocation;
        out.fill_time = p.creation.fill_time;
      }
    return out;
  }

  // Chooses how the values of a variable are stored.
  void choose(VarId variable) {
    const Variable v = from_.variable(variable);
    if (v.dimensions.empty()) return;
    std::optional<Chunking>& chunking = variables_[variable].chunking;
    const std::vector<std::uint64_t> lengths = lengths_of(variable);
    const std::vector<std::optional<std::size_t>> asked = asked_lengths(variable);
    const bool is_asked_for = std::ranges::any_of(asked, [](const auto& a) { return !!a; });
    std::uint64_t bytes = type_size(v.type);
    for (const std::uint64_t n : lengths) bytes *= n;
    const bool is_growing =
        std::ranges::any_of(v.dimensions, [&](DimId dimension) { return grows(dimension); });
    // A small coordinate keeps its filters. A small array that has no chunks is not divided into
    // chunks.
    const bool is_left_alone =
        bytes <= kSmallArray && !is_growing && (lengths.size() == 1 || !chunking);
    const bool is_coded = options_.compression && (is_asked_for || !is_left_alone);
    std::vector<Filter> filters;
    if (chunking) filters = filters_for(chunking->filters, type_size(v.type));
    // Chunk lengths alone do not change filters.
    if (is_coded && (options_.compression->codec || options_.compression->shuffle))
      filters = wanted_filters(*options_.compression, filters, type_size(v.type));
    if (!chunking) {
      // If a variable may grow, HDF5 can store it only in chunks.
      if (!is_growing && (!is_coded || (!is_asked_for && filters.empty()))) return;
      chunking.emplace();
      chunking->chunk = usual_chunk(lengths, type_size(v.type));
      for (std::uint64_t& n : chunking->chunk) n = std::max<std::uint64_t>(n, 1);
      const PlainArray plain = variables_[variable].plain.value_or(PlainArray());
      chunking->form = plain.form(v.type);
      chunking->is_extended = plain.is_extended;
      chunking->type = plain.type;
      chunking->fill = stored_fill(variable, plain);
    }
    chunking->filters = std::move(filters);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      std::uint64_t& chunk = chunking->chunk[i];
      if (asked[i]) chunk = options_.compression->chunk[*asked[i]].length;
      // If a dimension cannot grow, HDF5 does not allow chunks that are longer than the dimension.
      const bool is_unlimited = grows(v.dimensions[i]);
      const std::uint64_t most = is_unlimited ? chunk : std::max<std::uint64_t>(lengths[i], 1);
      if (asked[i]) {
        ChunkUse& use = out_.wanted.uses[*asked[i]];
        (chunk > most ? use.is_clipped : use.is_cut) = true;
      }
      chunk = std::min(chunk, most);
    }
    const bool keeps_level = is_coded && options_.compression->codec;
    for (ChunkedPart& part : variables_[variable].parts)
      part.is_alike = part.own && are_alike(*part.own, *chunking) &&
                      (!keeps_level || part.own->filters == chunking->filters);
    if (is_coded && options_.compression->codec == PieceCodec::kZstd) out_.wanted.has_zstd = true;
  }

  bool grows(DimId dimension) const {
    return from_.record_dimension() == dimension || united_.grows(dimension);
  }

  // Returns for each dimension of a variable the index of the chunk length that the options
  // request.
  std::vector<std::optional<std::size_t>> asked_lengths(VarId variable) {
    const Variable v = from_.variable(variable);
    std::vector<std::optional<std::size_t>> asked(v.dimensions.size());
    if (!options_.compression) return asked;
    const auto& all = options_.compression->chunk;
    for (std::size_t i = 0; i < asked.size(); ++i)
      for (std::size_t place = 0; place < all.size(); ++place) {
        if (!all[place].is_for(v.name) ||
            all[place].dimension != from_.dimension(v.dimensions[i]).name)
          continue;
        out_.wanted.uses[place].is_known = true;
        if (!asked[i]) asked[i] = place;
      }
    return asked;
  }

  std::vector<std::uint64_t> lengths_of(VarId variable) const {
    std::vector<std::uint64_t> lengths;
    for (const DimId d : from_.variable(variable).dimensions) {
      const Dimension dimension = from_.dimension(d);
      lengths.push_back(dimension.is_record() ? all_.records : dimension.length);
    }
    return lengths;
  }

  // --- definitions of the united block ---

  Result<Type> type_of(VarId variable, Extension* extension) {
    const std::optional<Chunking>& chunking = variables_[variable].chunking;
    const std::optional<PlainArray>& plain = variables_[variable].plain;
    const bool is_extended = chunking ? chunking->is_extended : plain && plain->is_extended;
    if (!is_extended) return from_.variable(variable).type;
    const ExtendedType& type = chunking ? chunking->type : plain->type;
    for (std::size_t i = 0; i < extension->types.size(); ++i)
      if (extension->types[i] == type)
        return static_cast<Type>(TypeTable::kFirst + static_cast<std::uint32_t>(i));
    return extension->types.add(type);
  }

  // Defines the block, and stores the values of its variables in the order of definition.
  Status define() {
    auto extension = std::make_shared<Extension>();
    for (DimId d = 0; d < from_.dimension_count(); ++d)
      if (grows(d)) extension->unlimited.push_back({d, false});
    for (const std::string& name : united_.empty())
      if (!from_.find_dimension(name)) empty_.push_back(name);
    for (std::size_t i = 0; i < empty_.size(); ++i)
      extension->unlimited.push_back({from_.dimension_count() + static_cast<DimId>(i), false});
    hdf5::append_property(dimensions_above(levels_), &extension->hdf5);
    std::vector<Type> types;
    std::vector<std::uint64_t> begins;
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      NMB_ASSIGN(types.emplace_back(), type_of(v, extension.get()));
      const std::optional<Chunking>& chunking = variables_[v].chunking;
      if (chunking) {
        Storage storage;
        storage.variable = v;
        storage.kind = StorageKind::kChunked;
        storage.chunk = chunking->chunk;
        storage.filters = chunking->filters;
        const std::uint64_t begin = region_begin(end_);
        const Result<std::uint64_t> length = store(v, *chunking, begin);
        if (!length.ok()) return of_variable(v, length.status());
        storage.region_length = *length;
        begins.push_back(begin);
        end_ = begin + *length;
        extension->storage.push_back(std::move(storage));
        Property p = creation_of(v, chunking->fill);
        p.creation.layout = hdf5::Layout::kChunked;
        p.creation.allocation = chunking->allocation;
        p.creation.fill_time = chunking->fill_time;
        hdf5::append_property(p, &extension->hdf5);
        continue;
      }
      const std::uint64_t length = from_.slice_bytes(v).value_or(0);
      const std::uint64_t begin = end_;
      begins.push_back(begin);
      if (length == 0) continue;
      end_ = begin + length;
      const std::optional<PlainArray>& plain = variables_[v].plain;
      if (!plain) {
        runs_.add({begin, length, from_.begin(v) - all_.layout.header_length, kPlainValues});
        continue;
      }
      runs_.add({begin, length, plain->begin, kFirstMember + plain->member});
      if (plain->is_extended)
        hdf5::append_property(creation_of(v, stored_fill(v, *plain)), &extension->hdf5);
    }
    to_.set_extension(std::move(extension));
    return define_objects(types, begins);
  }

  Status of_variable(VarId variable, const Status& status) const {
    if (status.code() == Code::kNoSpace) return status;
    return status.of_object("variable " + std::string(from_.variable(variable).name));
  }

  static Property creation_of(VarId variable, std::vector<std::byte> fill) {
    Property p;
    p.number = Property::Number::kCreation;
    p.owner = variable;
    p.creation.fill_state = hdf5::FillState::kUser;
    p.creation.fill_value = std::move(fill);
    return p;
  }

  // Returns the fill value of a variable in the byte order of an array.
  std::vector<std::byte> stored_fill(VarId variable, const PlainArray& plain) const {
    std::vector<std::byte> fill = fill_value(from_, variable);
    plain.form(from_.variable(variable).type).swap(&fill);
    return fill;
  }

  Status define_objects(const std::vector<Type>& types, const std::vector<std::uint64_t>& begins) {
    for (DimId d = 0; d < from_.dimension_count(); ++d) {
      const Dimension dimension = from_.dimension(d);
      NMB_TRY(to_.def_dim(dimension.name, dimension.is_record() ? all_.records : dimension.length)
                  .status());
    }
    for (const std::string& name : empty_) NMB_TRY(to_.def_dim(name, 0).status());
    NMB_TRY(define_attributes(kGlobal));
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      const Variable variable = from_.variable(v);
      NMB_TRY(to_.def_var(variable.name, types[v], variable.dimensions).status());
      to_.set_begin(v, begins[v]);
      NMB_TRY(define_attributes(v));
    }
    return to_.settle_names();
  }

  Status define_attributes(VarId owner) {
    return from_.try_each_attribute(owner, [&](const Attribute& attribute) {
      return to_.def_att(owner, attribute.name, attribute.type, attribute.values);
    });
  }

  // --- values ---

  // Stores the values of a variable. Returns the length of the region.
  Result<std::uint64_t> store(VarId variable, const Chunking& chunking, std::uint64_t begin) {
    NMB_ASSIGN(const ChunkGrid grid,
               ChunkGrid::make(lengths_of(variable), chunking.chunk, chunking.form.size()));
    if (grid.chunk_bytes() > kMostChunk)
      return Status(Code::kLimit, "the united values have chunks of 4 GiB or more");
    if (grid.count() == 0) return std::uint64_t{0};
    NMB_ASSIGN(const std::vector<StoredChunk> stored, moved_chunks(variable, grid));
    NMB_ASSIGN(const Gathering gathering, gathering_of(variable, chunking, stored, grid));
    NMB_ASSIGN(const Source plain, contiguous_array(all_, variable, {}, nullptr));
    std::vector<std::byte> fill = chunking.fill;
    chunking.form.swap(&fill);
    const auto load = [&](std::uint64_t number) -> Result<std::vector<std::byte>> {
      if (stored[number].source != kNobody) {
        NMB_TRY(check_sum(stored[number], chunking, grid, number));
        return std::vector<std::byte>();
      }
      NMB_ASSIGN(std::optional<std::vector<std::byte>> gathered,
                 gathering.gather(number, grid, chunking.fill));
      if (gathered) return *std::move(gathered);
      GatheredChunk chunk(grid, number, fill);
      NMB_TRY(chunk.add(*plain));
      std::vector<std::byte> values = chunk.take();
      chunking.form.swap(&values);
      return values;
    };
    const auto find_stored = [&](std::uint64_t number) -> std::optional<StoredChunk> {
      if (stored[number].source == kNobody) return std::nullopt;
      return stored[number];
    };
    std::uint64_t largest = 0;
    for (const BoxInChunks& box : gathering.boxes)
      if (box.table) largest = std::max(largest, box.grid.chunk_bytes());
    const auto is_encoded = [&](std::uint64_t number) { return stored[number].source == kNobody; };
    const auto job = [&](std::span<const std::uint64_t> numbers, std::uint64_t most) {
      return job_of(variable, numbers, most, chunking, grid, gathering, load);
    };
    return store_chunks({grid, chunking.filters, load, largest, is_encoded, job}, find_stored,
                        options_.coding, *spool_, begin, &runs_);
  }

  // Checks the checksum of a stored chunk that is copied. Does nothing if the chunk has no
  // checksum. number: the number of the chunk in the united variable.
  Status check_sum(const StoredChunk& chunk, const Chunking& chunking, const ChunkGrid& grid,
                   std::uint64_t number) const {
    if (chunk.stored_length == 0 || !has_sum(chunking.filters, chunk.filter_mask)) return {};
    const ByteSource& source = *sources_[chunk.source];
    std::vector<std::byte> bytes(chunk.stored_length);
    NMB_TRY(source.read_at(chunk.offset, bytes));
    const Status checked = check_sums(chunking.filters, chunk.filter_mask, std::move(bytes),
                                      grid.chunk_bytes(), grid.value_size());
    if (checked.code() != Code::kDamaged) return checked;
    std::string at;
    for (const std::uint64_t index : grid.first_of(number))
      at += (at.empty() ? "" : ", ") + std::to_string(index);
    return Status(Code::kDamaged, source.name(), kNoOffset, checked.rule(),
                  "chunk at index " + at + " of the result: " + checked.message());
  }

  // The parts that supply values for chunks that must be encoded again.
  struct Gathering {
    std::vector<BoxInChunks> boxes;  // for each part; no table if the part's chunks cannot be used
    using Use = std::pair<std::uint64_t, std::uint32_t>;  // number of a chunk and number of a part
    std::vector<Use> uses;                                // ascending

    // Returns the values of a chunk. The result is empty if none of these values was ever written.
    // Returns nullopt if the parts in chunks lack values of this chunk, or if two of these parts
    // overlap.
    Result<std::optional<std::vector<std::byte>>> gather(std::uint64_t number,
                                                         const ChunkGrid& grid,
                                                         std::span<const std::byte> fill) const {
      const std::optional<std::vector<std::byte>> none;
      const auto used = uses_of(number, grid);
      if (!used) return none;
      GatheredChunk chunk(grid, number, fill);
      for (const Use& use : *used) NMB_TRY(chunk.add(boxes[use.second]).status());
      return std::optional(chunk.take());
    }

    // Returns the parts that have the values of a chunk. Returns nullopt if some of them are not in
    // chunks, if two of them overlap, or if they lack values of the chunk.
    std::optional<std::span<const Use>> uses_of(std::uint64_t number, const ChunkGrid& grid) const {
      const auto begin = std::lower_bound(uses.begin(), uses.end(), Use{number, 0});
      const auto end = std::lower_bound(begin, uses.end(), Use{number + 1, 0});
      const ChunkGrid::Lengths first = grid.first_of(number), count = grid.count_of(first);
      std::uint64_t missing = 1;
      for (const std::uint64_t n : count) missing *= n;
      for (auto use = begin; use != end; ++use) {
        const BoxInChunks& box = boxes[use->second];
        if (!box.table) return std::nullopt;
        for (auto other = begin; other != use; ++other)
          if (overlap(box, boxes[other->second])) return std::nullopt;
        std::uint64_t shared = 1;
        for (std::size_t i = 0; i < first.size(); ++i)
          shared *= std::min(first[i] + count[i], box.first[i] + box.grid.lengths()[i]) -
                    std::max(first[i], box.first[i]);
        missing -= shared;
      }
      if (missing > 0) return std::nullopt;
      return std::span<const Use>(begin, end);
    }

    static bool overlap(const BoxInChunks& a, const BoxInChunks& b) {
      for (std::size_t i = 0; i < a.first.size(); ++i)
        if (a.first[i] + a.grid.lengths()[i] <= b.first[i] ||
            b.first[i] + b.grid.lengths()[i] <= a.first[i])
          return false;
      return true;
    }
  };

  // Returns the job for chunks that must be encoded. Returns no bytes if this rank must encode
  // them.
  Result<std::vector<std::byte>> job_of(
      VarId variable, std::span<const std::uint64_t> numbers, std::uint64_t most,
      const Chunking& chunking, const ChunkGrid& grid, const Gathering& gathering,
      const std::function<Result<std::vector<std::byte>>(std::uint64_t)>& load) const {
    ChunkJobMaker job(
        {grid.lengths(), grid.chunk(), chunking.form, chunking.filters, chunking.fill}, grid, most);
    for (const std::uint64_t number : numbers) {
      job.add(number);
      const auto uses = gathering.uses_of(number, grid);
      if (!uses) continue;
      for (const auto& [chunk, p] : *uses) {
        const ChunkedPart& part = variables_[variable].parts[p];
        NMB_TRY(job.take_from(gathering.boxes[p], {part.own->form, part.box.maps_fill}));
      }
    }
    return job.finish(load);
  }

  Result<Gathering> gathering_of(VarId variable, const Chunking& chunking,
                                 const std::vector<StoredChunk>& stored, const ChunkGrid& grid) {
    Gathering out;
    if (std::ranges::none_of(stored, [](const StoredChunk& c) { return c.source == kNobody; }))
      return out;
    const auto cache = std::make_shared<ChunkCache>(kCodedAtOnce);
    const std::vector<ChunkedPart>& parts = variables_[variable].parts;
    for (std::uint32_t p = 0; p < parts.size(); ++p) {
      const ChunkedPart& part = parts[p];
      BoxInChunks& box = out.boxes.emplace_back();
      box.first = part.box.first;
      NMB_ASSIGN(box.grid,
                 ChunkGrid::make(part.box.count, part.own ? part.own->chunk : grid.chunk(),
                                 grid.value_size()));
      if (part.own) {
        const auto convert = [from = part.own->form, to = chunking.form,
                              maps_fill = part.box.maps_fill](std::vector<std::byte> values) {
          return converted(std::move(values), from, to, maps_fill);
        };
        box.fill = convert(part.own->fill);
        if (part.own->form != chunking.form) box.convert = convert;
        box.cache = cache;
        box.array = cache->add_array();
        box.table = std::make_shared<const ChunkTable>(table_of(part, *part.own));
      }
      NMB_TRY(for_each_chunk(part, grid, [&](std::uint64_t number, const auto&) -> Status {
        if (stored[number].source == kNobody) out.uses.emplace_back(number, p);
        return {};
      }));
    }
    std::ranges::sort(out.uses);
    return out;
  }

  // chunking: how the part's chunks are stored.
  ChunkTable table_of(const ChunkedPart& part, const Chunking& chunking) const {
    Storage storage;
    storage.chunk = chunking.chunk;
    storage.filters = chunking.filters;
    return {std::make_shared<RangeSource>(sources_[kFirstMember + part.box.member],
                                          part.region_begin, part.region_length),
            storage, chunking.form.size()};
  }

  // Calls visit(number, at) for each chunk of the united variable that has values of the part. at:
  // the place of the chunk, counted in chunks.
  template <class Visit>
  static Status for_each_chunk(const ChunkedPart& part, const ChunkGrid& grid, Visit visit) {
    const std::size_t rank = grid.chunk().size();
    if (std::ranges::count(part.box.count, std::uint64_t{0}) > 0) return {};
    std::vector<std::uint64_t> low(rank), high(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      low[i] = part.box.first[i] / grid.chunk()[i];
      high[i] = chunks_along(part.box.first[i] + part.box.count[i], grid.chunk()[i]);
    }
    return for_each_index(low, high, [&](const std::vector<std::uint64_t>& at) {
      return visit(grid.number_at(at), at);
    });
  }

  // Returns for each chunk of the united variable the stored chunk with the same values. If there
  // is no such stored chunk, `source` is kNobody.
  Result<std::vector<StoredChunk>> moved_chunks(VarId variable, const ChunkGrid& grid) {
    std::vector<StoredChunk> stored(grid.count(), StoredChunk{kNobody});
    std::vector<bool> is_taken(grid.count());  // whether an earlier part has values of the chunk
    for (const ChunkedPart& part : variables_[variable].parts)
      NMB_TRY(move_chunks(part, grid, &is_taken, &stored));
    return stored;
  }

  // Finds the stored chunks of one part that can be copied unchanged.
  Status move_chunks(const ChunkedPart& part, const ChunkGrid& grid, std::vector<bool>* is_taken,
                     std::vector<StoredChunk>* stored) const {
    const std::vector<std::uint64_t>&first = part.box.first, &count = part.box.count;
    bool is_aligned = part.is_alike;
    std::uint64_t own = 1;  // number of chunks in the part
    for (std::size_t i = 0; i < first.size(); ++i) {
      is_aligned = is_aligned && first[i] % grid.chunk()[i] == 0;
      own *= chunks_along(count[i], grid.chunk()[i]);
    }
    constexpr std::uint64_t kRowsAtOnce = 4096;
    std::vector<ChunkRow> rows;
    std::uint64_t first_row = 0, row = 0;
    std::optional<ChunkTable> table;
    if (is_aligned) table.emplace(table_of(part, *part.own));
    return for_each_chunk(
        part, grid, [&](std::uint64_t number, const std::vector<std::uint64_t>& at) -> Status {
          const std::uint64_t place = row++;
          const bool was_taken = (*is_taken)[number];
          (*is_taken)[number] = true;
          if (!is_aligned || was_taken) return {};
          // The part must have all values of the chunk, except values beyond the end of the united
          // array.
          for (std::size_t i = 0; i < at.size(); ++i)
            if (std::min((at[i] + 1) * grid.chunk()[i], grid.lengths()[i]) > first[i] + count[i])
              return {};
          if (place - first_row >= rows.size()) {
            first_row = place;
            NMB_ASSIGN(rows, table->rows(place, std::min(kRowsAtOnce, own - place)));
          }
          NMB_ASSIGN((*stored)[number], stored_chunk(part, *table, place, rows[place - first_row]));
          return {};
        });
  }

  static Result<StoredChunk> stored_chunk(const ChunkedPart& part, const ChunkTable& table,
                                          std::uint64_t number, const ChunkRow& row) {
    NMB_TRY(table.check_place(number, row));
    return StoredChunk{kFirstMember + part.box.member, row.filter_mask,
                       part.region_begin + row.offset, row.stored_length};
  }

  const DatasetUnion& united_;
  const Dataset& all_;
  const Metadata& from_;
  const std::vector<std::uint32_t>& levels_;
  const ChunkUnionOptions options_;
  std::shared_ptr<SpoolFile>& shared_spool_;
  std::shared_ptr<SpoolFile> spool_;
  const std::vector<Source> values_;  // by dataset
  std::vector<Source> sources_;       // by SourceIndex
  std::vector<UnitedVariable> variables_;
  std::vector<std::string> empty_;  // names of unlimited dimensions of length 0
  Metadata to_;
  std::uint64_t end_ = 0;  // length of the extent so far
  ChunkRuns runs_{kSpool};
  UnitedChunks out_;
};

}  // namespace

Result<std::optional<UnitedChunks>> unite_chunks(const DatasetUnion& united, const Dataset& all,
                                                 const std::vector<std::uint32_t>& levels,
                                                 const ChunkUnionOptions& options,
                                                 std::shared_ptr<SpoolFile>* spool) {
  return ChunkUniter(united, all, levels, options, spool).unite();
}

Result<std::size_t> count_compressed(const DatasetUnion& united, const Dataset& all) {
  const std::vector<Source> values = united.values();
  NMB_ASSIGN(const std::shared_ptr<const Block> block, block_of(values.front()));
  if (!block) return std::size_t{0};
  const auto& storage = block->metadata.extension()->storage;
  return static_cast<std::size_t>(std::ranges::count_if(storage, [&](const Storage& one) {
    return one.kind == StorageKind::kChunked && !one.filters.empty() &&
           all.metadata.find_variable(netcdf_name(block->metadata, one.variable));
  }));
}

}  // namespace nmb
