#include "put/puts_together.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/name_rules.h"
#include "put/value_exchange.h"
#include "put/waiting_values.h"
#include "state/extents.h"
#include "state/stored_blocks.h"
#include "values/run_cursor.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Writes the bytes [first, first + out.size()) of the external form of `values` to `out`. Returns
// how many elements begin in these bytes and have a value that `type` cannot hold.
std::uint64_t encode_bytes(ConstArray values, Type type, Kind kind, std::uint64_t first,
                           std::span<std::byte> out) {
  const std::size_t from_size = memory_type_size(values.type()), to_size = type_size(type);
  std::array<std::byte, 8> element;
  auto convert = [&](std::uint64_t index, std::uint64_t count, std::byte* to) {
    return convert_to_external(values.type(), values.data() + index * from_size, count, type, to,
                               kind);
  };
  std::uint64_t out_of_range = 0;
  std::uint64_t index = first / to_size;
  if (const std::uint64_t within = first % to_size; within != 0) {
    const std::uint64_t length = std::min<std::uint64_t>(to_size - within, out.size());
    convert(index++, 1, element.data());
    std::copy_n(element.begin() + static_cast<std::ptrdiff_t>(within), length, out.begin());
    out = out.subspan(length);
  }
  const std::uint64_t whole = out.size() / to_size;
  out_of_range += convert(index, whole, out.data());
  if (const std::uint64_t rest = out.size() % to_size; rest != 0) {
    out_of_range += convert(index + whole, 1, element.data());
    std::copy_n(element.begin(), rest, out.end() - static_cast<std::ptrdiff_t>(rest));
  }
  return out_of_range;
}

bool any_out_of_range(const std::vector<Put*>& puts) {
  return std::ranges::any_of(puts, [](const Put* put) { return put->out_of_range > 0; });
}

}  // namespace

Status PutsTogether::extend(BlockId id, std::uint64_t records) {
  std::uint64_t end = 0;  // of the records, in the classic file
  const auto check = [&]() -> Status {
    NMB_TRY(check_id(w_, id));
    NMB_TRY(check_not_from_hdf5(w_, id));
    BlockState& block = w_.blocks[id];
    const std::string of_block = "extend() of block " + in_quotes(w_.blocks.name(id));
    if (w_.define_mode || !block.values.takes_puts())
      return Status(Code::kUsage,
                    of_block + " is not allowed " +
                        (w_.define_mode ? "in define mode; call end_define() first"
                                        : "before its values are committed; call sync() first"));
    NMB_TRY(check_unchanged_elsewhere(w_, id));
    NMB_TRY(load_definitions(w_, id));
    if (!block.metadata->record_dimension())
      return Status(Code::kUsage, "extend() is not possible: block " +
                                      in_quotes(w_.blocks.name(id)) + " has no record dimension");
    if (records >> 62 || !checked_mul(records, block.layout.record_size, &end) ||
        !checked_add(end, block.layout.record_begin, &end) || end >> 62)
      return Status(Code::kLimit,
                    joined_text(of_block, ": found ", given_text(records),
                                " records, expected fewer than 2^62 records and bytes"));
    return {};
  };
  return w_.together("extend()", check, [&]() -> Status {
    const PhaseClock::Span values(w_.clock, Phase::kValues);
    auto want = [&]() -> Status {
      BlockState& block = w_.blocks[id];
      const bool more = records > block.next.records;
      if (more) NMB_TRY(w_.keep(grow(w_, id, records)));
      ExtentState& extent = *extent_of(w_, id);
      // Requests space for all new records. Other ranks may already have added some of the new
      // records, but this rank does not know which.
      const std::uint64_t behind = end - block.layout.header_length;
      if (extent.first_new() < behind) extent.want_place(extent.first_new(), behind);
      // Lets the primary learn the number of records, even if the records have no bytes.
      if (more) extent.want_records();
      if (more || extent.first_new() < behind) w_.blocks.mark_dirty(id);
      w_.unexchanged = true;
      return {};
    };
    NMB_TRY(w_.ranks.agree(want()));
    return w_.keep(place_values(w_));
  });
}

// Divides the puts to shared blocks into parts, one for each piece to which a put writes.
std::vector<PiecePart> PutsTogether::parts_of(std::span<Put* const> puts) {
  std::vector<PiecePart> parts;
  for (std::size_t i = 0; i < puts.size(); ++i) {
    const Put& put = *puts[i];
    const BlockState& block = w_.blocks[put.block];
    const std::uint64_t size = put.shape.element_size;
    ExtentState::FreshPiece piece{};
    for (RunCursor run = put.runs(); !run.at_end(); run.skip(run.elements())) {
      std::uint64_t at = run.offset();
      const std::uint64_t end = at + run.elements() * size;
      for (std::uint64_t first = run.element() * size; at < end;) {
        if (at >= piece.end()) {
          piece = block.values.extent()->fresh_piece_at(at);
          parts.push_back({piece, block.sharing->primary, i, first});
        }
        const std::uint64_t length = std::min(end, piece.end()) - at;
        parts.back().add_run(at - piece.logical, length);
        at += length;
        first += length;
      }
    }
  }
  return parts;
}

Result<bool> PutsTogether::put_together(const Status& checked, std::span<Put> puts) {
  const PhaseClock::Span values(w_.clock, Phase::kValues);
  auto prepare = [&]() -> Status {
    NMB_TRY(checked);
    for (const Put& put : puts) {
      if (put.empty) continue;
      NMB_TRY(start_put(w_, put.block, put.records).status());
      NMB_TRY(Puts(w_).want_places(put));
    }
    // Values of earlier puts must be in the file before the values of these puts are written.
    return w_.keep(w_.buffer.flush());
  };
  Status status = prepare();
  std::vector<Put*> wanted, alone, shared;
  for (Put& put : puts)
    if (!put.empty) wanted.push_back(&put);
  if (w_.ranks.is_alone()) {
    NMB_TRY(status);
    NMB_TRY(w_.keep(place_values(w_)));
    NMB_TRY(Puts(w_).put_all_of(wanted));
    return any_out_of_range(wanted);
  }
  PieceExchange exchange(w_.ranks.communicator(), *w_.file, w_.aggregation,
                         w_.committed.superblock.piece_size, &w_.written_for);
  const PieceExchange::Encode encode = [&](const PiecePart& part, std::span<std::byte> out,
                                           bool again) {
    Put& put = *shared[part.put];
    const std::uint64_t found = encode_bytes(put.values, put.type, put.kind, part.first, out);
    if (!again) put.out_of_range += found;
    return found > 0;
  };
  const auto begin = [&](bool waiting) -> Result<bool> {
    shared.clear();
    alone.clear();
    for (Put* put : wanted) {
      put->out_of_range = 0;
      (w_.blocks[put->block].sharing ? shared : alone).push_back(put);
    }
    const bool has_places = status.ok() && !waiting;
    return exchange.begin(has_places ? parts_of(shared) : std::vector<PiecePart>(), encode, status,
                          waiting);
  };
  const Result<bool> waiting = begin(has_waiting_values(w_));
  NMB_TRY(w_.keep(waiting.status()));
  NMB_TRY(w_.keep(place_values(w_, *waiting)));
  if (*waiting) {
    // Writes the buffered values before other ranks write to the file.
    status = w_.buffer.flush();
    NMB_TRY(w_.keep(begin(false).status()));
  }
  status = Puts(w_).put_all_of(alone);
  const Result<bool> put = exchange.put(encode, status, any_out_of_range(alone));
  NMB_TRY(w_.keep(put.status()));
  for (const Put* of : shared) add_own_put(w_, of->block, of->runs());
  return put;
}

Status PutsTogether::put_all(BlockId id, VarId variable, const Hyperslab& slab, ConstArray values) {
  std::vector<Put> puts;
  const auto check = [&]() -> Status {
    if (w_.define_mode)
      return Status(Code::kUsage,
                    "put_all() is not allowed in define mode; call end_define() first");
    NMB_TRY(check_count(values.count(), element_count(slab)));
    if (values.count() == 0 && !values.is_null()) return {};
    NMB_ASSIGN(Put put, Puts(w_).check("put_all()", id, variable, slab, values));
    puts.push_back(std::move(put));
    return {};
  };
  bool out_of_range = false;
  NMB_TRY(w_.together("put_all()", check, [&]() -> Status {
    NMB_ASSIGN(out_of_range, put_together({}, puts));
    return {};
  }));
  if (!out_of_range) return {};
  return w_.ranks.agree(puts.empty() ? Status() : Puts(w_).range_status(puts[0]));
}

}  // namespace nmb
