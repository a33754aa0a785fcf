#include "verify/value_ranks.h"

#include <memory>
#include <utility>

#include "files/copy_buffer.h"
#include "files/files.h"
#include "parallel/outbox.h"
#include "parallel/workers.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, ValueOutcome& outcome) {
  all(outcome.wrong_sum, outcome.decodes, outcome.dirty_padding, outcome.status);
}

namespace {

// The fields of a ValueRange that another rank needs.
struct SentRange {
  std::uint64_t position, length, sum, raw_length;
  PieceCodec codec;
};

// A message of rank 0: ranges of a file to check, or the end of the work.
struct ValueTask {
  bool is_end = false;
  std::string path;
  std::vector<SentRange> ranges;
};

template <class Fields>
void fields(Fields& all, ValueTask& task) {
  all(task.is_end, task.path, task.ranges);
}

// The answer to a ValueTask: an outcome for each range.
using ValueOutcomes = std::vector<ValueOutcome>;

// Checks ranges for rank 0. Keeps the file of the last request open.
class Server {
 public:
  explicit Server(unsigned threads) : threads_(threads) {}

  std::vector<ValueOutcome> check(const std::string& path, const std::vector<SentRange>& received) {
    std::vector<ValueOutcome> outcomes(received.size());
    if (!file_ || path != file_->name()) {
      Result<std::unique_ptr<FileSource>> opened = FileSource::open(path);
      if (!opened.ok()) {
        for (ValueOutcome& outcome : outcomes) outcome.status = opened.status();
        return outcomes;
      }
      file_ = std::move(*opened);
    }
    for_each_on_threads(threads_, received.size(), [&] {
      return [&, buffer = CopyBuffer()](std::size_t i) mutable {
        ValueRange range;
        range.position = received[i].position;
        range.length = received[i].length;
        range.sum = received[i].sum;
        range.raw_length = received[i].raw_length;
        range.codec = received[i].codec;
        outcomes[i] = check_range(*file_, range, buffer);
      };
    });
    return outcomes;
  }

 private:
  const unsigned threads_;
  std::unique_ptr<FileSource> file_;
};

}  // namespace

std::vector<std::size_t> sent_ends(const std::vector<ValueRange>& ranges, int ranks) {
  std::uint64_t all = 0, before = 0;
  for (const ValueRange& range : ranges) all += range.external ? 0 : range.length;
  std::vector<std::size_t> ends;
  const auto parts = static_cast<std::uint64_t>(ranks);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    before += ranges[i].external ? 0 : ranges[i].length;
    while (ends.size() + 1 < parts && before >= all / parts * (ends.size() + 1))
      ends.push_back(i + 1);
  }
  ends.resize(parts, ranges.size());
  return ends;
}

Status deal_values(Communicator& ranks, const std::string& path,
                   const std::vector<ValueRange>& ranges, const std::vector<std::size_t>& ends) {
  Outbox<ValueTask> tasks;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    ValueTask task{false, path, {}};
    const auto place = static_cast<std::size_t>(rank);
    for (std::size_t i = ends[place - 1]; i < ends[place]; ++i) {
      const ValueRange& range = ranges[i];
      if (!range.external)
        task.ranges.push_back(
            {range.position, range.length, range.sum, range.raw_length, range.codec});
    }
    tasks.add(rank, task);
  }
  return exchange(ranks, tasks).status();
}

Status gather_values(Communicator& ranks, const std::vector<ValueRange>& ranges,
                     const std::vector<std::size_t>& ends, std::vector<ValueOutcome>* outcomes) {
  Outbox<ValueOutcomes> none;
  NMB_ASSIGN(Inbox<ValueOutcomes> answers, exchange(ranks, none));
  for (auto& [from, of_rank] : answers) {
    const auto rank = static_cast<std::size_t>(from);
    auto next = of_rank.begin();
    for (std::size_t i = ends[rank - 1]; i < ends[rank]; ++i) {
      if (ranges[i].external) continue;
      if (next == of_rank.end())
        return agree_on_fields(
            ranks, Status(Code::kDamaged, "a rank did not report all ranges that it was sent"));
      (*outcomes)[i] = std::move(*next++);
    }
  }
  return {};
}

Status serve_values(Communicator& ranks, unsigned threads) {
  Server server(threads);
  for (;;) {
    Outbox<ValueTask> none;
    NMB_ASSIGN(const Inbox<ValueTask> tasks, exchange(ranks, none));
    const ValueTask& task = tasks.begin()->what;
    if (task.is_end) return {};
    Outbox<ValueOutcomes> answer;
    answer.add(0, server.check(task.path, task.ranges));
    NMB_TRY(exchange(ranks, answer).status());
  }
}

Status end_values(Communicator& ranks) {
  Outbox<ValueTask> tasks;
  for (int rank = 1; rank < ranks.size(); ++rank) tasks.add(rank, {true, {}, {}});
  return exchange(ranks, tasks).status();
}

}  // namespace nmb
