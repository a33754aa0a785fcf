// Encodes chunks (see convert/chunk_coder.h).
#include "convert/chunk_coder.h"

#include <algorithm>
#include <utility>

#include "parallel/workers.h"
#include "values/chunk_filters.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/memory_room.h"

namespace nmb {

namespace {

// The approximate size in bytes of a chunk whose shape is chosen here.
constexpr std::uint64_t kUsualChunk = 1 << 20;

}  // namespace

std::vector<std::uint64_t> usual_chunk(std::span<const std::uint64_t> lengths,
                                       std::uint64_t value_size) {
  std::vector<std::uint64_t> chunk(lengths.begin(), lengths.end());
  std::uint64_t bytes = value_size;
  for (const std::uint64_t length : lengths)
    if (!checked_mul(bytes, length, &bytes)) return chunk;
  for (std::uint64_t& n : chunk) {
    if (bytes <= kUsualChunk) break;
    const std::uint64_t row = bytes / n;
    n = std::max<std::uint64_t>(1, kUsualChunk / row);
    bytes = row * n;
  }
  return chunk;
}

ChunkCutter::ChunkCutter(const ByteSource& array, const std::vector<std::uint64_t>& lengths,
                         const std::vector<std::uint64_t>& chunk, std::vector<std::byte> fill)
    : array_(array),
      lengths_(lengths),
      chunk_(chunk),
      fill_(std::move(fill)),
      value_size_(fill_.size()) {
  // A chunk has the whole length of all dimensions from here on, so their elements are one run of
  // bytes.
  first_whole_ = lengths_.size();
  while (first_whole_ > 1 && chunk_[first_whole_ - 1] == lengths_[first_whole_ - 1]) --first_whole_;
  chunk_bytes_ = value_size_;
  for (const std::uint64_t n : chunk_) chunk_bytes_ *= n;
}

Status ChunkCutter::cut(std::uint64_t number, std::vector<std::byte>* out) const {
  out->resize(chunk_bytes_);
  const std::size_t rank = lengths_.size();
  std::vector<std::uint64_t> first(rank), count(rank), at(rank, 0);
  for (std::size_t i = rank; i-- > 0;) {
    const std::uint64_t chunks = chunks_along(lengths_[i], chunk_[i]);
    first[i] = number % chunks * chunk_[i];
    number /= chunks;
    count[i] = std::min(chunk_[i], lengths_[i] - first[i]);
  }
  if (count != chunk_)
    for (std::uint64_t byte = 0; byte < chunk_bytes_; byte += value_size_)
      std::ranges::copy(fill_, out->begin() + static_cast<std::ptrdiff_t>(byte));
  // The slowest-varying dimension within a run.
  const std::size_t last = first_whole_ - 1;
  std::uint64_t run = count[last] * value_size_;
  for (std::size_t i = first_whole_; i < rank; ++i) run *= lengths_[i];
  for (;;) {
    std::uint64_t from = 0, to = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      from = from * lengths_[i] + first[i] + at[i];
      to = to * chunk_[i] + at[i];
    }
    NMB_TRY(array_.read_at(from * value_size_, std::span(*out).subspan(to * value_size_, run)));
    std::size_t i = last;
    while (i-- > 0) {
      if (++at[i] < count[i]) break;
      at[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return {};
  }
}

void ChunkRuns::add(const SplicedSource::Run& run) {
  if (!runs_.empty() && runs_.back().from == run.from && runs_.back().end() == run.offset &&
      runs_.back().source + runs_.back().length == run.source)
    runs_.back().length += run.length;
  else
    runs_.push_back(run);
}

Result<std::uint64_t> code_chunks(const ChunksToCode& chunks, const CodingRules& rules,
                                  SpoolFile& spool, std::uint64_t begin, ChunkRuns* runs) {
  const std::uint64_t table = spool.size(), table_bytes = chunks.count * ChunkRow::kLength;
  if (chunks.count == 0) return std::uint64_t{0};
  std::uint64_t spooled = table + table_bytes, end = table_bytes;
  const auto window = static_cast<std::size_t>(std::min(
      chunks.count,
      std::max<std::uint64_t>(rules.threads, memory_room(kCodedAtOnce) / chunks.chunk_bytes)));
  struct Coded {
    std::optional<StoredChunk> kept;
    std::vector<std::byte> bytes;
    std::uint32_t mask = 0;
  };
  std::vector<Coded> coded(window);
  const auto code_one = [&](std::uint64_t number, Coded* out) -> Status {
    *out = {};
    if (chunks.stored) out->kept = chunks.stored(number);
    if (out->kept) return {};
    NMB_ASSIGN(std::vector<std::byte> chunk, chunks.load(number));
    // A chunk that was never written is not written here either.
    if (!chunk.empty())
      out->bytes = encode_chunk(*chunks.filters, std::move(chunk), chunks.value_size, &out->mask);
    return {};
  };
  runs->add({begin, table_bytes, table, runs->spool()});
  std::vector<std::byte> rows, stored;
  for (std::uint64_t first = 0; first < chunks.count; first += window) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(window, chunks.count - first));
    std::atomic<std::size_t> next{0};
    NMB_TRY(share_work(std::min<std::size_t>(rules.threads, count),
                       [&](const std::atomic<bool>& stop) -> Status {
                         for (std::size_t i; !stop && (i = next++) < count;) {
                           if (rules.cancel && rules.cancel->load())
                             return Status(Code::kIo, "interrupted");
                           NMB_TRY(code_one(first + i, &coded[i]));
                         }
                         return {};
                       }));
    rows.assign(count * ChunkRow::kLength, std::byte{0});
    stored.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const Coded& one = coded[i];
      const std::uint64_t length = one.kept ? one.kept->stored_length : one.bytes.size();
      if (length == 0) continue;
      std::byte* const row = rows.data() + i * ChunkRow::kLength;
      store_le(row, end);
      store_le(row + 8, length);
      store_le(row + 16, one.kept ? one.kept->filter_mask : one.mask);
      if (one.kept) {
        runs->add({begin + end, length, one.kept->offset, one.kept->source});
      } else {
        runs->add({begin + end, length, spooled + stored.size(), runs->spool()});
        stored.insert(stored.end(), one.bytes.begin(), one.bytes.end());
      }
      end += length;
    }
    NMB_TRY(spool.write_at(table + first * ChunkRow::kLength, rows));
    NMB_TRY(spool.write_at(spooled, stored));
    spooled += stored.size();
  }
  return end;
}

}  // namespace nmb
