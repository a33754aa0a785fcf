// Filters of chunks, undone (see chunk_filters.h).
#include "values/chunk_filters.h"

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "wire/endian.h"

namespace nmb {

namespace {

constexpr std::uint32_t kDeflate = 1, kShuffle = 2, kFletcher32 = 3, kZstd = 32015;
constexpr std::size_t kSum = 4;

Status damaged(const std::string& message) {
  return Status(Code::kDamaged, {}, kNoOffset, "R-XC-1", message);
}

// Two 16-bit sums of big-endian words, as HDF5's filter keeps them. A single byte at the end is the
// high byte of a word.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  std::uint32_t first = 0, second = 0;
  std::size_t at = 0;
  for (std::size_t words = bytes.size() / 2; words > 0;) {
    // Sums of that many words do not overflow.
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

Result<std::vector<std::byte>> without_sum(std::vector<std::byte> bytes) {
  if (bytes.size() < kSum) return damaged("found a chunk without its checksum");
  const auto told = load_le<std::uint32_t>(bytes.data() + bytes.size() - kSum);
  bytes.resize(bytes.size() - kSum);
  const std::uint32_t sum = fletcher32(bytes);
  // Old writers on little-endian machines have the bytes of each half in the other order.
  const std::uint32_t old = (sum & 0x00FF00FF) << 8 | (sum & 0xFF00FF00) >> 8;
  if (told != sum && told != old)
    return damaged("found a chunk with a wrong checksum (fletcher32)");
  return bytes;
}

// limit: bytes that there may be.
Result<std::vector<std::byte>> inflated(std::span<const std::byte> bytes, std::uint64_t limit) {
  struct Free {
    void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
  };
  thread_local std::unique_ptr<libdeflate_decompressor, Free> decompressor(
      libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  std::vector<std::byte> out(limit);
  std::size_t length = 0;
  if (libdeflate_zlib_decompress(decompressor.get(), bytes.data(), bytes.size(), out.data(),
                                 out.size(), &length) != LIBDEFLATE_SUCCESS)
    return damaged("found a chunk that does not inflate");
  out.resize(length);
  return out;
}

Result<std::vector<std::byte>> unpacked(std::span<const std::byte> bytes, std::uint64_t limit) {
  std::vector<std::byte> out(limit);
  const std::size_t length = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(length)) return damaged("found a chunk that zstd does not decode");
  out.resize(length);
  return out;
}

// Bytes n, 2 n ... of elements lie together; a rest at the end is as it was.
std::vector<std::byte> unshuffled(std::span<const std::byte> bytes, std::uint64_t element_size) {
  std::vector<std::byte> out(bytes.begin(), bytes.end());
  const std::uint64_t elements = bytes.size() / element_size;
  if (element_size < 2 || elements < 2) return out;
  for (std::uint64_t b = 0; b < element_size; ++b) {
    const std::byte* from = bytes.data() + b * elements;
    std::byte* to = out.data() + b;
    for (std::uint64_t e = 0; e < elements; ++e, to += element_size) *to = from[e];
  }
  return out;
}

}  // namespace

const Filter* unknown_filter(const std::vector<Filter>& filters) {
  const auto found = std::find_if(filters.begin(), filters.end(), [](const Filter& f) {
    return f.id != kDeflate && f.id != kShuffle && f.id != kFletcher32 && f.id != kZstd;
  });
  return found == filters.end() ? nullptr : &*found;
}

std::string filter_text(const Filter& filter) {
  return std::to_string(filter.id) + (filter.name.empty() ? "" : " (" + filter.name + ")");
}

Status check_filters(const std::vector<Filter>& filters) {
  const Filter* const unknown = unknown_filter(filters);
  if (!unknown) return {};
  return Status(Code::kUnsupported, "found chunks with filter " + filter_text(*unknown) +
                                        ", expected deflate, shuffle, fletcher32 or zstd");
}

Result<std::vector<std::byte>> decode_chunk(const std::vector<Filter>& filters, std::uint32_t mask,
                                            std::vector<std::byte> stored, std::uint64_t length,
                                            std::uint64_t element_size) {
  // A checksum ahead of a compressor makes what that gave longer.
  const std::uint64_t limit = length + kSum * filters.size();
  for (std::size_t i = filters.size(); i-- > 0;) {
    if (mask >> i & 1) continue;
    const Filter& filter = filters[i];
    if (filter.id == kFletcher32) {
      NMB_ASSIGN(stored, without_sum(std::move(stored)));
    } else if (filter.id == kDeflate) {
      NMB_ASSIGN(stored, inflated(stored, limit));
    } else if (filter.id == kZstd) {
      NMB_ASSIGN(stored, unpacked(stored, limit));
    } else {
      const std::uint64_t size =
          filter.parameters.empty() ? element_size : filter.parameters.front();
      if (size == 0) return damaged("found elements of 0 bytes to unshuffle");
      stored = unshuffled(stored, size);
    }
  }
  if (stored.size() != length)
    return damaged("found a chunk of " + std::to_string(stored.size()) + " bytes, expected " +
                   std::to_string(length));
  return stored;
}

}  // namespace nmb
