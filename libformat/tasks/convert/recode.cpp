#include "convert/recode.h"

#include <algorithm>
#include <span>
#include <utility>

#include "convert/chunk_region.h"
#include "convert/requested_chunks.h"
#include "hdf5_types/hdf5_section.h"
#include "model/classic.h"
#include "model/value_begin.h"
#include "sources/value_source.h"
#include "values/chunk_filters.h"
#include "values/rechunked_array.h"
#include "wire/checked.h"
#include "wire/codecs.h"

namespace nmb {

namespace {

constexpr std::uint64_t kMostChunk = (std::uint64_t{1} << 32) - 1;

class Recoder {
 public:
  Recoder(const Dataset& block, const RecodeOptions& options, std::shared_ptr<SpoolFile> spool,
          std::vector<std::string>* left, std::vector<ChunkUse>* uses)
      : block_(block),
        options_(options),
        view_(netcdf_view(block, nullptr, options.first_made_up)),
        asked_(block, view_, options.first_made_up.has_value(), options.compression.chunk),
        spool_(std::move(spool)),
        left_(*left),
        uses_(*uses),
        is_shown_(block.metadata.variable_count()) {
    for (const NetcdfView::Variable& variable : view_.variables) {
      is_shown_[variable.id] = true;
      for (std::size_t i = 0; i < variable.dimensions.size(); ++i)
        if (const auto place = asked_.find(variable.id, i)) uses_[*place].is_known = true;
    }
  }

  Result<std::optional<RecodedValues>> recode() {
    const auto kAsItIs = std::optional<RecodedValues>();
    Metadata metadata = block_.metadata;
    if (!metadata.extension()) return kAsItIs;
    // Records of several variables are interleaved.
    if (metadata.record_dimension()) {
      left_.push_back("values in records stay unchanged");
      return kAsItIs;
    }
    Extension extension = *metadata.extension();
    NMB_ASSIGN(properties_, hdf5::decode_properties(extension.hdf5));
    extension.storage.clear();
    bool any = false;
    for (VarId v = 0; v < metadata.variable_count(); ++v) {
      const Storage* const storage = block_.metadata.extension()->storage_of(v);
      NMB_ASSIGN(std::optional<Storage> coded, plan(v, storage));
      if (coded) {
        any = true;
        needs_plugin_ = needs_plugin_ || std::ranges::any_of(coded->filters, [](const Filter& f) {
                          const CodecRow* const codec = codec_of(f.id);
                          return codec && is_plugin(*codec);
                        });
        const std::uint64_t begin = region_begin(end_);
        NMB_TRY(code(v, &*coded, begin));
        extension.storage.push_back(std::move(*coded));
        metadata.set_begin(v, begin);
        continue;
      }
      NMB_ASSIGN(const bool is_cut_later, cut_later(v, storage));
      any = any || is_cut_later;
      if (storage) extension.storage.push_back(*storage);
      const std::uint64_t length = block_.metadata.slice_bytes(v).value_or(0);
      end_ = value_begin(end_, storage);
      metadata.set_begin(v, end_);
      if (length > 0) add_run({end_, length, block_.metadata.begin(v), 0});
    }
    if (!any) return kAsItIs;
    put_properties(&extension);
    metadata.set_extension(std::make_shared<const Extension>(std::move(extension)));
    RecodedValues out;
    out.needs_plugin = needs_plugin_;
    NMB_ASSIGN(out.body, encode_extended_body(metadata, 0));
    out.extent_length = end_;
    out.extent = source_of(
        form::Spliced{{block_.extent, spool_}, runs_.take(), end_, block_.extent->name()});
    return std::optional(std::move(out));
  }

 private:
  void add_run(const form::Spliced::SourceRun& run) {
    runs_.add(run);
    end_ = run.end();
  }

  Status of_variable(VarId variable, const Status& status) const {
    return Status(status.code(), block_.extent->name(), status.offset(), status.rule(),
                  "variable " + std::string(block_.metadata.variable(variable).name) + ": " +
                      status.message());
  }

  // Returns the new storage of a variable, or nullopt if its storage stays unchanged.
  Result<std::optional<Storage>> plan(VarId variable, const Storage* now) {
    const auto kAsItIs = std::optional<Storage>();
    const Variable v = block_.metadata.variable(variable);
    if (v.dimensions.empty() || !is_shown_[variable]) return kAsItIs;
    const bool asked_for = is_asked_for(variable), has_chunks = is_chunked(now);
    if (now && !has_chunks && !(asked_for && is_hole(variable, *now))) return kAsItIs;
    if (has_chunks)
      if (const Status known = check_own_filters(now->filters); !known.ok()) {
        left_.push_back("variable " + std::string(v.name) + ": " + known.message() +
                        "; its values stay unchanged");
        return kAsItIs;
      }
    // Chunk lengths of other variables change nothing here.
    if (!asked_for && !changes_filters()) return kAsItIs;
    const std::uint64_t bytes = block_.metadata.array_bytes(variable).value_or(0);
    if (!has_chunks && (bytes == 0 || (bytes <= kSmallArray && !asked_for))) return kAsItIs;
    Storage out;
    out.variable = variable;
    out.kind = StorageKind::kChunked;
    out.chunk = has_chunks ? now->chunk : usual_chunk(variable);
    NMB_TRY(set_asked_lengths(variable, &out.chunk));
    const std::uint64_t size = block_.metadata.value_size(v.type);
    if (has_chunks) out.filters = filters_for(now->filters, size);
    if (changes_filters()) out.filters = wanted_filters(options_.compression, out.filters, size);
    if (!asked_for && (has_chunks ? out.filters == now->filters : out.filters.empty()))
      return kAsItIs;
    return std::optional(std::move(out));
  }

  // Chunk lengths alone do not change filters.
  bool changes_filters() const {
    return options_.compression.codec || options_.compression.shuffle;
  }

  static bool is_chunked(const Storage* storage) {
    return storage && storage->kind == StorageKind::kChunked;
  }

  // Returns true if no value of the variable was ever written. Returns false for values of variable
  // length and for values that the block does not have.
  bool is_hole(VarId variable, const Storage& now) const {
    return now.kind == StorageKind::kNone && hdf5::why_absent(properties_, variable).empty() &&
           !block_.metadata.extension()->types.needs_heap(block_.metadata.variable(variable).type);
  }

  bool is_asked_for(VarId variable) const {
    for (std::size_t i = 0; i < block_.metadata.variable(variable).dimensions.size(); ++i)
      if (asked_.find(variable, i)) return true;
    return false;
  }

  // Returns the maximum length of dimension `i` of a variable.
  std::uint64_t most_along(VarId variable, std::size_t i) const {
    for (const hdf5::Property& p : properties_)
      if (p.owner == variable && p.attribute == hdf5::kNoAttribute &&
          p.number == hdf5::Property::Number::kSpace && i < p.space.maximum.size())
        return p.space.maximum[i];
    const DimId dimension = block_.metadata.variable(variable).dimensions[i];
    const std::vector<Unlimited>& unlimited = block_.metadata.extension()->unlimited;
    return std::ranges::find(unlimited, dimension, &Unlimited::dimension) != unlimited.end()
               ? hdf5::kUnlimitedLength
               : block_.metadata.dimension(dimension).length;
  }

  // Replaces lengths in *chunk, the shape of a chunk, by the requested lengths.
  Status set_asked_lengths(VarId variable, std::vector<std::uint64_t>* chunk) {
    std::uint64_t chunk_bytes = block_.metadata.value_size(block_.metadata.variable(variable).type);
    for (std::size_t i = 0; i < chunk->size(); ++i) {
      if (const auto place = asked_.find(variable, i)) {
        const std::uint64_t asked = options_.compression.chunk[*place].length;
        const std::uint64_t most = most_along(variable, i);
        (*chunk)[i] = std::min(asked, most);
        (asked > most ? uses_[*place].is_clipped : uses_[*place].is_cut) = true;
      }
      if (!checked_mul(chunk_bytes, (*chunk)[i], &chunk_bytes) || chunk_bytes > kMostChunk)
        return of_variable(variable, Status(Code::kUsage, "chunks must have less than 4 GiB"));
    }
    return {};
  }

  // Requests chunks for values that this file does not store in chunks. HDF5 creates these chunks
  // later, when the block is written as HDF5. Returns false if the variable stays unchanged.
  Result<bool> cut_later(VarId variable, const Storage* now) {
    if (!is_asked_for(variable) || is_chunked(now)) return false;
    const Variable v = block_.metadata.variable(variable);
    const auto kept = [&](const std::string& reason) {
      left_.push_back("variable " + std::string(v.name) + ": " + reason + "; not cut into chunks");
      return false;
    };
    if (const std::string why = hdf5::why_absent(properties_, variable); !why.empty())
      return kept("its values " + why);
    if (!now) return kept("a dimension that cannot grow has length 0");
    auto place = std::ranges::find_if(properties_, [&](const hdf5::Property& p) {
      return p.owner == variable && p.number == hdf5::Property::Number::kCreation;
    });
    std::vector<std::uint64_t> chunk = usual_chunk(variable);
    if (place != properties_.end() && place->creation.layout == hdf5::Layout::kChunked)
      chunk = place->creation.chunk;
    if (chunk.size() != v.dimensions.size() || std::ranges::count(chunk, std::uint64_t{0}) > 0)
      return kept("a dimension that cannot grow has length 0");
    NMB_TRY(set_asked_lengths(variable, &chunk));
    if (place == properties_.end()) place = add_creation(variable);
    if (place->creation.layout != hdf5::Layout::kChunked)
      place->creation.allocation = hdf5::Allocation::kIncremental;
    place->creation.layout = hdf5::Layout::kChunked;
    place->creation.chunk = std::move(chunk);
    return true;
  }

  // Inserts a creation property for the variable at its place in the section. The section first has
  // the properties of the group, then those of the variables in the order of their numbers.
  std::vector<hdf5::Property>::iterator add_creation(VarId variable) {
    hdf5::Property added;
    added.number = hdf5::Property::Number::kCreation;
    added.owner = variable;
    const auto behind = std::ranges::find_if(properties_, [&](const hdf5::Property& p) {
      if (p.owner == kGlobal) return false;
      if (p.owner != variable) return p.owner > variable;
      return p.attribute != hdf5::kNoAttribute || p.number > added.number;
    });
    return properties_.insert(behind, std::move(added));
  }

  std::vector<std::uint64_t> usual_chunk(VarId variable) const {
    const Variable v = block_.metadata.variable(variable);
    std::vector<std::uint64_t> lengths;
    for (const DimId d : v.dimensions) lengths.push_back(block_.metadata.dimension(d).length);
    return nmb::usual_chunk(lengths, block_.metadata.value_size(v.type));
  }

  // Appends the chunk table and the chunks to the spool. The table and the chunks become a region
  // that begins at offset `begin` of the extent.
  Status code(VarId variable, Storage* storage, std::uint64_t begin) {
    const Status status = code_array(variable, storage, begin);
    return status.ok() || status.code() == Code::kNoSpace ? status : of_variable(variable, status);
  }

  Status code_array(VarId variable, Storage* storage, std::uint64_t begin) {
    if (block_.metadata.array_bytes(variable).value_or(0) == 0) {
      end_ = begin;
      return {};
    }
    NMB_ASSIGN(const RechunkedArray array,
               RechunkedArray::open(block_, variable, properties_, storage->chunk, kCodedAtOnce));
    const auto load = [&](std::uint64_t number) { return array.chunk(number); };
    NMB_ASSIGN(storage->region_length,
               store_chunks({array.grid(), storage->filters, load, source_bytes(variable)}, nullptr,
                            {options_.threads, options_.cancel}, *spool_, begin, &runs_));
    end_ = begin + storage->region_length;
    return {};
  }

  // Returns the length of a variable's stored chunks, or 0 if the variable has no chunks.
  std::uint64_t source_bytes(VarId variable) const {
    const Storage* const now = block_.metadata.extension()->storage_of(variable);
    if (!is_chunked(now)) return 0;
    std::uint64_t bytes = block_.metadata.value_size(block_.metadata.variable(variable).type);
    for (const std::uint64_t n : now->chunk)
      if (!checked_mul(bytes, n, &bytes)) return ~std::uint64_t{0} / 4;
    return bytes;
  }

  // Returns whether the property only repeats the defaults of chunked storage; such a property is
  // omitted when HDF5 files are read.
  static bool is_usual_of_chunks(const hdf5::Property& p, const Storage* storage) {
    const hdf5::Creation& c = p.creation;
    return p.number == hdf5::Property::Number::kCreation && storage &&
           storage->kind == StorageKind::kChunked && c.layout == hdf5::Layout::kChunked &&
           c.allocation == hdf5::Allocation::kIncremental &&
           c.fill_time == hdf5::FillTime::kIfSet && c.fill_state == hdf5::FillState::kDefault;
  }

  // Sets the layout of variables that now have chunks to "chunked".
  void put_properties(Extension* extension) {
    extension->hdf5.clear();
    for (hdf5::Property& p : properties_) {
      const Storage* const storage = extension->storage_of(p.owner);
      if (p.number == hdf5::Property::Number::kCreation &&
          p.creation.layout != hdf5::Layout::kChunked && storage &&
          storage->kind == StorageKind::kChunked) {
        p.creation.layout = hdf5::Layout::kChunked;
        p.creation.allocation = hdf5::Allocation::kIncremental;
      }
      if (!is_usual_of_chunks(p, storage)) hdf5::append_property(p, &extension->hdf5);
    }
  }

  const Dataset& block_;
  const RecodeOptions& options_;
  const NetcdfView view_;
  const RequestedChunks asked_;
  const std::shared_ptr<SpoolFile> spool_;
  std::vector<std::string>& left_;
  std::vector<ChunkUse>& uses_;
  std::vector<bool> is_shown_;  // by VarId; false if netCDF shows the data set only as a dimension
  bool needs_plugin_ = false;
  std::vector<hdf5::Property> properties_;
  std::uint64_t end_ = 0;  // length of the new extent so far
  ChunkRuns runs_{1};
};

}  // namespace

std::vector<Filter> wanted_filters(const Compression& wanted, const std::vector<Filter>& now,
                                   std::uint64_t value_size) {
  bool shuffle = wanted.shuffle, sum = false;
  const CodecRow* codec = &codec_row(wanted.codec.value_or(PieceCodec::kNone));
  auto level = static_cast<std::uint32_t>(wanted.level);
  for (const Filter& f : now) {
    shuffle = shuffle || f.id == kShuffle;
    sum = sum || f.id == kFletcher32;
    const CodecRow* const used = codec_of(f.id);
    if (wanted.codec || !used) continue;
    codec = used;
    level = std::min(std::max(f.parameters.empty() ? 1u : f.parameters.front(), 1u),
                     static_cast<std::uint32_t>(used->highest_level));
  }
  std::vector<Filter> out;
  constexpr std::uint32_t kOptional = 1;
  if (shuffle && codec->hdf5_filter && value_size > 1)
    out.push_back({kShuffle, kOptional, "shuffle", {static_cast<std::uint32_t>(value_size)}});
  if (codec->hdf5_filter)
    out.push_back({codec->hdf5_filter, kOptional, std::string(codec->name), {level}});
  if (sum) out.push_back({kFletcher32, 0, "fletcher32", {}});
  return out;
}

Result<std::optional<RecodedValues>> recode_values(const Dataset& block,
                                                   const RecodeOptions& options,
                                                   std::shared_ptr<SpoolFile> spool,
                                                   std::vector<std::string>* left,
                                                   std::vector<ChunkUse>* uses) {
  return Recoder(block, options, std::move(spool), left, uses).recode();
}

}  // namespace nmb
