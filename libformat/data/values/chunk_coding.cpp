#include "values/chunk_coding.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "parallel/workers.h"
#include "values/chunk_filters.h"
#include "wire/joined_text.h"
#include "wire/memory_budget.h"

namespace nmb {

namespace {

// If the memory limit is too low for encoding even one chunk, adds to the error a limit that is
// enough.
Status with_enough_memory(const Status& status, const ChunksToCode& chunks) {
  constexpr std::uint64_t kMiB = 1 << 20, kRest = 4 * kMiB;
  // Memory holds three copies of a stored chunk (encoded, decoded, and in the cache), and two
  // copies of a new chunk (decoded and encoded).
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
    own_.clear();
    sent_.clear();
    NMB_TRY(share());
    const Status status = code_here();
    if (sent_.empty()) return status;
    NMB_ASSIGN(auto results, rules_.helpers->receive());
    if (status.ok() && take(std::move(results))) return {};
    // Encode all chunks again here, so that the message of an error names the chunk, and the error
    // does not depend on the number of helpers.
    own_.resize(coded_.size());
    std::iota(own_.begin(), own_.end(), first_);
    return code_here();
  }

 private:
  // Divides the chunks among this process and the helpers, and sends the helpers their jobs. If
  // there are no jobs, sent_ is empty afterwards. Each helper gets successive chunks, which often
  // need the same stored chunks.
  Status share() {
    const std::size_t helpers = chunks_.job && rules_.helpers ? rules_.helpers->count() : 0;
    std::vector<std::uint64_t> encoded;  // numbers of the chunks that must be encoded
    for (std::uint64_t n = first_; n < first_ + coded_.size(); ++n)
      (helpers > 0 && chunks_.is_encoded(n) ? encoded : own_).push_back(n);
    // This process also reads and writes, so it gets no more chunks than a helper.
    const std::size_t own =
        std::min(encoded.size(), std::max<std::size_t>(encoded.size() / (helpers + 1), 1));
    const std::span<const std::uint64_t> others = std::span(encoded).subspan(own);
    own_.insert(own_.end(), encoded.begin(),
                encoded.end() - static_cast<std::ptrdiff_t>(others.size()));
    std::vector<std::vector<std::byte>> jobs(helpers);
    sent_.resize(helpers);
    const std::uint64_t most = memory_budget(2 * kCodedAtOnce);
    std::uint64_t bytes = 0;  // in all jobs
    for (std::size_t i = 0; i < helpers; ++i) {
      const std::size_t begin = others.size() * i / helpers;
      const auto numbers = others.subspan(begin, others.size() * (i + 1) / helpers - begin);
      if (numbers.empty()) continue;
      // If the job cannot be made, load() reports the error.
      if (Result<std::vector<std::byte>> job = chunks_.job(numbers, most - std::min(bytes, most));
          job.ok())
        jobs[i] = *std::move(job);
      std::ranges::copy(numbers, std::back_inserter(jobs[i].empty() ? own_ : sent_[i]));
      bytes += jobs[i].size();
    }
    std::ranges::sort(own_);
    if (bytes == 0) sent_.clear();
    return bytes > 0 ? rules_.helpers->send(std::move(jobs)) : Status();
  }

  // Encodes the chunks in own_.
  Status code_here() {
    std::atomic<std::size_t> next{0};
    return share_work(std::min(threads_, own_.size()),
                      [&](const std::atomic<bool>& stop) -> Status {
                        for (std::size_t i; !stop && (i = next++) < own_.size();) {
                          if (rules_.cancel && rules_.cancel->load())
                            return Status(Code::kIo, "interrupted");
                          const std::uint64_t number = own_[i];
                          CodedChunk& coded = coded_[number - first_];
                          coded = {};
                          NMB_ASSIGN(std::vector<std::byte> chunk, chunks_.load(number));
                          if (chunk.empty()) continue;
                          coded.bytes = encode_chunk(chunks_.filters, std::move(chunk),
                                                     chunks_.grid.value_size(), &coded.mask);
                        }
                        return {};
                      });
  }

  // Takes the chunks from the helpers. Returns false if a chunk is missing.
  bool take(std::vector<std::vector<std::optional<CodedChunk>>> results) {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      if (results[i].size() != sent_[i].size()) return false;
      for (std::size_t k = 0; k < sent_[i].size(); ++k) {
        if (!results[i][k]) return false;
        coded_[sent_[i][k] - first_] = *std::move(results[i][k]);
      }
    }
    return true;
  }

  const ChunksToCode& chunks_;
  const CodingRules& rules_;
  const std::size_t threads_;
  std::uint64_t first_ = 0;
  std::span<CodedChunk> coded_;
  std::vector<std::uint64_t> own_;                // numbers of the chunks that are encoded here
  std::vector<std::vector<std::uint64_t>> sent_;  // for each helper, the numbers in its job
};

}  // namespace

Status code_chunks(
    const ChunksToCode& chunks, const CodingRules& rules,
    const std::function<Status(std::uint64_t first, std::span<const CodedChunk> coded)>& take) {
  const ChunkGrid& grid = chunks.grid;
  // Each thread needs memory for about three decoded chunks.
  const std::uint64_t chunk_bytes = std::max<std::uint64_t>(grid.chunk_bytes(), 1);
  const std::uint64_t threads = std::clamp<std::uint64_t>(
      memory_budget(4 * kCodedAtOnce) / (3 * chunk_bytes), 1, std::max(rules.threads, 1u));
  const std::uint64_t window =
      std::min(grid.count(), std::max(threads, memory_budget(kCodedAtOnce) / chunk_bytes));
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
