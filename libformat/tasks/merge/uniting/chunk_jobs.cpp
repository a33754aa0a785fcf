#include "merge/uniting/chunk_jobs.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "parallel/message_fields.h"
#include "parallel/workers.h"
#include "values/chunk_filters.h"
#include "values/chunk_table.h"
#include "wire/endian.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, Filter& filter) {
  all(filter.id, filter.flags, filter.name, filter.parameters);
}

template <class Fields>
void fields(Fields& all, ChunkJobArray& array) {
  all(array.lengths, array.chunk, array.form, array.filters, array.fill);
}

template <class Fields>
void fields(Fields& all, CodedChunk& chunk) {
  all(chunk.bytes, chunk.mask);
}

template <class Fields>
void fields(Fields& all, BoxInChunks::Part& part) {
  all(part.first, part.count);
}

namespace {

// The stored chunks of a box. In a message, the region follows: a table with one row for each of
// these chunks, and their stored bytes.
struct StoredPart {
  ChunkGrid::Lengths first;  // index of the first value of the box in the united array
  std::optional<BoxInChunks::Part> part;
  ChunkGrid::Lengths lengths;  // lengths of the stored array
  ChunkGrid::Lengths chunk;    // lengths of a chunk
  ChunkJobForm form;
  std::vector<Filter> filters;
  std::vector<std::byte> fill;  // value of chunks that were never written, in the united form
  std::vector<std::uint64_t> numbers;  // ascending
};

template <class Fields>
void fields(Fields& all, StoredPart& part) {
  all(part.first, part.part, part.lengths, part.chunk, part.form, part.filters, part.fill,
      part.numbers);
}

// A chunk that a rank must encode.
struct WantedChunk {
  std::uint64_t number = 0;
  std::vector<std::uint64_t> parts;   // the boxes that have the values
  std::span<const std::byte> values;  // used if there are no parts
};

template <class Fields>
void fields(Fields& all, WantedChunk& chunk) {
  all(chunk.number, chunk.parts, chunk.values);
}

// A job on the rank that encodes the chunks.
class ChunkJob {
 public:
  // `message` must outlive the object.
  static Result<ChunkJob> read(std::span<const std::byte> message) {
    ChunkJob job;
    FieldsIn in(message);
    job.array_ = in.next<ChunkJobArray>();
    NMB_ASSIGN(job.grid_,
               ChunkGrid::make(job.array_.lengths, job.array_.chunk, job.array_.form.size()));
    const auto cache = std::make_shared<ChunkCache>(kCodedAtOnce);
    for (auto left = in.next<std::uint64_t>(); left > 0; --left) {
      auto part = in.next<StoredPart>();
      const auto region = in.next<std::span<const std::byte>>();
      NMB_TRY(in.status());
      NMB_ASSIGN(job.boxes_.emplace_back(), job.box_of(std::move(part), region, cache));
    }
    for (auto left = in.next<std::uint64_t>(); left > 0 && in.ok(); --left)
      job.chunks_.push_back(in.next<WantedChunk>());
    NMB_TRY(in.status());
    return job;
  }

  // Returns the encoded chunks; nullopt for a chunk that failed.
  std::vector<std::optional<CodedChunk>> encode(const CodingRules& rules) const {
    std::vector<std::optional<CodedChunk>> results(chunks_.size());
    std::atomic<std::size_t> next{0};
    // If a thread fails, results are missing.
    static_cast<void>(share_work(std::min<std::size_t>(std::max(rules.threads, 1u), chunks_.size()),
                                 [&](const std::atomic<bool>& stop) -> Status {
                                   for (std::size_t i; !stop && (i = next++) < chunks_.size();) {
                                     if (rules.cancel && rules.cancel->load()) return {};
                                     NMB_ASSIGN(results[i], encode(chunks_[i]));
                                   }
                                   return {};
                                 })
                          .ok());
    return results;
  }

 private:
  Result<BoxInChunks> box_of(StoredPart part, std::span<const std::byte> region,
                             const std::shared_ptr<ChunkCache>& cache) const {
    BoxInChunks box;
    box.first = std::move(part.first);
    box.part = std::move(part.part);
    NMB_ASSIGN(box.grid, ChunkGrid::make(part.lengths, part.chunk, array_.form.size()));
    box.fill = std::move(part.fill);
    Storage storage;
    storage.chunk = part.chunk;
    storage.filters = part.filters;
    box.table = std::make_shared<const ChunkTable>(std::make_shared<MemorySource>(region, "chunks"),
                                                   storage, part.form.form.size());
    box.numbers = std::move(part.numbers);
    if (part.form.form != array_.form)
      box.convert = [from = part.form, to = array_.form](std::vector<std::byte> values) {
        return converted(std::move(values), from.form, to, from.maps_fill);
      };
    box.cache = cache;
    box.array = cache->add_array();
    return box;
  }

  Result<CodedChunk> encode(const WantedChunk& wanted) const {
    std::vector<std::byte> values(wanted.values.begin(), wanted.values.end());
    if (!wanted.parts.empty()) {
      GatheredChunk chunk(grid_, wanted.number, array_.fill);
      for (const std::uint64_t part : wanted.parts) NMB_TRY(chunk.add(boxes_[part]).status());
      values = chunk.take();
    }
    CodedChunk coded;
    if (!values.empty())
      coded.bytes =
          encode_chunk(array_.filters, std::move(values), grid_.value_size(), &coded.mask);
    return coded;
  }

  ChunkJobArray array_;
  ChunkGrid grid_{};
  std::vector<BoxInChunks> boxes_;
  std::vector<WantedChunk> chunks_;
};

std::vector<std::byte> bytes_of(const std::vector<std::optional<CodedChunk>>& results,
                                Communicator& ranks) {
  std::size_t length = sizeof(std::uint64_t);
  for (const std::optional<CodedChunk>& one : results)
    length += 1 + (one ? sizeof(CodedChunk) + one->bytes.size() : 0);
  FieldsOut out;
  out.use(ranks.parcel_bytes(length));
  out(results);
  return out.take();
}

}  // namespace

std::vector<std::optional<CodedChunk>> encode_chunks(std::span<const std::byte> message,
                                                     const CodingRules& rules) {
  const Result<ChunkJob> job = ChunkJob::read(message);
  return job.ok() ? job->encode(rules) : std::vector<std::optional<CodedChunk>>();
}

Status ChunkJobMaker::take_from(const BoxInChunks& box, const ChunkJobForm& form) {
  const auto [place, is_new] = places_.try_emplace(&box, parts_.size());
  if (is_new) parts_.push_back({&box, form, {}});
  chunks_.back().parts.push_back(place->second);
  std::map<std::uint64_t, ChunkRow>& rows = parts_[place->second].rows;
  const ChunkGrid::Lengths first = grid_.first_of(chunks_.back().number);
  const ChunkGrid::Lengths count = grid_.count_of(first);
  const ChunkGrid::Lengths& chunk = box.grid.chunk();
  ChunkGrid::Lengths low(first.size()), high(first.size());  // in chunks of the box
  for (std::size_t i = 0; i < first.size(); ++i) {
    low[i] = box.stored_index(i, std::max(first[i], box.first[i])) / chunk[i];
    const std::uint64_t end = std::min(first[i] + count[i], box.first[i] + box.count_at(i));
    high[i] = chunks_along(box.stored_index(i, end), chunk[i]);
  }
  return for_each_index(low, high, [&](const ChunkGrid::Lengths& at) -> Status {
    const std::uint64_t number = box.grid.number_at(at);
    if (is_too_long() || rows.contains(number)) return {};
    NMB_ASSIGN(const std::vector<ChunkRow> row, box.table->rows(number, 1));
    NMB_TRY(box.table->check_place(number, row[0]));
    rows.emplace(number, row[0]);
    constexpr std::uint64_t kRow = 128;  // approximate memory of a row
    stored_bytes_ += kRow + row[0].stored_length;
    return {};
  });
}

Result<std::vector<std::byte>> ChunkJobMaker::finish(
    const std::function<Result<std::vector<std::byte>>(std::uint64_t number)>& load) const {
  if (is_too_long()) return std::vector<std::byte>();
  FieldsOut out;
  std::vector<std::byte> memory;
  memory.reserve(stored_bytes_);
  out.use(std::move(memory));
  out(array_);
  out(std::uint64_t{parts_.size()});
  for (const auto& [box, form, rows] : parts_) {
    StoredPart part{box->first,        box->part, box->grid.lengths(),
                    box->grid.chunk(), form,      box->table->filters(),
                    box->fill,         {}};
    std::uint64_t length = rows.size() * ChunkRow::kLength, end = length;
    for (const auto& [number, row] : rows) {
      part.numbers.push_back(number);
      length += row.stored_length;
    }
    out(part);
    const std::span<std::byte> region = out.put_room(length);
    std::byte* at = region.data();
    for (const auto& [number, row] : rows) {
      store_le(at, end);
      store_le(at + 8, row.stored_length);
      store_le(at + 16, row.filter_mask);
      at += ChunkRow::kLength;
      NMB_TRY(box->table->read_stored(number, row, 0, region.subspan(end, row.stored_length)));
      end += row.stored_length;
    }
  }
  out(std::uint64_t{chunks_.size()});
  for (const auto& [number, parts] : chunks_) {
    std::vector<std::byte> values;
    if (parts.empty()) {
      NMB_ASSIGN(values, load(number));
    }
    out(WantedChunk{number, parts, values});
  }
  return out.take();
}

// An empty message ends all jobs.
Status RankHelpers::send(std::vector<std::vector<std::byte>> jobs) {
  std::vector<Communicator::Parcel> parcels;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (!jobs[i].empty()) parcels.push_back({static_cast<int>(i) + 1, std::move(jobs[i])});
  NMB_TRY(ranks_.exchange(std::move(parcels)).status());
  // MPI may need this rank to send a long message. Therefore this rank must not encode chunks
  // before the messages have arrived.
  return ranks_.barrier();
}

Result<std::vector<std::vector<std::optional<CodedChunk>>>> RankHelpers::receive() {
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange({}));
  std::vector<std::vector<std::optional<CodedChunk>>> results(count());
  for (const Message& message : arrived)
    NMB_TRY(take_fields(message.bytes(), &results[static_cast<std::size_t>(message.from()) - 1]));
  return results;
}

Status RankHelpers::end() {
  if (count() == 0) return {};
  std::vector<Communicator::Parcel> parcels;
  for (int rank = 1; rank < ranks_.size(); ++rank) parcels.push_back({rank, {}});
  return ranks_.exchange(std::move(parcels)).status();
}

Status serve_jobs(Communicator& ranks, const std::function<std::vector<std::optional<CodedChunk>>(
                                           std::span<const std::byte> message)>& encode) {
  const auto is_end = [](const std::vector<Message>& arrived) {
    return !arrived.empty() && arrived.front().bytes().empty();
  };
  for (;;) {
    NMB_ASSIGN(std::vector<Message> arrived, ranks.exchange({}));
    if (is_end(arrived)) return {};
    NMB_TRY(ranks.barrier());
    std::vector<Communicator::Parcel> answer;
    if (!arrived.empty()) answer.push_back({0, bytes_of(encode(arrived.front().bytes()), ranks)});
    // Rank 0 may end the jobs without waiting for the results.
    NMB_ASSIGN(arrived, ranks.exchange(std::move(answer)));
    if (is_end(arrived)) return {};
  }
}

}  // namespace nmb
