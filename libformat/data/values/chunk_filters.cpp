#include "values/chunk_filters.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "model/values.h"
#include "server/hdf5_filters.h"
#include "wire/codecs.h"
#include "wire/endian.h"
#include "wire/joined_text.h"
#include "wire/lzf.h"
#include "wire/swap_values.h"

namespace nmb {

namespace {

constexpr std::size_t kSum = 4;

Status damaged(const std::string& message) {
  return Status(Code::kDamaged, {}, kNoOffset, "R-XC-1", message);
}

// Computes the checksum of HDF5's filter fletcher32: two 16-bit sums of big-endian words. A single
// byte at the end is the high byte of a word.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  std::uint32_t first = 0, second = 0;
  std::size_t at = 0;
  for (std::size_t words = bytes.size() / 2; words > 0;) {
    // The sums of 360 words fit into 32 bits.
    std::size_t part = words > 360 ? 360 : words;
    words -= part;
    for (; part > 0; --part, at += 2) {
      first += load_be<std::uint16_t>(bytes.data() + at);
      second += first;
    }
    first = (first & 0xFFFF) + (first >> 16);
    second = (second & 0xFFFF) + (second >> 16);
  }
  if (bytes.size() % 2 != 0) {
    first += std::to_integer<std::uint32_t>(bytes[at]) << 8;
    second += first;
    first = (first & 0xFFFF) + (first >> 16);
    second = (second & 0xFFFF) + (second >> 16);
  }
  first = (first & 0xFFFF) + (first >> 16);
  second = (second & 0xFFFF) + (second >> 16);
  return second << 16 | first;
}

void append_sum(std::vector<std::byte>* bytes) {
  const std::uint32_t sum = fletcher32(*bytes);
  const std::size_t at = bytes->size();
  bytes->resize(at + kSum);
  store_le(bytes->data() + at, sum);
}

Result<std::vector<std::byte>> without_sum(std::vector<std::byte> bytes) {
  if (bytes.size() < kSum) return damaged("found a chunk without its checksum");
  const auto recorded = load_le<std::uint32_t>(bytes.data() + bytes.size() - kSum);
  bytes.resize(bytes.size() - kSum);
  const std::uint32_t sum = fletcher32(bytes);
  // Old writers on little-endian machines swapped the two bytes of each 16-bit sum.
  const std::uint32_t old = (sum & 0x00FF00FF) << 8 | (sum & 0xFF00FF00) >> 8;
  if (recorded != sum && recorded != old)
    return damaged("found a chunk with a wrong checksum (fletcher32)");
  return bytes;
}

// limit: the largest number of decoded bytes.
Result<std::vector<std::byte>> decoded(const CodecRow& codec, std::span<const std::byte> bytes,
                                       std::uint64_t limit) {
  std::size_t used = 0;
  auto out = decode_growing(bytes.size(), limit, [&](std::span<std::byte> room) {
    return decode_bytes(codec.codec, bytes, room, &used);
  });
  if (!out) return damaged(joined_text("found a chunk that ", codec.name, " cannot decode"));
  return std::move(*out);
}

// Returns the compressed bytes, or an empty vector if they would not be fewer than `bytes`.
std::vector<std::byte> compressed(PieceCodec codec, int level, std::span<const std::byte> bytes) {
  std::vector<std::byte> out(bytes.size());
  out.resize(encode_bytes(codec, level, bytes, out));
  return out.size() < bytes.size() ? out : std::vector<std::byte>();
}

// Shuffle puts the first bytes of all elements together, then the second bytes, and so on. Bytes
// after the last whole element keep their places.
enum class Shuffle : std::uint8_t { kDo, kUndo };

// Shuffles or unshuffles blocks of elements. A block is small enough to stay in the CPU cache
// meanwhile.
template <Shuffle way, std::size_t fixed_size>
void shuffle_elements(const std::byte* from, std::byte* to, std::uint64_t elements,
                      std::uint64_t any_size) {
  const std::uint64_t size = fixed_size ? fixed_size : any_size;
  constexpr std::uint64_t kBlock = 256;
  for (std::uint64_t begin = 0; begin < elements; begin += kBlock) {
    const std::uint64_t end = std::min(elements, begin + kBlock);
    for (std::uint64_t b = 0; b < size; ++b)
      for (std::uint64_t e = begin; e < end; ++e)
        if constexpr (way == Shuffle::kDo)
          to[b * elements + e] = from[e * size + b];
        else
          to[e * size + b] = from[b * elements + e];
  }
}

template <Shuffle way>
std::vector<std::byte> shuffled(std::vector<std::byte> bytes, std::uint64_t element_size) {
  const std::uint64_t elements = bytes.size() / element_size;
  if (element_size < 2 || elements < 2) return bytes;
  std::vector<std::byte> out(bytes.size());
  const std::byte* const from = bytes.data();
  std::byte* const to = out.data();
  if (element_size == 2)
    shuffle_elements<way, 2>(from, to, elements, element_size);
  else if (element_size == 4)
    shuffle_elements<way, 4>(from, to, elements, element_size);
  else if (element_size == 8)
    shuffle_elements<way, 8>(from, to, elements, element_size);
  else
    shuffle_elements<way, 0>(from, to, elements, element_size);
  const auto whole = static_cast<std::ptrdiff_t>(elements * element_size);
  std::copy(bytes.begin() + whole, bytes.end(), out.begin() + whole);
  return out;
}

// Returns the element size for a shuffle filter.
std::uint64_t shuffled_size(const Filter& filter, std::uint64_t element_size) {
  return filter.parameters.empty() ? element_size : filter.parameters.front();
}

// The filters with which NMB also makes chunks and that use no codec.
struct OtherFilter {
  FilterId id;
  const char* name;
};
constexpr OtherFilter kOtherFilters[] = {{kShuffle, "shuffle"}, {kFletcher32, "fletcher32"}};

bool is_own(const Filter& filter) {
  return codec_of(filter.id) ||
         std::ranges::find(kOtherFilters, filter.id, &OtherFilter::id) != std::end(kOtherFilters);
}
bool is_decoded_alone(const Filter& filter) { return is_own(filter) || filter.id == kLzf; }
constexpr std::uint32_t kScaleOffset = 6;

// Returns whether the HDF5 library decodes a filter, or why not.
Status can_hdf5_undo(const Filter& filter) {
  constexpr std::size_t kScaleOffsetParameters = 20;
  if (filter.id == kScaleOffset && filter.parameters.size() < kScaleOffsetParameters)
    return Status(Code::kUnsupported,
                  "HDF5 before 1.8 wrote its parameters, which later versions do not know");
  return hdf5::can_undo_filter(filter.id);
}
bool is_known(const Filter& filter) {
  return is_decoded_alone(filter) || can_hdf5_undo(filter).ok();
}

Result<std::vector<std::byte>> without_lzf(std::span<const std::byte> bytes, std::uint64_t limit) {
  auto out = decode_growing(bytes.size(), limit,
                            [&](std::span<std::byte> room) { return decode_lzf(bytes, room); });
  if (!out) return damaged("found a chunk that lzf cannot decode");
  return std::move(*out);
}

// Returns the values of a chunk in which scaleoffset keeps all bits of each value, or nullopt for
// other chunks. HDF5 1.14.2 to 1.14.5 refuse to read such chunks, which all versions write.
std::optional<std::vector<std::byte>> whole_values(const Filter& filter,
                                                   std::span<const std::byte> bytes,
                                                   std::uint64_t limit) {
  constexpr std::size_t kElements = 2, kElementSize = 4, kOrder = 6, kHead = 21;
  if (filter.id != kScaleOffset || filter.parameters.size() <= kOrder || bytes.size() < kHead)
    return std::nullopt;
  const std::uint64_t size = filter.parameters[kElementSize];
  if (size > 8 || !std::has_single_bit(size)) return std::nullopt;
  const std::uint64_t length = filter.parameters[kElements] * size;
  if (load_le<std::uint32_t>(bytes.data()) != 8 * size || length > limit ||
      bytes.size() < kHead + length)
    return std::nullopt;
  const std::span<const std::byte> stored = bytes.subspan(kHead, length);
  std::vector<std::byte> values(stored.begin(), stored.end());
  // They have the byte order of the machine that wrote them, which HDF5 takes for this one's.
  if (filter.parameters[kOrder] == 1)
    swap_values(values.data(), values.data(), length / size, size);
  return values;
}

// Undoes a filter with the HDF5 library.
Result<std::vector<std::byte>> undone_by_hdf5(const Filter& filter,
                                              std::span<const std::byte> bytes, std::uint64_t limit,
                                              bool* ended) {
  if (std::optional<std::vector<std::byte>> values = whole_values(filter, bytes, limit))
    return *std::move(values);
  Result<std::vector<std::byte>> out =
      hdf5::undo_filter({filter.id, filter.parameters, limit}, bytes, ended);
  if (!out.ok() && out.status().code() == Code::kDamaged) return damaged(out.status().message());
  return out;
}

}  // namespace

std::string chunk_filters_text() {
  std::vector<std::pair<std::uint32_t, std::string>> filters;
  for (const CodecRow& row : kPieceCodecs)
    if (row.codec != PieceCodec::kNone) filters.emplace_back(row.hdf5_filter, row.name);
  for (const OtherFilter& other : kOtherFilters) filters.emplace_back(other.id, other.name);
  std::ranges::sort(filters);
  std::vector<std::string> names;
  for (const auto& [id, name] : filters) names.push_back(name);
  return alternatives_text(names);
}

const Filter* unknown_filter(const std::vector<Filter>& filters) {
  const auto found = std::ranges::find_if_not(filters, is_known);
  return found == filters.end() ? nullptr : &*found;
}

std::string filter_text(const Filter& filter) {
  return joined_text(filter.id, filter.name.empty() ? "" : " (" + filter.name + ")");
}

Status check_filters(const std::vector<Filter>& filters) {
  for (const Filter& filter : filters) {
    if (is_decoded_alone(filter)) continue;
    const Status can = can_hdf5_undo(filter);
    if (can.ok()) continue;
    return failure(can.code(), "found chunks with filter ", filter_text(filter),
                   ", which NMB does not decode: ", can.message());
  }
  return {};
}

Status check_own_filters(const std::vector<Filter>& filters) {
  const auto found = std::ranges::find_if_not(filters, is_own);
  if (found == filters.end()) return {};
  return failure(Code::kUnsupported, "found chunks with filter ", filter_text(*found),
                 ", expected ", chunk_filters_text());
}

const Filter* first_foreign(const std::vector<Filter>& filters) {
  const auto found = std::ranges::find_if_not(filters, is_decoded_alone);
  return found == filters.end() ? nullptr : &*found;
}

std::vector<Filter> filters_for(std::vector<Filter> filters, std::uint64_t value_size) {
  for (Filter& filter : filters) {
    std::vector<std::uint32_t>& parameters = filter.parameters;
    if (filter.id == kFletcher32) parameters.clear();
    if (filter.id == kShuffle) parameters = {static_cast<std::uint32_t>(value_size)};
    const CodecRow* const codec = codec_of(filter.id);
    if (!codec) continue;
    const std::uint32_t level = parameters.empty() ? 1 : parameters.front();
    parameters = {std::min(level, static_cast<std::uint32_t>(codec->highest_level))};
  }
  return filters;
}

namespace {

bool is_skipped(std::uint32_t mask, std::size_t i) { return mask >> i & 1; }

// Returns the number of the first filter that can be undone. It follows the last filter that was
// applied and that NMB does not decode.
std::size_t first_known(const std::vector<Filter>& filters, std::uint32_t mask) {
  std::size_t i = filters.size();
  while (i > 0 && (is_skipped(mask, i - 1) || is_known(filters[i - 1]))) --i;
  return i;
}

// Undoes the filters from number `first` on.
Result<std::vector<std::byte>> undo_filters(const std::vector<Filter>& filters, std::size_t first,
                                            std::uint32_t mask, std::vector<std::byte> stored,
                                            std::uint64_t length, std::uint64_t element_size,
                                            bool* ended) {
  // Decompression returns the chunk with the checksums that were added before compression. A filter
  // of HDF5 may have made the chunk longer.
  const std::uint64_t limit =
      (first_foreign(filters) ? 2 * (length + 2048) : length) + kSum * filters.size();
  for (std::size_t i = filters.size(); i-- > first;) {
    if (is_skipped(mask, i)) continue;
    const Filter& filter = filters[i];
    if (const CodecRow* const codec = codec_of(filter.id)) {
      NMB_ASSIGN(stored, decoded(*codec, stored, limit));
    } else if (filter.id == kFletcher32) {
      NMB_ASSIGN(stored, without_sum(std::move(stored)));
    } else if (filter.id == kLzf) {
      NMB_ASSIGN(stored, without_lzf(stored, limit));
    } else if (filter.id != kShuffle) {
      NMB_ASSIGN(stored, undone_by_hdf5(filter, stored, limit, ended));
    } else {
      const std::uint64_t size = shuffled_size(filter, element_size);
      if (size == 0) return damaged("found a shuffle filter for elements of 0 bytes");
      stored = shuffled<Shuffle::kUndo>(std::move(stored), size);
    }
  }
  return stored;
}

// Returns the number of the first checksum filter that was applied and can be undone, or the number
// of filters if there is none.
std::size_t first_sum(const std::vector<Filter>& filters, std::uint32_t mask) {
  std::size_t i = first_known(filters, mask);
  while (i < filters.size() && (filters[i].id != kFletcher32 || is_skipped(mask, i))) ++i;
  return i;
}

}  // namespace

bool can_decode(const std::vector<Filter>& filters, std::uint32_t mask) {
  return first_known(filters, mask) == 0;
}

bool has_sum(const std::vector<Filter>& filters, std::uint32_t mask) {
  return first_sum(filters, mask) < filters.size();
}

Status check_sums(const std::vector<Filter>& filters, std::uint32_t mask,
                  std::vector<std::byte> stored, std::uint64_t length, std::uint64_t element_size) {
  bool ended = false;
  return undo_filters(filters, first_sum(filters, mask), mask, std::move(stored), length,
                      element_size, &ended)
      .status();
}

Result<std::vector<std::byte>> decode_chunk(const std::vector<Filter>& filters, std::uint32_t mask,
                                            std::vector<std::byte> stored, std::uint64_t length,
                                            std::uint64_t element_size, bool* ended) {
  bool has_ended = false;
  NMB_ASSIGN(stored, undo_filters(filters, 0, mask, std::move(stored), length, element_size,
                                  ended ? ended : &has_ended));
  if (stored.size() != length)
    return damaged(joined_text("found a chunk of ", stored.size(), " bytes, expected ", length));
  return stored;
}

std::vector<std::byte> encode_chunk(const std::vector<Filter>& filters,
                                    std::vector<std::byte> chunk, std::uint64_t element_size,
                                    std::uint32_t* mask) {
  *mask = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const Filter& filter = filters[i];
    if (const CodecRow* const codec = codec_of(filter.id)) {
      std::vector<std::byte> shorter =
          compressed(codec->codec, static_cast<int>(filter.parameters.front()), chunk);
      if (shorter.empty())
        *mask |= 1u << i;
      else
        chunk = std::move(shorter);
    } else if (filter.id == kFletcher32) {
      append_sum(&chunk);
    } else {
      assert(filter.id == kShuffle);
      chunk = shuffled<Shuffle::kDo>(std::move(chunk), shuffled_size(filter, element_size));
    }
  }
  return chunk;
}

}  // namespace nmb
