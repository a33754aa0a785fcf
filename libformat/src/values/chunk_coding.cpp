// Encodes chunks (see values/chunk_coding.h).
#include "values/chunk_coding.h"

#include <algorithm>
#include <utility>

#include "parallel/workers.h"
#include "values/chunk_filters.h"
#include "wire/joined_text.h"
#include "wire/memory_room.h"

namespace nmb {

namespace {

// If the memory limit is too low to encode one chunk at a time, adds the limit that is enough.
Status with_enough_memory(const Status& status, const ChunksToCode& chunks) {
  constexpr std::uint64_t kMiB = 1 << 20, kRest = 4 * kMiB;
  // A stored chunk in encoded and in decoded form, and in the cache; a new chunk in decoded and in
  // encoded form.
  const std::uint64_t chunk = chunks.grid.chunk_bytes();
  const std::uint64_t enough = 2 * chunk + 3 * std::max(chunk, chunks.source_bytes) + kRest;
  if (status.code() != Code::kLimit || memory_limit() >= enough) return status;
  return status.with(
      joined_text("a memory limit of ", enough / kMiB + 1, " MiB is enough for these chunks"));
}

}  // namespace

Status code_chunks(
    const ChunksToCode& chunks, const CodingRules& rules,
    const std::function<Status(std::uint64_t first, std::span<const CodedChunk> coded)>& take) {
  const ChunkGrid& grid = chunks.grid;
  // Each thread needs memory for about three times the bytes of a chunk.
  const std::uint64_t chunk_bytes = std::max<std::uint64_t>(grid.chunk_bytes(), 1);
  const std::uint64_t threads = std::clamp<std::uint64_t>(
      memory_room(4 * kCodedAtOnce) / (3 * chunk_bytes), 1, std::max(rules.threads, 1u));
  const std::uint64_t window =
      std::min(grid.count(), std::max(threads, memory_room(kCodedAtOnce) / chunk_bytes));
  std::vector<CodedChunk> coded(window);
  for (std::uint64_t first = 0; first < grid.count(); first += window) {
    const auto count = static_cast<std::size_t>(std::min(window, grid.count() - first));
    std::atomic<std::size_t> next{0};
    const Status status = share_work(
        std::min<std::size_t>(threads, count), [&](const std::atomic<bool>& stop) -> Status {
          for (std::size_t i; !stop && (i = next++) < count;) {
            if (rules.cancel && rules.cancel->load()) return Status(Code::kIo, "interrupted");
            coded[i] = {};
            NMB_ASSIGN(std::vector<std::byte> chunk, chunks.load(first + i));
            if (chunk.empty()) continue;
            coded[i].bytes =
                encode_chunk(chunks.filters, std::move(chunk), grid.value_size(), &coded[i].mask);
          }
          return {};
        });
    if (!status.ok()) return with_enough_memory(status, chunks);
    NMB_TRY(take(first, std::span<const CodedChunk>(coded).first(count)));
  }
  return {};
}

}  // namespace nmb
