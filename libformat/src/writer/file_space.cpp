// Free space of the file, given out to all ranks (see writer/file_space.h).
#include "writer/file_space.h"

#include <algorithm>
#include <utility>

#include "wire/checked.h"

namespace nmb {

Result<std::uint64_t> take_space(WriterCore& w, const Placement& own) {
  NMB_ASSIGN(const auto placed,
             w.ranks.in_order(own, Placement(),
                              [](const Placement& a, const Placement& b) { return a.then(b); }));
  const std::uint64_t start = placed.before.end(w.next.cursor);
  w.next.cursor = placed.all.end(w.next.cursor);
  return start;
}

Status set_length(WriterCore& w) {
  if (!w.ranks.is_first()) return {};
  NMB_ASSIGN(const std::uint64_t size, w.file->size());
  return size < w.next.cursor ? w.file->truncate(w.next.cursor) : Status();
}

Result<std::vector<std::uint64_t>> place_in_order(WriterCore& w, const std::vector<Ordered>& parts,
                                                  std::uint64_t* end) {
  Outbox<Ordered> wanted;
  for (const Ordered& part : parts) wanted.add(0, part);
  NMB_ASSIGN(const Inbox<Ordered> arrived, w.ranks.exchange(wanted));
  struct Placed {
    int rank;
    Ordered part;
    std::uint64_t position = 0;
  };
  std::vector<Placed> all;
  for (const auto& [rank, part] : arrived) all.push_back({rank, part});
  std::vector<Placed*> by_order;
  for (Placed& one : all) by_order.push_back(&one);
  std::sort(by_order.begin(), by_order.end(),
            [](const Placed* x, const Placed* y) { return x->part.order < y->part.order; });
  std::uint64_t position = w.next.cursor;
  for (Placed* one : by_order) {
    one->position = position;
    position += one->part.length;
  }
  // Each rank's answers are in the order of its questions.
  Outbox<std::uint64_t> placed;
  for (const Placed& one : all) placed.add(one.rank, one.position);
  NMB_ASSIGN(const Inbox<std::uint64_t> answers, w.ranks.exchange(placed));
  std::vector<std::uint64_t> positions;
  for (const auto& [rank, at] : answers) positions.push_back(at);
  NMB_ASSIGN(*end, w.ranks.from_first(position));
  return positions;
}

namespace {

struct BlockRequests {
  std::uint64_t order;  // of the block
  std::vector<SpaceRequest> requests;

  void put(MessageWriter& out) const {
    out.put(order);
    out.put_list(std::span(requests));
  }
  static BlockRequests get(MessageReader& in) {
    const auto order = in.get<std::uint64_t>();
    return {order, in.get_list<SpaceRequest>()};
  }
};

}  // namespace

// The first rank gives out space in the order in which blocks were created, whoever keeps them.
Result<std::vector<std::uint64_t>> ask_for_space(
    WriterCore& w, const std::vector<std::pair<BlockId, std::vector<SpaceRequest>>>& requests) {
  Outbox<BlockRequests> wanted;
  for (const auto& [id, list] : requests) wanted.add(0, {w.blocks[id].next.order, list});
  NMB_ASSIGN(const Inbox<BlockRequests> arrived, w.ranks.exchange(wanted));
  struct Asked {
    int rank;
    BlockRequests of;
    std::vector<std::uint64_t> positions{};
  };
  std::vector<Asked> asked;
  for (auto [rank, of] : arrived) asked.push_back({rank, std::move(of)});
  std::vector<Asked*> by_order;
  for (Asked& one : asked) by_order.push_back(&one);
  std::sort(by_order.begin(), by_order.end(),
            [](const Asked* a, const Asked* b) { return a->of.order < b->of.order; });
  const auto give = [&]() -> Status {
    for (Asked* one : by_order) {
      for (const SpaceRequest& request : one->of.requests) {
        const bool goes_on = request.tail != 0 && round_up(request.tail, 8) == w.next.cursor;
        const std::uint64_t position =
            goes_on ? request.tail : round_up(w.next.cursor, extent_alignment(request.length));
        if (request.length >= Placement::kLimit || position >= Placement::kLimit - request.length)
          return Status(Code::kLimit, "found values behind 2^62");
        one->positions.push_back(position);
        w.next.cursor = round_up(position + request.length, 8);
      }
    }
    return {};
  };
  NMB_TRY(w.ranks.each(give));
  Outbox<std::uint64_t> placed;
  for (const Asked& one : asked)
    for (const std::uint64_t position : one.positions) placed.add(one.rank, position);
  NMB_ASSIGN(const Inbox<std::uint64_t> answers, w.ranks.exchange(placed));
  NMB_ASSIGN(w.next.cursor, w.ranks.from_first(w.next.cursor));
  std::vector<std::uint64_t> positions;
  for (const auto& [rank, at] : answers) positions.push_back(at);
  return positions;
}

}  // namespace nmb
