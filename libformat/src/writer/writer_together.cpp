// Values that ranks put together: places first, then every byte straight to the rank that writes it
// (spec/rationale.md, "Values that ranks put together").
#include <algorithm>
#include <array>

#include "block/name_rules.h"
#include "values/run_cursor.h"
#include "wire/checked.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

// Bytes [first, first + out.size()) of what `values` are in external form. Returns how many of the
// elements that begin there are out of range.
std::uint64_t encode_bytes(MemoryType memory, const void* values, Type type, Kind kind,
                           std::uint64_t first, std::span<std::byte> out) {
  const std::size_t to_size = type_size(type);
  const auto* const from = static_cast<const std::byte*>(values);
  std::array<std::byte, 8> element;
  auto convert = [&](std::uint64_t index, std::uint64_t count, std::byte* to) {
    return convert_to_external(memory, from + index * memory_type_size(memory), count, type, to,
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

}  // namespace

// Places for what a put writes and that has none yet. A record that is new since the extent was
// laid out or committed gets its place whole: other variables of it come soon.
Status Writer::Impl::want_places(const Put& put) {
  const BlockState& block = state(put.block);
  ExtentState& extent = *block.values.extent();
  const std::uint64_t size = put.shape.element_size;
  auto want_runs = [&](const Hyperslab& slab) {
    for (RunCursor run(put.shape, slab); !run.at_end(); run.skip(run.elements())) {
      const std::uint64_t end = run.offset() + run.elements() * size;
      if (!extent.is_fresh(run.offset(), end)) extent.want_place(run.offset(), end);
    }
  };
  if (extent.is_fresh(0, extent.length())) return {};
  if (put.shape.record_size == 0) {
    want_runs(put.slab);
    return {};
  }
  const std::uint64_t records_begin = block.layout.record_begin - block.layout.header_length;
  for (std::uint64_t i = 0; i < put.slab.count[0]; ++i) {
    Hyperslab one = put.slab;
    one.start[0] += i * stride_of(put.slab, 0);
    one.count[0] = 1;
    const std::uint64_t begin = records_begin + one.start[0] * put.shape.record_size;
    const std::uint64_t end = std::min(begin + put.shape.record_size, extent.length());
    if (begin < extent.first_new())
      want_runs(one);
    else if (!extent.is_fresh(begin, end))
      extent.want_place(begin, end);
  }
  return {};
}

// One process alone need not let values wait that are more than the stage takes: all that waits
// gets its place, and what is put now too.
Status Writer::Impl::make_room(std::span<Put* const> puts) {
  if (ranks_.size() > 1) return {};
  std::uint64_t bytes = stage_.size();
  for (const Put* put : puts) bytes += element_count(put->slab) * put->shape.element_size;
  if (bytes <= Stage::kMost) return {};
  for (const Put* put : puts) {
    NMB_TRY(start_put(put->block, put->records).status());
    NMB_TRY(want_places(*put));
  }
  return keep(place_values());
}

Status Writer::Impl::extend(BlockId id, std::uint64_t records) {
  return together("extend()", [&]() -> Status {
    const PhaseClock::Span values(clock_, Phase::kValues);
    auto want = [&]() -> Status {
      NMB_TRY(check_id(id));
      BlockState& block = state(id);
      if (define_mode_ || !block.values.takes_puts())
        return Status(Code::kUsage,
                      "found extend() of block " + in_quotes(names_.at(id)) +
                          (define_mode_ ? " in define mode, expected end_define()"
                                        : " whose values are moved, expected sync()") +
                          " before");
      NMB_TRY(load_definitions(id));
      std::uint64_t end = 0;
      if (!block.metadata->record_dimension())
        return Status(Code::kUsage, "found extend() of block " + in_quotes(names_.at(id)) +
                                        ", expected one with a record dimension");
      if (records <= block.records) return {};
      if (!checked_mul(records, block.layout.record_size, &end) ||
          !checked_add(end, block.layout.record_begin, &end) || end >> 62)
        return Status(Code::kLimit, "found records that end behind 2^62 bytes");
      const std::uint64_t before = block.records;
      NMB_ASSIGN(ExtentState * extent, start_put(id, records));
      const std::uint64_t begin = block.layout.record_begin - block.layout.header_length +
                                  before * block.layout.record_size;
      if (begin < extent->length()) extent->want_place(begin, extent->length());
      return {};
    };
    NMB_TRY(ranks_.agree(want()));
    return keep(place_values());
  });
}

// What puts to shared blocks have of each piece.
std::vector<PiecePart> Writer::Impl::parts_of(std::span<Put* const> puts) {
  std::vector<PiecePart> parts;
  for (std::size_t i = 0; i < puts.size(); ++i) {
    const Put& put = *puts[i];
    const BlockState& block = state(put.block);
    const std::uint64_t size = put.shape.element_size;
    ExtentState::FreshPiece piece{};
    for (RunCursor run(put.shape, put.slab); !run.at_end(); run.skip(run.elements())) {
      std::uint64_t at = run.offset();
      const std::uint64_t end = at + run.elements() * size;
      for (std::uint64_t first = run.element() * size; at < end;) {
        if (at >= piece.end()) {
          piece = block.values.extent()->fresh_piece_at(at);
          parts.push_back({piece, block.sharing->keeper, i, first});
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

// Collective. checked: what is wrong with this rank's puts.
Status Writer::Impl::put_together(const Status& checked, std::span<Put> puts) {
  const PhaseClock::Span values(clock_, Phase::kValues);
  auto prepare = [&]() -> Status {
    NMB_TRY(checked);
    for (const Put& put : puts) {
      if (put.empty) continue;
      NMB_TRY(start_put(put.block, put.records).status());
      NMB_TRY(want_places(put));
    }
    // What was put before comes before.
    return buffer_.flush();
  };
  NMB_TRY(ranks_.agree(prepare()));
  NMB_TRY(keep(place_values()));
  std::vector<Put*> alone, shared;
  for (Put& put : puts)
    if (!put.empty) (state(put.block).sharing ? shared : alone).push_back(&put);
  const Status put_alone = put_all_of(alone);
  if (ranks_.size() == 1) return put_alone;
  PieceExchange exchange(ranks_, *file_, aggregation_, superblock_.piece_size, &written_for_);
  NMB_TRY(ranks_.agree(put_alone));
  return keep(exchange.put(
      parts_of(shared), [&](const PiecePart& part, std::span<std::byte> out, bool again) {
        Put& put = *shared[part.put];
        const std::uint64_t out_of_range =
            encode_bytes(put.memory, put.values, put.type, put.kind, part.first, out);
        if (!again) put.out_of_range += out_of_range;
      }));
}

}  // namespace nmb
