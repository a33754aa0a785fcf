// code_chunks: encodes the chunks of an array on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nmb/extension.h"
#include "nmb/status.h"
#include "parallel/workers.h"
#include "values/chunk_filters.h"
#include "values/rechunked_array.h"
#include "wire/memory_room.h"

namespace nmb {

struct CodedChunk {
  std::vector<std::byte> bytes;  // no bytes: the chunk was never written
  std::uint32_t mask = 0;        // filters that were skipped
};

// The most bytes of all decoded chunks that are encoded at the same time.
inline constexpr std::uint64_t kCodedAtOnce = 64 << 20;

// Calls take(first, chunks) for all chunks of the array in ascending order, several at a time;
// `first` is the number of the first one. The bytes do not depend on the number of threads. Memory:
// chunks of 64 MiB in all, or a few chunks if they are longer. `cancel` may be nullptr. Errors:
// kIo "interrupted"; those of RechunkedArray::chunk() and take().
template <class Take>
Status code_chunks(const RechunkedArray& array, const std::vector<Filter>& filters,
                   unsigned threads, const std::atomic<bool>* cancel, const Take& take) {
  // A thread holds a chunk in about three forms.
  const std::uint64_t chunk_bytes = std::max<std::uint64_t>(array.chunk_bytes(), 1);
  const std::uint64_t at_once = std::clamp<std::uint64_t>(
      memory_room(4 * kCodedAtOnce) / (3 * chunk_bytes), 1, std::max(threads, 1u));
  const auto window = static_cast<std::size_t>(std::min(
      array.chunks(), std::max<std::uint64_t>(at_once, memory_room(kCodedAtOnce) / chunk_bytes)));
  std::vector<CodedChunk> coded(window);
  for (std::uint64_t first = 0; first < array.chunks(); first += window) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(window, array.chunks() - first));
    std::atomic<std::size_t> next{0};
    NMB_TRY(share_work(
        std::min<std::size_t>(at_once, count), [&](const std::atomic<bool>& stop) -> Status {
          for (std::size_t i; !stop && (i = next++) < count;) {
            if (cancel && cancel->load()) return Status(Code::kIo, "interrupted");
            NMB_ASSIGN(std::vector<std::byte> chunk, array.chunk(first + i));
            coded[i] = {};
            if (chunk.empty()) continue;
            coded[i].bytes =
                encode_chunk(filters, std::move(chunk), array.value_size(), &coded[i].mask);
          }
          return {};
        }));
    NMB_TRY(take(first, std::span<const CodedChunk>(coded).first(count)));
  }
  return {};
}

}  // namespace nmb
