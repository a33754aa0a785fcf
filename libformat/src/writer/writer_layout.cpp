// end_define: bodies are encoded and summed, positions given out (spec/format.md, sections 4 and
// 8).
#include <algorithm>
#include <cstring>

#include "block/name_rules.h"
#include "parallel/message_codec.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

// A dictionary is trained on the first bodies if there are enough of them and they are small.
constexpr std::size_t kTrainBlocks = 128;
constexpr std::size_t kMinTrainBlocks = 16;
constexpr std::uint64_t kMaxTrainBody = 16 << 10;

std::uint64_t padded_sum(std::span<const std::byte> bytes) {
  SumStream stream;
  stream.add(bytes);
  constexpr std::byte zeros[8]{};
  stream.add(std::span(zeros).first(round_up(bytes.size(), 8) - bytes.size()));
  return stream.sum();
}

}  // namespace

Status Writer::Impl::for_body(const BlockState& block, const BodySink& sink) const {
  switch (block.body_from) {
    case BodyFrom::kMetadata:
      return encode_classic_header(*block.metadata, block.kind, 0, sink);
    case BodyFrom::kOwnBytes:
      return sink(*block.own_body);
    case BodyFrom::kSource: {
      const ByteSource& source = *block.packed->body;
      std::vector<std::byte> window(std::min<std::uint64_t>(source.size(), 256 << 10));
      for (std::uint64_t at = 0; at < source.size(); at += window.size()) {
        auto part =
            std::span(window).first(std::min<std::uint64_t>(window.size(), source.size() - at));
        NMB_TRY(source.read_at(at, part));
        NMB_TRY(sink(part));
      }
      return {};
    }
    case BodyFrom::kCommitted:
      break;
  }
  assert(false);
  return {};
}

Status Writer::Impl::lay_out_definitions(BlockId id) {
  BlockState& block = state(id);
  switch (block.body_from) {
    case BodyFrom::kMetadata: {
      NMB_TRY(block.metadata->settle_names());
      NMB_ASSIGN(block.layout, layout_classic(*block.metadata, block.kind));
      const Metadata& metadata = *block.metadata;
      block.raw_length = block.layout.header_length;
      block.dimensions = metadata.dimension_count();
      block.variables = metadata.variable_count();
      block.attributes = metadata.attribute_count();
      block.layout.records = block.records;
      std::uint64_t end = block.layout.fixed_end;
      if (block.layout.record_size != 0 && block.records != 0 &&
          (!checked_mul(block.records, block.layout.record_size, &end) ||
           !checked_add(end, block.layout.record_begin, &end) || end >> 63))
        return Status(Code::kLimit, "found " + std::to_string(block.records) +
                                        " records of block " + in_quotes(names_.at(id)) +
                                        ", expected less than 2^63 bytes");
      block.extent_length = end - block.layout.header_length;
      break;
    }
    case BodyFrom::kSource:
      block.raw_length = block.packed->body->size();
      break;
    case BodyFrom::kOwnBytes:
      block.raw_length = block.own_body->size();
      break;
    case BodyFrom::kCommitted:
      break;
  }
  return {};
}

Status Writer::Impl::encode_stored(const BlockState& block, std::vector<std::byte>* raw,
                                   std::vector<std::byte>* stored, BodyCodec* codec) {
  raw->clear();
  NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
    raw->insert(raw->end(), part.begin(), part.end());
    return {};
  }));
  stored->clear();
  if (compressor_) {
    *codec = compressor_->append(*raw, stored);
  } else {
    *codec = BodyCodec::kNone;
    stored->assign(raw->begin(), raw->end());
  }
  return {};
}

// Rank 0 trains on the first bodies of all ranks.
Status Writer::Impl::train(const std::vector<BlockId>& ids) {
  std::vector<BlockId> mine;
  for (BlockId id : ids) {
    if (mine.size() == kTrainBlocks) break;
    if (state(id).raw_length <= kMaxTrainBody) mine.push_back(id);
  }
  NMB_ASSIGN(const std::size_t before,
             ranks_.scan_before(mine.size(), std::size_t{0}, std::plus<>()));
  mine.resize(std::min(mine.size(), kTrainBlocks - std::min(before, kTrainBlocks)));
  MessageWriter bodies;
  auto encode = [&]() -> Status {
    for (BlockId id : mine) {
      bodies.put<std::uint64_t>(state(id).raw_length);
      NMB_TRY(for_body(state(id), [&](std::span<const std::byte> part) -> Status {
        bodies.put_raw(part);
        return {};
      }));
    }
    return {};
  };
  NMB_TRY(ranks_.agree(encode()));
  std::vector<Communicator::Parcel> parcels;
  if (bodies.size() > 0) parcels.push_back({0, bodies.take()});
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(std::move(parcels)));
  std::vector<std::byte> samples;
  std::vector<std::size_t> lengths;
  for (const Message& message : arrived) {
    for (MessageReader in(message.bytes()); !in.at_end();) {
      auto body = in.get_bytes();
      samples.insert(samples.end(), body.begin(), body.end());
      lengths.push_back(body.size());
    }
  }
  if (lengths.size() >= kMinTrainBlocks) dictionary_ = train_dictionary(samples, lengths);
  return ranks_.broadcast(0, &dictionary_);
}

Status Writer::Impl::encode_bodies(const std::vector<BlockId>& ids) {
  std::vector<std::byte> raw, stored;
  for (BlockId id : ids) {
    BlockState& block = state(id);
    if (block.raw_length > kStreamBody) {
      DigestStream digest;
      SumStream sum;
      NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
        digest.add(part);
        sum.add(part);
        return {};
      }));
      constexpr std::byte zeros[8]{};
      sum.add(std::span(zeros).first(round_up(block.raw_length, 8) - block.raw_length));
      block.digest = digest.digest();
      block.body_sum = sum.sum();
      block.stored_length = block.raw_length;
      block.codec = 0;
      block.retained = BlockState::kNotRetained;
      continue;
    }
    BodyCodec codec;
    NMB_TRY(encode_stored(block, &raw, &stored, &codec));
    if (raw.size() != block.raw_length)
      return Status(Code::kDamaged, file_->name(), kNoOffset, "",
                    "block " + in_quotes(names_.at(id)) + ": its header changed while it was read");
    block.digest = digest_of(raw);
    block.body_sum = padded_sum(stored);
    block.stored_length = stored.size();
    block.codec = static_cast<std::uint8_t>(codec);
    block.retained = BlockState::kNotRetained;
    const bool small = block.metadata && codec != BodyCodec::kNone;
    if (retained_.size() + stored.size() <= (small ? kRetainCompressedLimit : kRetainLimit)) {
      block.retained = retained_.size();
      retained_.append(stored.data(), stored.size());
    }
  }
  return {};
}

Status Writer::Impl::choose_file_id(const std::vector<BlockId>& ids) {
  auto add = [](Digest a, const Digest& b) {
    a.high += b.high + __builtin_add_overflow(a.low, b.low, &a.low);
    return a;
  };
  Digest sum;
  std::vector<std::byte> bytes;
  for (BlockId id : ids) {
    const BlockState& block = state(id);
    const std::string_view name = names_.at(id);
    bytes.resize(4 + name.size() + 2 + 16);
    store_le(bytes.data(), static_cast<std::uint32_t>(name.size()));
    std::memcpy(bytes.data() + 4, name.data(), name.size());
    std::byte* rest = bytes.data() + 4 + name.size();
    store_le(rest, static_cast<std::uint16_t>(block.kind));
    store_le(rest + 2, block.digest.low);
    store_le(rest + 10, block.digest.high);
    const Digest digest = digest_of(bytes);
    sum = add(sum, digest);
  }
  NMB_ASSIGN(sum, ranks_.all_reduce(sum, add));
  std::byte all[2 + 8 + 4 + 2 + 16];
  store_le<std::uint16_t>(all, 1);
  store_le<std::uint64_t>(all + 2, superblock_.piece_size);
  store_le(all + 10, superblock_.inline_limit);
  store_le(all + 14, static_cast<std::uint16_t>(options_.metadata_codec));
  store_le(all + 16, sum.low);
  store_le(all + 24, sum.high);
  superblock_.file_id = digest_of(all);
  has_file_id_ = true;
  return {};
}

// The order of creation: that of ranks, and of a rank's definitions.
Status Writer::Impl::number_blocks(const std::vector<BlockId>& ids) {
  std::uint64_t count = 0;
  for (BlockId id : ids) count += !state(id).written;
  NMB_ASSIGN(const std::uint64_t before,
             ranks_.scan_before(count, std::uint64_t{0}, std::plus<>()));
  NMB_ASSIGN(const std::uint64_t all, ranks_.broadcast_value(ranks_.size() - 1, before + count));
  std::uint64_t order = next_order_ + before;
  for (BlockId id : ids)
    if (!state(id).written) state(id).order = order++;
  next_order_ += all;
  return {};
}

// Free space is taken by all ranks, one behind the other: returns where this rank's begins.
Result<std::uint64_t> Writer::Impl::take_space(const Placement& own) {
  auto then = [](const Placement& a, const Placement& b) { return a.then(b); };
  NMB_ASSIGN(const Placement before, ranks_.scan_before(own, Placement(), then));
  NMB_ASSIGN(const Placement all, ranks_.broadcast_value(ranks_.size() - 1, before.then(own)));
  const std::uint64_t start = before.end(cursor_);
  cursor_ = all.end(cursor_);
  return start;
}

bool Writer::Impl::is_inline(BlockId id) const { return blocks_[id]->inline_run; }

Status Writer::Impl::place(const std::vector<BlockId>& ids) {
  if (!dictionary_.empty() && superblock_.dictionary.absent()) {
    superblock_.dictionary = {cursor_, dictionary_.size(), sum_of(dictionary_)};
    cursor_ += block_length(0, dictionary_.size());
  }
  // Blocks first, with values that lie right behind them; then all other values.
  Placement blocks, values;
  const auto alignment = [&](const BlockState& block, const ValueSpace& space) {
    return space.aligned ? extent_alignment(block.extent_length, options_.alignment) : 8;
  };
  for (BlockId id : ids) {
    BlockState& block = state(id);
    const ValueSpace space = block.values.space(block.extent_length);
    block.run_position = 0;
    block.inline_run =
        space.length > 0 && space.may_be_inline && block.extent_length <= superblock_.inline_limit;
    blocks = blocks.then(Placement::of(block_length(names_.at(id).size(), block.stored_length), 8));
    if (block.inline_run)
      blocks = blocks.then(Placement::of(space.length, 8));
    else if (space.length > 0)
      values = values.then(Placement::of(space.length, alignment(block, space)));
  }
  NMB_ASSIGN(std::uint64_t at, take_space(blocks));
  const std::uint64_t blocks_begin = at;
  auto take = [&](std::uint64_t length, std::uint64_t multiple) {
    const std::uint64_t position = round_up(at, multiple);
    at = round_up(position + length, 8);
    return position;
  };
  for (BlockId id : ids) {
    BlockState& block = state(id);
    block.position = take(block_length(names_.at(id).size(), block.stored_length), 8);
    if (block.inline_run) block.run_position = take(block.extent_length, 8);
  }
  const std::uint64_t blocks_end = at;
  NMB_ASSIGN(at, take_space(values));
  const std::uint64_t values_begin = at;
  for (BlockId id : ids) {
    BlockState& block = state(id);
    const ValueSpace space = block.values.space(block.extent_length);
    if (space.length > 0 && !block.inline_run) {
      if (at >= Placement::kLimit || space.length >= Placement::kLimit - at)
        return Status(Code::kLimit,
                      "found values of block " + in_quotes(names_.at(id)) + " behind 2^62");
      block.run_position = take(space.length, alignment(block, space));
    }
    block.values.place(block.run_position);
  }
  if (ranks_.size() > 1) {
    const bool shared = std::any_of(ids.begin(), ids.end(),
                                    [&](BlockId id) { return state(id).sharing != nullptr; });
    buffer_.set_own(shared ? std::vector<Interval>()
                           : std::vector<Interval>{{blocks_begin, blocks_end}, {values_begin, at}});
  }
  return {};
}

namespace {

// Where values end in the extent, trailing bytes of a packed file not counted.
std::uint64_t values_end(const OldContent& old) {
  const std::uint64_t end = old.records == 0 ? 0 : old.layout.end(old.records);
  return std::max(old.layout.fixed_end, end) - old.layout.header_length;
}

// Whether every old variable's values keep their offsets in the extent, and new ones come behind
// them: not into a gap of a packed file, whose bytes are anything.
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

// Brings the values of a redefined block to where its new definitions want them.
Status Writer::Impl::carry_values(BlockId id) {
  BlockState& block = state(id);
  const std::unique_ptr<OldContent> old = std::move(block.old);
  block.values = ExtentOrigin(PutValues(new_extent(id)));
  ExtentState& extent = *block.values.extent();
  extent.start_run(block.extent_length, block.run_position);
  const FillPattern fill(old->metadata, old->layout);
  std::vector<std::byte> buffer(1 << 20);
  for (VarId v = 0; v < old->metadata.variable_count(); ++v) {
    NMB_ASSIGN(VariableShape from, shape_of(old->metadata, old->layout, v, old->records));
    NMB_ASSIGN(VariableShape to, shape_of(*block.metadata, block.layout, v, block.records));
    const std::uint64_t slice = old->metadata.slice_bytes(v).value_or(0);
    const std::uint64_t slices = from.record_size ? old->records : 1;
    for (std::uint64_t i = 0; i < slices; ++i) {
      const std::uint64_t begin = from.begin + i * from.record_size;
      const std::uint64_t target = to.begin + i * to.record_size;
      for (const Interval& part : old->extent->stored_in(begin, begin + slice)) {
        for (std::uint64_t at = part.begin; at < part.end;) {
          auto bytes =
              std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), part.end - at));
          NMB_TRY(old->extent->read(at, bytes, buffer_, fill));
          NMB_TRY(extent.write(target + (at - begin), bytes, buffer_, stage_));
          at += bytes.size();
        }
      }
    }
  }
  return old->extent->resize(0, buffer_, *this);
}

// Values of redefined blocks whose places in the extent are the same stay where they are.
Status Writer::Impl::keep_extents(const std::vector<BlockId>& ids) {
  for (BlockId id : ids) {
    BlockState& block = state(id);
    if (!block.old || !same_offsets(*block.old, *block.metadata, block.layout)) continue;
    block.values = ExtentOrigin(PutValues(std::move(block.old->extent)));
    ExtentState& extent = *block.values.extent();
    if (const std::uint64_t end = values_end(*block.old); end < extent.length())
      NMB_TRY(extent.resize(end, buffer_, *this));
    block.old.reset();
    NMB_TRY(extent.resize(block.extent_length, buffer_, *this));
  }
  return {};
}

Status Writer::Impl::end_define() {
  return together("end_define()", [&] { return lay_out(); });
}

Status Writer::Impl::lay_out() {
  if (!define_mode_)
    return Status(Code::kUsage,
                  "found end_define() outside define mode, expected it after definitions");
  std::vector<BlockId> ids;
  for (BlockId id : pending_)
    if (!state(id).removed) ids.push_back(id);
  auto for_all = [&](auto work) -> Status {
    for (BlockId id : ids) NMB_TRY(work(id));
    return {};
  };
  const PhaseClock::Span create(clock_, Phase::kCreate);
  NMB_TRY(ranks_.agree(
      for_all([&](BlockId id) { return lay_out_definitions(id).in_file(file_->name()); })));
  bool any_shared = false;
  if (ranks_.size() > 1) {
    const PhaseClock::Span check(clock_, Phase::kCheck);
    NMB_TRY(match_definitions(ids, &any_shared));
    if (any_shared) NMB_TRY(unite_shared(ids));
  }
  std::vector<BlockId> kept;
  for (BlockId id : ids)
    if (state(id).kept) kept.push_back(id);
  if (!has_file_id_ && options_.metadata_codec == MetadataCodec::kZstdDictionary)
    NMB_TRY(keep(train(kept)));
  if (!compressor_ && options_.metadata_codec != MetadataCodec::kNone)
    compressor_ = std::make_unique<BodyCompressor>(options_.compression_level, dictionary_);
  const auto encode = [&]() -> Status {
    for (BlockId id : ids) {
      const BlockState& block = state(id);
      NMB_TRY(block.values.check(names_.at(id), block.extent_length, block.sharing != nullptr));
    }
    return encode_bodies(kept);
  };
  NMB_TRY(ranks_.agree(keep(encode())));
  NMB_TRY(number_blocks(kept));
  if (!has_file_id_) NMB_TRY(choose_file_id(kept));
  NMB_TRY(ranks_.agree(keep(keep_extents(kept))));
  NMB_TRY(ranks_.agree(keep(place(kept))));
  if (any_shared) {
    const PhaseClock::Span check(clock_, Phase::kCheck);
    NMB_TRY(tell_sharers(ids));
  }
  for (BlockId id : ids) {
    BlockState& block = state(id);
    block.pending = block.edited = false;
    block.written = true;
    block.known_at = superblock_.generation;
    if (block.kept && !block.dirty) dirty_.push_back(id);
    block.dirty = block.dirty || block.kept;
  }
  NMB_TRY(ranks_.agree(keep(set_length())));
  NMB_TRY(ranks_.agree(
      keep(for_all([&](BlockId id) { return state(id).old ? carry_values(id) : Status(); }))));
  pending_.clear();
  by_name_.clear();
  define_mode_ = false;
  return {};
}

// Makes the file as long as what was placed in it: ranks that write need not.
Status Writer::Impl::set_length() {
  if (ranks_.rank() != 0) return {};
  NMB_ASSIGN(const std::uint64_t size, file_->size());
  return size < cursor_ ? file_->truncate(cursor_) : Status();
}

Result<std::uint64_t> Writer::Impl::global_id(BlockId id) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  if (define_mode_)
    return Status(Code::kUsage,
                  "found a global ID asked for in define mode, expected end_define() before");
  if (ranks_.size() > 1) {
    const BlockState& block = state(id);
    const bool comes = !block.committed || block.renamed;
    if (!comes && names_move_)
      return Status(Code::kUsage,
                    "found a global ID of a committed block asked for while ranks define, remove "
                    "or rename others, expected sync() before");
    std::uint64_t committed = 0;
    if (core_) {
      NMB_ASSIGN(committed, core_->index().rank_of(names_.at(id)));
    }
    return comes ? committed + static_cast<std::uint64_t>(block.names_ahead) : committed;
  }
  if (by_name_.empty()) {
    for (BlockId b = 0; b < blocks_.size(); ++b)
      if (!blocks_[b]->removed && (blocks_[b]->is_new() || blocks_[b]->renamed))
        by_name_.push_back(b);
    std::sort(by_name_.begin(), by_name_.end(),
              [&](BlockId a, BlockId b) { return names_.at(a) < names_.at(b); });
  }
  const std::string_view name = names_.at(id);
  auto it = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                             [&](BlockId b, std::string_view n) { return names_.at(b) < n; });
  std::uint64_t rank = static_cast<std::uint64_t>(it - by_name_.begin());
  if (core_) {
    NMB_ASSIGN(std::uint64_t committed, core_->index().rank_of(name));
    rank += committed;
    rank -= static_cast<std::uint64_t>(
        std::distance(removed_names_.begin(), removed_names_.lower_bound(name)));
  }
  return rank;
}

}  // namespace nmb
