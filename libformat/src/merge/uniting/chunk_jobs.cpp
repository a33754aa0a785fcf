// Encodes chunks for other ranks (see merge/uniting/chunk_jobs.h).
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
void fields(Fields& all, ChunkJobPart& part) {
  all(part.first, part.lengths, part.chunk, part.form, part.maps_fill, part.filters, part.fill,
      part.region);
}

template <class Fields>
void fields(Fields& all, ChunkJob& job) {
  all(job.lengths, job.chunk, job.number, job.form, job.filters, job.fill, job.parts, job.values);
}

template <class Fields>
void fields(Fields& all, CodedChunk& chunk) {
  all(chunk.bytes, chunk.mask);
}

namespace {

// What rank 0 sends to a rank: either jobs, or the end of all jobs.
struct JobMessage {
  bool is_end = false;
  std::vector<std::vector<std::byte>> jobs;
};

template <class Fields>
void fields(Fields& all, JobMessage& message) {
  all(message.is_end, message.jobs);
}

template <class T>
std::vector<std::byte> bytes_of_message(const T& value) {
  FieldsOut out;
  out(value);
  return out.take();
}

Result<BoxInChunks> box_of(const ChunkJobPart& part, const ChunkJob& job) {
  BoxInChunks box;
  box.first = part.first;
  NMB_ASSIGN(box.grid, ChunkGrid::make(part.lengths, part.chunk, job.form.size()));
  box.fill = part.fill;
  Storage storage;
  storage.chunk = part.chunk;
  storage.filters = part.filters;
  box.table = std::make_shared<const ChunkTable>(
      std::make_shared<MemorySource>(part.region, "chunks"), storage, part.form.size());
  if (part.form != job.form)
    box.convert = [&part, &job](std::vector<std::byte> values) {
      return converted(std::move(values), part.form, job.form, part.maps_fill);
    };
  return box;
}

Result<CodedChunk> encode(ChunkJob job) {
  NMB_ASSIGN(const ChunkGrid grid, ChunkGrid::make(job.lengths, job.chunk, job.form.size()));
  std::vector<std::byte> values = std::move(job.values);
  if (values.empty()) {
    GatheredChunk chunk(grid, job.number, job.fill);
    std::uint64_t found = 0;
    for (const ChunkJobPart& part : job.parts) {
      NMB_ASSIGN(const BoxInChunks box, box_of(part, job));
      NMB_ASSIGN(const std::uint64_t count, chunk.add(box));
      found += count;
    }
    if (found < chunk.wanted())
      return Status(Code::kUnsupported, "some values of the chunk are not in the job");
    values = chunk.take();
  }
  CodedChunk coded;
  if (!values.empty())
    coded.bytes = encode_chunk(job.filters, std::move(values), grid.value_size(), &coded.mask);
  return coded;
}

// Returns the results of jobs; nullopt for a job that failed.
std::vector<std::optional<CodedChunk>> encode_all(const std::vector<std::vector<std::byte>>& jobs,
                                                  const CodingRules& rules) {
  std::vector<std::optional<CodedChunk>> results(jobs.size());
  std::atomic<std::size_t> next{0};
  // If a thread fails, results are missing, and rank 0 repeats these jobs.
  static_cast<void>(share_work(std::min<std::size_t>(std::max(rules.threads, 1u), jobs.size()),
                               [&](const std::atomic<bool>& stop) -> Status {
                                 for (std::size_t i; !stop && (i = next++) < jobs.size();) {
                                   if (rules.cancel && rules.cancel->load()) return {};
                                   Result<CodedChunk> coded =
                                       encode(FieldsIn(jobs[i]).next<ChunkJob>());
                                   if (coded.ok()) results[i] = *std::move(coded);
                                 }
                                 return {};
                               })
                        .ok());
  return results;
}

}  // namespace

std::vector<std::byte> ChunkJob::bytes() const { return bytes_of_message(*this); }

Status add_stored_chunks(const BoxInChunks& box, const ChunkGrid& grid, std::uint64_t number,
                         ChunkJobPart* part) {
  const ChunkGrid::Lengths first = grid.first_of(number), count = grid.count_of(first);
  const ChunkGrid::Lengths &lengths = box.grid.lengths(), &chunk = box.grid.chunk();
  ChunkGrid::Lengths low(first.size()),
      high(first.size());  // in chunks of the box
  part->first.resize(first.size());
  part->lengths.resize(first.size());
  part->chunk = chunk;
  part->fill = box.fill;
  std::uint64_t chunks = 1;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::uint64_t begin = std::max(first[i], box.first[i]) - box.first[i];
    const std::uint64_t end = std::min(first[i] + count[i] - box.first[i], lengths[i]);
    low[i] = begin / chunk[i];
    high[i] = chunks_along(end, chunk[i]);
    part->first[i] = box.first[i] + low[i] * chunk[i];
    part->lengths[i] = std::min(high[i] * chunk[i], lengths[i]) - low[i] * chunk[i];
    chunks *= high[i] - low[i];
  }
  std::vector<std::byte>& region = part->region;
  region.resize(chunks * ChunkRow::kLength);
  std::size_t at = 0;
  return for_each_index(low, high, [&](const ChunkGrid::Lengths& place) -> Status {
    const std::uint64_t stored_number = box.grid.number_at(place);
    NMB_ASSIGN(const std::vector<ChunkRow> rows, box.table->rows(stored_number, 1));
    NMB_ASSIGN(const std::vector<std::byte> stored, box.table->stored(stored_number, rows[0]));
    store_le(region.data() + at, std::uint64_t{region.size()});
    store_le(region.data() + at + 8, rows[0].stored_length);
    store_le(region.data() + at + 16, rows[0].filter_mask);
    at += ChunkRow::kLength;
    region.insert(region.end(), stored.begin(), stored.end());
    return {};
  });
}

Status RankHelpers::send(const std::vector<std::vector<std::byte>>& jobs) {
  std::vector<JobMessage> messages(count());
  for (std::size_t i = 0; i < jobs.size(); ++i) messages[i % count()].jobs.push_back(jobs[i]);
  std::vector<Communicator::Parcel> parcels;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (!messages[i].jobs.empty())
      parcels.push_back({static_cast<int>(i) + 1, bytes_of_message(messages[i])});
  sent_ = jobs.size();
  return ranks_.exchange(std::move(parcels)).status();
}

Result<std::vector<std::optional<CodedChunk>>> RankHelpers::receive() {
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange({}));
  std::vector<std::optional<CodedChunk>> results(sent_);
  for (const Message& message : arrived) {
    FieldsIn in(message.bytes());
    auto part = in.next<std::vector<std::optional<CodedChunk>>>();
    std::size_t to = static_cast<std::size_t>(message.from()) - 1;
    for (std::optional<CodedChunk>& one : part) {
      if (to < results.size()) results[to] = std::move(one);
      to += count();
    }
  }
  return results;
}

Status RankHelpers::end() {
  if (count() == 0) return {};
  JobMessage last;
  last.is_end = true;
  std::vector<Communicator::Parcel> parcels;
  for (int rank = 1; rank < ranks_.size(); ++rank)
    parcels.push_back({rank, bytes_of_message(last)});
  return ranks_.exchange(std::move(parcels)).status();
}

Status serve_chunk_jobs(Communicator& ranks, const CodingRules& rules) {
  for (;;) {
    NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange({}));
    std::vector<Communicator::Parcel> answer;
    for (const Message& message : arrived) {
      const auto sent = FieldsIn(message.bytes()).next<JobMessage>();
      if (sent.is_end) return {};
      answer.push_back({0, bytes_of_message(encode_all(sent.jobs, rules))});
    }
    NMB_TRY(ranks.exchange(std::move(answer)).status());
  }
}

}  // namespace nmb
