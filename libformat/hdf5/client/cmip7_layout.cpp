#include "client/cmip7_layout.h"

#include <algorithm>

#include "dump/dump.h"
#include "netcdf/shared_dimensions.h"
#include "values/chunk_filters.h"
#include "values/chunk_grid.h"
#include "wire/checked.h"
#include "wire/codecs.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint64_t kLeastChunk = 4 << 20;  // bytes of values
// An array of at most this many bytes keeps its filters if its chunks need not change. A contiguous
// one that cannot grow stays contiguous.
constexpr std::uint64_t kSmallArray = 64 << 10;
constexpr std::uint64_t kMostChunk = (std::uint64_t{1} << 32) - 1;
constexpr std::uint32_t kDeflate = codec_row(PieceCodec::kDeflate).hdf5_filter;
constexpr std::uint32_t kLevel = 4;

Result<std::string> text_of(const Metadata& metadata, VarId variable, std::string_view name) {
  const std::optional<Attribute> found = metadata.find_attribute(variable, name);
  if (!found) return std::string();
  NMB_ASSIGN(std::optional<std::string> text, attribute_text(metadata, *found));
  return text.value_or("");
}

std::uint64_t bytes_of(const std::vector<std::uint64_t>& lengths, std::uint64_t value_size) {
  std::uint64_t bytes = value_size;
  for (const std::uint64_t n : lengths)
    if (!checked_mul(bytes, n, &bytes)) return ~std::uint64_t{0};
  return bytes;
}

bool is_one_chunk(const std::vector<std::uint64_t>& lengths,
                  const std::vector<std::uint64_t>& chunk) {
  return std::ranges::equal(lengths, chunk, std::ranges::less_equal());
}

// Multiplies lengths of a chunk, beginning with the slowest dimension, until the chunk has at least
// kLeastChunk bytes or contains the whole array.
void grow(const std::vector<std::uint64_t>& lengths, std::uint64_t value_size,
          std::vector<std::uint64_t>* chunk) {
  for (std::size_t i = 0; i < chunk->size(); ++i) {
    const std::uint64_t bytes = bytes_of(*chunk, value_size);
    if (bytes >= kLeastChunk) return;
    const std::uint64_t times = chunks_along(kLeastChunk, bytes);
    (*chunk)[i] = std::min(lengths[i], (*chunk)[i] * times);
  }
}

// Chooses a chunk for an array without chunks. Beginning with the fastest dimension, the chunk
// takes whole dimensions until it has about kLeastChunk bytes.
std::vector<std::uint64_t> first_chunk(const std::vector<std::uint64_t>& lengths,
                                       std::uint64_t value_size) {
  std::vector<std::uint64_t> chunk(lengths.size(), 1);
  std::uint64_t bytes = value_size;
  for (std::size_t i = chunk.size(); i-- > 0 && bytes < kLeastChunk;) {
    chunk[i] = std::min(lengths[i], chunks_along(kLeastChunk, bytes));
    bytes *= chunk[i];
  }
  return chunk;
}

// Values of one byte get shuffle too, as in h5repack. Shuffle does not change them.
std::vector<Filter> wanted_filters(std::uint64_t value_size) {
  constexpr std::uint32_t kOptional = 1;
  return {{kShuffle, kOptional, "shuffle", {static_cast<std::uint32_t>(value_size)}},
          {kDeflate, kOptional, "deflate", {kLevel}},
          {kFletcher32, 0, "fletcher32", {}}};
}

// Returns whether the filters are those of CMIP7, in any order. Values of one byte need no shuffle.
bool are_wanted(const std::vector<Filter>& filters, std::uint64_t value_size) {
  const auto has = [&](std::uint32_t id) {
    return std::ranges::count(filters, id, &Filter::id) == 1;
  };
  const auto deflate = std::ranges::find(filters, kDeflate, &Filter::id);
  return deflate != filters.end() && deflate->parameters == std::vector<std::uint32_t>{kLevel} &&
         has(kFletcher32) && (has(kShuffle) || value_size == 1) &&
         filters.size() == 2 + (has(kShuffle) ? 1u : 0u);
}

bool may_grow_in(const Dataset& block, VarId variable, std::span<const Property> properties) {
  bool grows = false;
  for (const DimId d : block.metadata.variable(variable).dimensions)
    grows = grows || may_grow(block.metadata, d);
  for (const Property& p : properties)
    if (p.owner == variable && p.attribute == kNoAttribute && p.number == Property::Number::kSpace)
      grows = p.space.maximum != p.space.lengths;
  return grows;
}

}  // namespace

Result<Cmip7Layout> Cmip7Layout::of(const Dataset& block) {
  const Metadata& metadata = block.metadata;
  Cmip7Layout out;
  out.is_time_.resize(metadata.variable_count());
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    if (metadata.variable(v).dimensions.size() != 1) continue;
    NMB_ASSIGN(const std::string units, text_of(metadata, v, "units"));
    if (units.find(" since ") == units.npos) continue;
    out.is_time_[v] = true;
    for (const std::string_view name : {"bounds", "climatology"}) {
      NMB_ASSIGN(const std::string bounds, text_of(metadata, v, name));
      if (const auto found = metadata.find_variable(bounds)) out.is_time_[*found] = true;
    }
  }
  return out;
}

std::optional<ChunkLayout> Cmip7Layout::chunks(const Dataset& block, VarId variable,
                                               std::span<const Property> properties,
                                               std::string* why) const {
  const Metadata& metadata = block.metadata;
  const Variable v = metadata.variable(variable);
  if (v.dimensions.empty()) return std::nullopt;
  const Extension* const extension = metadata.extension().get();
  const Storage* const storage = extension ? extension->storage_of(variable) : nullptr;
  const bool has_chunks = storage && storage->kind == StorageKind::kChunked;
  std::vector<std::uint64_t> lengths;
  for (const DimId d : v.dimensions) {
    const Dimension dimension = metadata.dimension(d);
    lengths.push_back(dimension.is_record() ? block.records : dimension.length);
  }
  const std::uint64_t size = metadata.value_size(v.type), bytes = bytes_of(lengths, size);
  const bool grows = may_grow_in(block, variable, properties);
  if (const std::string absent = why_absent(properties, variable); !absent.empty())
    *why = "its values " + absent;
  if (extension && extension->types.needs_heap(v.type) && bytes > kSmallArray)
    *why = "its values have variable length";
  if (bytes == 0 || (storage && !has_chunks) || !why->empty()) return std::nullopt;
  const bool is_small = is_time_[variable] || bytes <= kSmallArray;
  if (!has_chunks && !grows && is_small) return std::nullopt;

  ChunkLayout out;
  const bool is_right =
      has_chunks && (is_one_chunk(lengths, storage->chunk) ||
                     (!is_time_[variable] && bytes_of(storage->chunk, size) >= kLeastChunk));
  if (is_right) {
    out.chunk = storage->chunk;
  } else if (is_time_[variable]) {
    out.chunk = lengths;
  } else if (has_chunks) {
    std::ranges::transform(storage->chunk, lengths, std::back_inserter(out.chunk),
                           [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
    grow(lengths, size, &out.chunk);
  } else {
    out.chunk = first_chunk(lengths, size);
  }
  if (has_chunks) out.filters = storage->filters;
  if (!(is_right && is_small) && !are_wanted(out.filters, size)) out.filters = wanted_filters(size);
  if (!has_chunks || (is_right && out.filters == storage->filters)) return out;
  if (const Status known = check_own_filters(storage->filters); !known.ok())
    *why = known.message();
  else if (bytes_of(out.chunk, size) > kMostChunk)
    *why = "one chunk would have 4 GiB or more";
  return why->empty() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace nmb::hdf5
