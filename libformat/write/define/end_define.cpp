#include "define/end_define.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "model/name_rules.h"
#include "put/value_exchange.h"
#include "state/bodies.h"
#include "state/commit_steps.h"
#include "state/extents.h"
#include "state/file_space.h"
#include "state/shared_blocks.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"

namespace nmb {

Status EndDefine::choose_file_id(const std::vector<BlockId>& ids) {
  auto add = [](Digest a, const Digest& b) {
    a.high += b.high + __builtin_add_overflow(a.low, b.low, &a.low);
    return a;
  };
  Digest sum;
  std::vector<std::byte> bytes;
  for (BlockId id : ids) {
    const BlockState& block = w_.blocks[id];
    const std::string_view name = w_.blocks.name(id);
    bytes.resize(4 + name.size() + 2 + 16);
    store_le(bytes.data(), static_cast<std::uint32_t>(name.size()));
    std::memcpy(bytes.data() + 4, name.data(), name.size());
    std::byte* rest = bytes.data() + 4 + name.size();
    store_le(rest, static_cast<std::uint16_t>(block.next.kind));
    store_le(rest + 2, block.next.digest.low);
    store_le(rest + 10, block.next.digest.high);
    const Digest digest = digest_of(bytes);
    sum = add(sum, digest);
  }
  NMB_ASSIGN(sum, w_.ranks.combine(sum, add));
  std::byte all[2 + 8 + 4 + 2 + 16];
  store_le<std::uint16_t>(all, 1);
  store_le<std::uint64_t>(all + 2, w_.committed.superblock.piece_size);
  store_le(all + 10, w_.committed.superblock.inline_limit);
  store_le(all + 14, static_cast<std::uint16_t>(w_.options.metadata_codec));
  store_le(all + 16, sum.low);
  store_le(all + 24, sum.high);
  w_.committed.superblock.file_id = digest_of(all);
  w_.committed.has_file_id = true;
  return {};
}

// Numbers new blocks by ascending rank. The blocks of one rank are numbered in the order of their
// definition.
Status EndDefine::number_blocks(const std::vector<BlockId>& ids) {
  struct Sizes {
    // Number of new blocks; upper limit for the bytes of all blocks and values.
    std::uint64_t count = 0, bytes = 0;
    static std::uint64_t capped(std::uint64_t bytes) { return std::min(bytes, Placement::kLimit); }
    Sizes operator+(const Sizes& other) const {
      return {count + other.count, capped(capped(bytes) + capped(other.bytes))};
    }
  } own;
  const std::uint64_t alignment = std::max<std::uint64_t>(w_.options.alignment, 4096);
  for (BlockId id : ids) {
    const BlockState& block = w_.blocks[id];
    constexpr std::uint64_t kMostRowBytes = 64;
    const std::uint64_t rows =
        block.values.forecast(block.next.extent_length, w_.committed.superblock.piece_size).count;
    const std::uint64_t around = block_length(w_.blocks.name(id).size(), block.next.stored_length) +
                                 rows * kMostRowBytes + alignment;
    own = own + Sizes{!block.is_laid_out(), around} +
          Sizes{0, block.values.space(block.next.extent_length).length};
  }
  NMB_ASSIGN(const auto sizes, w_.ranks.in_order(own, Sizes(), std::plus<>()));
  std::uint64_t order = w_.next.order + sizes.before.count;
  for (BlockId id : ids)
    if (!w_.blocks[id].is_laid_out()) w_.blocks[id].next.order = order++;
  w_.next.order += sizes.all.count;
  ahead_ = Sizes::capped(w_.next.cursor + sizes.all.bytes);
  return {};
}

Status EndDefine::place(const std::vector<BlockId>& ids) {
  if (!w_.committed.dictionary.empty() && w_.committed.superblock.dictionary.absent()) {
    w_.committed.superblock.dictionary = {w_.next.cursor, w_.committed.dictionary.size(),
                                          sum_of(w_.committed.dictionary)};
    w_.next.cursor += block_length(0, w_.committed.dictionary.size());
  }
  // Blocks, with their data maps and inline values, come first; all other values follow.
  const Superblock& superblock = w_.committed.superblock;
  Placement blocks, values;
  const auto alignment = [&](const BlockState& block, const ValueSpace& space) {
    return space.aligned ? extent_alignment(block.next.extent_length, w_.options.alignment) : 8;
  };
  for (BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    const ValueSpace space = block.values.space(block.next.extent_length);
    block.run_position = 0;
    block.inline_run = space.length > 0 && space.may_be_inline &&
                       block.next.extent_length <= superblock.inline_limit;
    const PieceForecast pieces =
        block.values.forecast(block.next.extent_length, superblock.piece_size);
    block.map_space = pieces.count == 0
                          ? 0
                          : data_map_bound(pieces, block.next.extent_length, superblock.piece_size,
                                           superblock.map_rows, ahead_);
    blocks = blocks.then(Placement::of(block_space(w_, id), 8));
    if (block.inline_run)
      blocks = blocks.then(Placement::of(space.length, 8));
    else if (space.length > 0)
      values = values.then(Placement::of(space.length, alignment(block, space)));
  }
  NMB_ASSIGN(std::uint64_t at, take_space(w_, blocks));
  const std::uint64_t blocks_begin = at;
  auto take = [&](std::uint64_t length, std::uint64_t multiple) {
    const std::uint64_t position = round_up(at, multiple);
    at = round_up(position + length, 8);
    return position;
  };
  for (BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    block.next.position = take(block_space(w_, id), 8);
    if (block.inline_run) block.run_position = take(block.next.extent_length, 8);
  }
  const std::uint64_t blocks_end = at;
  NMB_ASSIGN(at, take_space(w_, values));
  const std::uint64_t values_begin = at;
  for (BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    const ValueSpace space = block.values.space(block.next.extent_length);
    if (space.length > 0 && !block.inline_run) {
      if (at >= Placement::kLimit || space.length >= Placement::kLimit - at)
        return Status(Code::kLimit, "the values of block " + in_quotes(w_.blocks.name(id)) +
                                        " end after byte 2^62 of the file");
      block.run_position = take(space.length, alignment(block, space));
    }
    block.run_length = block.next.extent_length;
    block.values.place(block.run_position);
  }
  if (!w_.ranks.is_alone()) {
    const bool shared =
        std::ranges::any_of(ids, [&](BlockId id) { return w_.blocks[id].sharing != nullptr; });
    w_.buffer.set_own(shared
                          ? std::vector<Interval>()
                          : std::vector<Interval>{{blocks_begin, blocks_end}, {values_begin, at}});
  }
  return {};
}

namespace {

// Returns the length of the values in the extent, without the trailing bytes of a packed file.
std::uint64_t values_end(const OldContent& old) {
  const std::uint64_t end = old.records == 0 ? 0 : old.layout.end(old.records);
  return std::max(old.layout.fixed_end, end) - old.layout.header_length;
}

// Returns true if all old variables keep their offsets in the extent and all new variables come
// after them. New variables must not use a gap in a packed file, because a gap may contain any
// bytes.
bool same_offsets(const OldContent& old, const Metadata& metadata, const ClassicLayout& layout) {
  for (VarId v = old.metadata.variable_count(); v < metadata.variable_count(); ++v)
    if (metadata.begin(v) - layout.header_length < values_end(old)) return false;
  for (VarId v = 0; v < old.metadata.variable_count(); ++v)
    if (old.metadata.begin(v) - old.layout.header_length !=
        metadata.begin(v) - layout.header_length)
      return false;
  return old.records == 0 || old.layout.record_size == layout.record_size;
}

}  // namespace

// Copies the values of a redefined block to the positions that its new definitions require.
Status EndDefine::carry_values(BlockId id) {
  BlockState& block = w_.blocks[id];
  const std::unique_ptr<OldContent> old = std::move(block.old);
  block.values = ExtentOrigin(PutValues(new_extent(w_, id)));
  ExtentState& extent = *block.values.extent();
  extent.start_run(block.next.extent_length, block.run_position);
  const FillPattern fill(old->metadata, old->layout);
  std::vector<std::byte> buffer(1 << 20);
  for (VarId v = 0; v < old->metadata.variable_count(); ++v) {
    NMB_ASSIGN(VariableShape from, shape_of(old->metadata, old->layout, v, old->records));
    NMB_ASSIGN(VariableShape to, shape_of(*block.metadata, block.layout, v, block.next.records));
    const std::uint64_t slice = old->metadata.slice_bytes(v).value_or(0);
    const std::uint64_t slices = from.record_size ? old->records : 1;
    for (std::uint64_t i = 0; i < slices; ++i) {
      const std::uint64_t begin = from.begin + i * from.record_size;
      const std::uint64_t target = to.begin + i * to.record_size;
      for (const Interval& part : old->extent->stored_in(begin, begin + slice)) {
        for (std::uint64_t at = part.begin; at < part.end;) {
          auto bytes =
              std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), part.end - at));
          NMB_TRY(old->extent->read(at, bytes, w_.buffer, fill));
          NMB_TRY(extent.write(target + (at - begin), bytes, w_.buffer, w_.stage));
          at += bytes.size();
        }
      }
    }
  }
  return old->extent->resize(0, w_.buffer, w_.next);
}

// Keeps the values of redefined blocks in place if their offsets in the extent do not change.
Status EndDefine::keep_extents(const std::vector<BlockId>& ids) {
  for (BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    if (!block.old || !same_offsets(*block.old, *block.metadata, block.layout)) continue;
    block.values = ExtentOrigin(PutValues(std::move(block.old->extent)));
    ExtentState& extent = *block.values.extent();
    if (const std::uint64_t end = values_end(*block.old); end < extent.length())
      NMB_TRY(extent.resize(end, w_.buffer, w_.next));
    block.old.reset();
    NMB_TRY(extent.resize(block.next.extent_length, w_.buffer, w_.next));
  }
  return {};
}

// Leaves the values of redefined blocks to their primaries.
void EndDefine::forget_others(const std::vector<BlockId>& ids) {
  for (const BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    if (block.kept || !block.old) continue;
    block.old.reset();
    block.values = ExtentOrigin();
    block.entry_change = EntryChange::kStays;
  }
}

Status EndDefine::run() {
  std::vector<BlockId> ids;
  for (BlockId id : w_.blocks.pending)
    if (!w_.blocks[id].is_removed()) ids.push_back(id);
  auto for_all = [&](auto work) -> Status {
    for (BlockId id : ids) NMB_TRY(work(id));
    return {};
  };
  Bodies bodies(w_);
  SharedBlocks shared(w_);
  const PhaseClock::Span create(w_.clock, Phase::kCreate);
  NMB_TRY(w_.ranks.agree(for_all(
      [&](BlockId id) { return bodies.lay_out_definitions(id).in_file(w_.file->name()); })));
  MatchSummary any;
  any.originals = !w_.next.originals.empty();
  any.redefined =
      std::ranges::any_of(ids, [&](BlockId id) { return w_.blocks[id].old != nullptr; });
  Status matched;
  if (!w_.ranks.is_alone()) {
    const PhaseClock::Span check(w_.clock, Phase::kCheck);
    NMB_ASSIGN(any, shared.match_definitions(any, &matched));
    if (any.shared) NMB_TRY(shared.unite(ids));
    forget_others(ids);
  }
  std::vector<BlockId> kept;
  for (BlockId id : ids)
    if (w_.blocks[id].kept) kept.push_back(id);
  if (!w_.committed.has_file_id && w_.options.metadata_codec == MetadataCodec::kZstdDictionary)
    NMB_TRY(w_.keep(bodies.train(kept)));
  if (!w_.compressor && w_.options.metadata_codec != MetadataCodec::kNone)
    w_.compressor =
        std::make_unique<BodyCompressor>(w_.options.compression_level, w_.committed.dictionary);
  const auto encode = [&]() -> Status {
    NMB_TRY(matched);
    for (BlockId id : ids) {
      const BlockState& block = w_.blocks[id];
      NMB_TRY(block.values.check(w_.blocks.name(id), block.next.extent_length,
                                 block.sharing != nullptr));
    }
    return bodies.encode_bodies(kept);
  };
  NMB_TRY(w_.ranks.agree(w_.keep(encode())));
  NMB_TRY(number_blocks(kept));
  if (!w_.committed.has_file_id) NMB_TRY(choose_file_id(kept));
  NMB_TRY(w_.ranks.agree(w_.keep(keep_extents(kept))));
  NMB_TRY(w_.ranks.agree(w_.keep(place(kept))));
  if (any.originals) NMB_TRY(w_.ranks.agree(w_.keep(place_originals(w_))));
  if (any.shared) {
    const PhaseClock::Span check(w_.clock, Phase::kCheck);
    NMB_TRY(shared.send_places(ids));
  }
  for (BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    block.lay_out(w_.committed.superblock.generation);
    if (block.kept) w_.blocks.mark_dirty(id);
  }
  NMB_TRY(w_.ranks.agree(w_.keep(set_length(w_))));
  NMB_TRY(w_.ranks.agree(w_.keep(
      for_all([&](BlockId id) { return w_.blocks[id].old ? carry_values(id) : Status(); }))));
  w_.blocks.pending.clear();
  w_.blocks.by_name.clear();
  w_.unexchanged = true;
  w_.define_mode = false;
  if (w_.ranks.is_alone() || !any.redefined) return {};
  // Other ranks than the primaries have forgotten where the values of redefined blocks are. From
  // now on they may put values to the new places, so carried values must be in the file.
  NMB_TRY(w_.ranks.agree(w_.keep(w_.buffer.flush())));
  return any.shared ? exchange_values(w_) : Status();
}

}  // namespace nmb
