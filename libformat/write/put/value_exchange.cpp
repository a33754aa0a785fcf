#include "put/value_exchange.h"

#include <map>
#include <optional>
#include <utility>

#include "model/name_rules.h"
#include "put/waiting_values.h"
#include "state/extents.h"
#include "state/shared_blocks.h"
#include "state/stored_blocks.h"

namespace nmb {

namespace {

constexpr BlockId kNoAnswer = ~BlockId{0};

// A message to the primary of a block: the bytes that the sender has written since its last
// message, and what the sender knows.
struct WrittenReport {
  BlockId at_primary;
  BlockId at_sender;  // kNoAnswer if the sender needs no answer
  std::uint64_t records, exchange;
  Written written;
};

template <class Fields>
void fields(Fields& all, WrittenReport& report) {
  all(report.at_primary, report.at_sender, report.records, report.exchange, report.written);
}

// The primary's answer: the written bytes of all ranks, without those that the receiver knows from
// an earlier answer, and the places of these bytes.
struct WrittenAnswer {
  BlockId id;
  std::uint64_t records, exchange;
  std::vector<ExtentState::Segment> places;
  std::vector<Interval> written;
};

template <class Fields>
void fields(Fields& all, WrittenAnswer& answer) {
  all(answer.id, answer.records, answer.exchange, answer.places, answer.written);
}

// The steps of exchange_values() on several ranks. Collective.
class ValueExchange {
 public:
  explicit ValueExchange(WriterCore& writer) : w_(writer) {}

  Status run() {
    NMB_TRY(w_.ranks.each([&] { return find_known(); }));
    Status matched;
    SharedBlocks shared(w_);
    shared.list_value_claims();
    NMB_TRY(shared.match_values(false, &matched));
    NMB_ASSIGN(Inbox<WrittenReport> reports, report());
    NMB_TRY(w_.ranks.each([&] { return matched.ok() ? answer(reports) : matched; }));
    NMB_ASSIGN(const Inbox<WrittenAnswer> answers, w_.ranks.exchange(answers_));
    NMB_TRY(w_.ranks.each([&] { return take(answers); }));
    w_.unexchanged = false;
    w_.own_puts.clear();
    return {};
  }

 private:
  // Lists the committed blocks that this rank knows and has not changed.
  Status find_known() {
    w_.knowing.clear();
    for (BlockId id = 0; id < w_.blocks.size(); ++id) {
      const BlockState& block = w_.blocks[id];
      if (!block.is_laid_out()) continue;
      // Another rank may have committed, changed or removed the block.
      if (block.known_at != w_.committed.superblock.generation) {
        const Status known = check_id(w_, id);
        if (known.code() == Code::kNotFound || known.code() == Code::kUnsupported) continue;
        NMB_TRY(known);
      }
      if (block.committed && !block.dirty && block.body_stays() && is_classic(block.next.kind) &&
          block.values.takes_puts() && w_.blocks.find(w_.blocks.name(id)) == id)
        w_.knowing.push_back(id);
    }
    return {};
  }

  Result<Inbox<WrittenReport>> report() {
    Outbox<WrittenReport> out;
    for (BlockId id = 0; id < w_.blocks.size(); ++id) {
      BlockState& block = w_.blocks[id];
      if (block.kept || !block.sharing || block.is_removed() || !block.is_laid_out() ||
          !block.values.takes_puts())
        continue;
      // Another rank may have committed the block, which this rank has not used since then.
      if (block.known_at != w_.committed.superblock.generation) continue;
      ExtentState& extent = *extent_of(w_, id);
      out.add(block.sharing->primary.rank, {block.sharing->primary.id, id, block.next.records,
                                            extent.exchange, extent.take_written()});
    }
    for (auto& [primary, written] : std::exchange(w_.written_for, {}))
      out.add(primary.first, {primary.second, kNoAnswer, 0, 0, std::move(written)});
    return w_.ranks.exchange(out);
  }

  Status answer(Inbox<WrittenReport>& reports) {
    // For each block: the bytes that were written since the last exchange, and its number.
    struct News {
      std::uint64_t before;
      std::vector<Interval> written;
    };
    std::map<BlockId, News> news;
    for (auto& [rank, report] : reports) {
      const BlockId id = report.at_primary;
      ExtentState& extent = *extent_of(w_, id);
      if (report.at_sender == kNoAnswer || !report.written.bytes().empty()) {
        extent.written().unite(std::move(report.written));
        w_.blocks.mark_dirty(id);
      }
      if (report.at_sender != kNoAnswer) news[id];
    }
    for (auto& [id, added] : news) {
      ExtentState& extent = *extent_of(w_, id);
      added.before = extent.exchange;
      added.written = extent.newly_written();
      if (!added.written.empty() || extent.exchange == 0)
        extent.exchange =
            ++w_.exchanges * w_.ranks.count() + static_cast<std::uint64_t>(w_.ranks.own());
    }
    for (const auto& [rank, report] : reports) {
      if (report.at_sender == kNoAnswer) continue;
      const BlockId id = report.at_primary;
      const BlockState& block = w_.blocks[id];
      const ExtentState& extent = *block.values.extent();
      if (report.exchange == extent.exchange && report.records == block.next.records) continue;
      const News& added = news.at(id);
      const bool knows_rest = report.exchange != 0 && report.exchange == added.before;
      std::vector<Interval> written =
          knows_rest ? added.written : block.values.extent()->written().bytes().all();
      answers_.add(rank, {report.at_sender, block.next.records, extent.exchange,
                          extent.places_of(written), std::move(written)});
    }
    return {};
  }

  Status take(const Inbox<WrittenAnswer>& answers) {
    for (const auto& [primary, answer] : answers) {
      NMB_TRY(load_definitions(w_, answer.id));
      BlockState& block = w_.blocks[answer.id];
      ExtentState& extent = *extent_of(w_, answer.id);
      if (answer.records > block.next.records) {
        set_records(block, answer.records);
        NMB_TRY(extent.resize(block.next.extent_length, w_.buffer, w_.next));
      }
      NMB_TRY(extent.take_places(answer.places));
      for (const Interval& part : answer.written) extent.readable().add(part.begin, part.end);
      extent.exchange = answer.exchange;
    }
    return {};
  }

  WriterCore& w_;
  Outbox<WrittenAnswer> answers_;
};

}  // namespace

void add_own_put(WriterCore& w, BlockId id, const RunCursor& put) {
  // Programs that read nothing between collective calls need not visit the runs.
  constexpr std::size_t kMostPuts = 4096, kMostRuns = 1 << 20;
  if (w.own_puts.size() == kMostPuts || w.own_runs > kMostRuns) note_own_puts(w);
  w.own_puts.emplace_back(id, put);
  w.own_runs += put.listed_runs();
}

void note_own_puts(WriterCore& w) {
  w.own_runs = 0;
  for (auto& [id, run] : std::exchange(w.own_puts, {})) {
    ExtentState* const extent = w.blocks[id].values.extent();
    if (!extent) continue;
    for (; !run.at_end(); run.skip(run.elements()))
      extent->readable().add(run.offset(), run.offset() + run.elements() * run.element_size());
  }
}

Status exchange_values(WriterCore& w) {
  NMB_TRY(w.keep(place_values(w)));
  if (w.ranks.is_alone()) return {};
  NMB_ASSIGN(const bool any, w.ranks.any(w.unexchanged));
  if (!any) return {};
  NMB_TRY(w.ranks.agree(w.keep(w.buffer.flush())));
  return w.keep(ValueExchange(w).run());
}

}  // namespace nmb
