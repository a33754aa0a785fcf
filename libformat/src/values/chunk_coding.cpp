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

// Encodes some chunks at a time.
class ChunkWindow {
 public:
  ChunkWindow(const ChunksToCode& chunks, const CodingRules& rules, std::size_t threads)
      : chunks_(chunks), rules_(rules), threads_(threads) {}

  // Encodes the chunks from number `first` on.
  Status code(std::uint64_t first, std::span<CodedChunk> coded) {
    first_ = first;
    coded_ = coded;
    std::vector<std::size_t> own, sent;
    NMB_TRY(share(&own, &sent));
    const Status status = code_here(own);
    if (sent.empty()) return status;
    NMB_ASSIGN(std::vector<std::optional<CodedChunk>> results, rules_.helpers->receive());
    NMB_TRY(status);
    std::vector<std::size_t> failed;
    for (std::size_t i = 0; i < sent.size(); ++i)
      if (results[i])
        coded_[sent[i]] = *std::move(results[i]);
      else
        failed.push_back(sent[i]);
    // The message of an error names the chunk only if the chunk is encoded here.
    return code_here(failed);
  }

 private:
  // Divides the chunks among this process and the helpers. Sends jobs to the helpers if *sent is
  // not empty.
  Status share(std::vector<std::size_t>* own, std::vector<std::size_t>* sent) {
    const std::size_t helpers = chunks_.job && rules_.helpers ? rules_.helpers->count() : 0;
    std::vector<std::vector<std::byte>> jobs;
    for (std::size_t i = 0; i < coded_.size(); ++i) {
      std::vector<std::byte> job;
      if ((own->size() + sent->size()) % (helpers + 1) != 0) {
        NMB_ASSIGN(job, chunks_.job(first_ + i));
      }
      (job.empty() ? own : sent)->push_back(i);
      if (!job.empty()) jobs.push_back(std::move(job));
    }
    return jobs.empty() ? Status() : rules_.helpers->send(jobs);
  }

  Status code_here(std::span<const std::size_t> places) {
    std::atomic<std::size_t> next{0};
    return share_work(
        std::min(threads_, places.size()), [&](const std::atomic<bool>& stop) -> Status {
          for (std::size_t i; !stop && (i = next++) < places.size();) {
            if (rules_.cancel && rules_.cancel->load()) return Status(Code::kIo, "interrupted");
            CodedChunk& coded = coded_[places[i]];
            coded = {};
            NMB_ASSIGN(std::vector<std::byte> chunk, chunks_.load(first_ + places[i]));
            if (chunk.empty()) continue;
            coded.bytes = encode_chunk(chunks_.filters, std::move(chunk), chunks_.grid.value_size(),
                                       &coded.mask);
          }
          return {};
        });
  }

  const ChunksToCode& chunks_;
  const CodingRules& rules_;
  const std::size_t threads_;
  std::uint64_t first_ = 0;
  std::span<CodedChunk> coded_;
};

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
  ChunkWindow work(chunks, rules, threads);
  std::vector<CodedChunk> coded(window);
  for (std::uint64_t first = 0; first < grid.count(); first += window) {
    const auto part =
        std::span(coded).first(static_cast<std::size_t>(std::min(window, grid.count() - first)));
    if (const Status status = work.code(first, part); !status.ok())
      return with_enough_memory(status, chunks);
    NMB_TRY(take(first, part));
  }
  return {};
}

}  // namespace nmb
