// Checks values on several ranks (see verify/value_ranks.h).
#include "verify/value_ranks.h"

#include <memory>
#include <utility>

#include "files/copy_buffer.h"
#include "nmb/files.h"
#include "parallel/letters.h"
#include "parallel/workers.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, ValueOutcome& outcome) {
  all(outcome.wrong_sum, outcome.decodes, outcome.dirty_padding, outcome.status);
}

namespace {

// The fields of a ValueRange that another rank needs.
struct Dealt {
  std::uint64_t position, length, sum, raw_length;
  PieceCodec codec;
};

constexpr char kCheck = 'c', kEnd = 'e';

std::vector<Dealt> ranges_in(MessageReader& in) {
  std::vector<Dealt> dealt;
  while (!in.at_end()) dealt.push_back(in.get<Dealt>());
  return dealt;
}

std::vector<std::byte> encode(const std::vector<ValueOutcome>& outcomes) {
  FieldsOut out;
  for (const ValueOutcome& outcome : outcomes) out(outcome);
  return out.take();
}

// Checks ranges for rank 0. Keeps the file of the last request open.
class Server {
 public:
  explicit Server(unsigned threads) : threads_(threads) {}

  std::vector<ValueOutcome> check(const std::string& path, const std::vector<Dealt>& dealt) {
    std::vector<ValueOutcome> outcomes(dealt.size());
    if (!file_ || path != file_->name()) {
      Result<std::unique_ptr<FileSource>> opened = FileSource::open(path);
      if (!opened.ok()) {
        for (ValueOutcome& outcome : outcomes) outcome.status = opened.status();
        return outcomes;
      }
      file_ = std::move(*opened);
    }
    for_each_on_threads(threads_, dealt.size(), [&] {
      return [&, buffer = CopyBuffer()](std::size_t i) mutable {
        ValueRange range;
        range.position = dealt[i].position;
        range.length = dealt[i].length;
        range.sum = dealt[i].sum;
        range.raw_length = dealt[i].raw_length;
        range.codec = dealt[i].codec;
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

std::vector<std::size_t> dealt_ends(const std::vector<ValueRange>& ranges, int ranks) {
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
  Letters letters;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    MessageWriter& out = letters.to(rank);
    out.put(kCheck);
    out.put_text(path);
    const auto place = static_cast<std::size_t>(rank);
    for (std::size_t i = ends[place - 1]; i < ends[place]; ++i) {
      const ValueRange& range = ranges[i];
      if (!range.external)
        out.put(Dealt{range.position, range.length, range.sum, range.raw_length, range.codec});
    }
  }
  return ranks.exchange(letters.take()).status();
}

Status gather_values(Communicator& ranks, const std::vector<ValueRange>& ranges,
                     const std::vector<std::size_t>& ends, std::vector<ValueOutcome>* outcomes) {
  NMB_ASSIGN(const std::vector<Message> answers, ranks.exchange({}));
  for (const Message& message : answers) {
    const auto rank = static_cast<std::size_t>(message.from());
    FieldsIn in(message.bytes());
    for (std::size_t i = ends[rank - 1]; i < ends[rank]; ++i)
      if (!ranges[i].external) in((*outcomes)[i]);
  }
  return {};
}

Status serve_values(Communicator& ranks, unsigned threads) {
  Server server(threads);
  for (;;) {
    NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange({}));
    MessageReader in(arrived.front().bytes());
    if (in.get<char>() == kEnd) return {};
    const std::string path(in.get_text());
    std::vector<Communicator::Parcel> parcels;
    parcels.push_back({0, encode(server.check(path, ranges_in(in)))});
    NMB_TRY(ranks.exchange(std::move(parcels)).status());
  }
}

Status end_values(Communicator& ranks) {
  Letters letters;
  for (int rank = 1; rank < ranks.size(); ++rank) letters.to(rank).put(kEnd);
  return ranks.exchange(letters.take()).status();
}

}  // namespace nmb
