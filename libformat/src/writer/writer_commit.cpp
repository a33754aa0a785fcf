// Commits: values are finished, blocks, maps and index written, then the superblock
// (spec/format.md, section 5).
#include <algorithm>
#include <cstring>

#include "index/entry_codec.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "writer/writer_impl.h"

namespace nmb {

Status Writer::Impl::load_committed() {
  class Ignore final : public Findings {
    void report(Finding) override {}
  } ignore;
  NMB_ASSIGN(std::uint64_t size, file_->size());
  source_ = std::make_unique<OutputSource>(*file_, size);
  NMB_ASSIGN(Head head, read_head(*source_, ignore));
  superblock_ = head.superblock;
  identity_ = head.identity;
  if (superblock_.readonly_compatible != 0)
    return Status(
        Code::kUnsupported, file_->name(), head.position + 40, "R-SB-6",
        "the file has features that only a newer writer keeps up (an HDF5 view among them)");
  // Nothing of an unfinished commit may look like ours later.
  if (size != superblock_.file_length) NMB_TRY(file_->truncate(superblock_.file_length));
  if (head.rolled_forward) {
    NMB_TRY(
        file_->write_at(Superblock::slot_position(superblock_.generation), superblock_.encode()));
  }
  if (options_.sync && (head.rolled_forward || size != superblock_.file_length))
    NMB_TRY(file_->sync());
  has_file_id_ = true;
  next_order_ = superblock_.next_order;
  cursor_ = superblock_.file_length;
  if (!superblock_.dictionary.absent() && head.dictionary.empty())
    return Status(Code::kDamaged, file_->name(), kDictionaryPosition, "R-SB-9",
                  "found no dictionary with the sum that the superblock says");
  dictionary_ = head.dictionary;
  source_ = std::make_unique<OutputSource>(*file_, superblock_.file_length);
  core_ = std::make_unique<ReaderCore>(*source_, std::move(head));
  return {};
}

std::uint64_t Writer::Impl::block_end(BlockId id) const {
  const BlockState& block = *blocks_[id];
  return block.position + block_length(names_.at(id).size(), block.stored_length);
}

Status Writer::Impl::move_pending(const std::vector<Commitment>& blocks) {
  std::vector<Move*> moves;
  bool sparse = false;
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  for (const Commitment& commitment : blocks) {
    const BlockState& block = *blocks_[commitment.id];
    if (!block.move || is_inline(commitment.id)) continue;
    moves.push_back(block.move.get());
    from = std::min(from, block.move->position);
    to = std::max(to, block.move->position + block.move->stored_length());
    sparse = sparse || block.move->source->may_be_sparse();
  }
  if (moves.empty()) return {};
  std::sort(moves.begin(), moves.end(),
            [](const Move* a, const Move* b) { return a->position < b->position; });
  if (!sparse) {
    NMB_TRY(file_->reserve(from, to - from));
  } else {
    // Values that were put may lie behind these already.
    NMB_ASSIGN(std::uint64_t size, file_->size());
    if (size < to) NMB_TRY(file_->truncate(to));
  }
  return move_values(moves, *file_, superblock_.piece_size, options_);
}

// What becomes of a block's values: the pieces, and whether they need a map.
Status Writer::Impl::finish_extent(Commitment& c) {
  BlockState& block = state(c.id);
  if (block.extent_length == 0) return {};
  const std::uint64_t piece_size = superblock_.piece_size;
  if (block.move && is_inline(c.id)) {
    c.extent_position = block.run_position;  // written with the block
    return {};
  }
  if (block.move) {
    auto hole = block.move->holes.begin();
    std::uint64_t stored = 0;
    for (std::uint64_t at = 0; at < block.extent_length; at = c.pieces.back().end()) {
      if (hole != block.move->holes.end() && at == hole->begin) {
        c.pieces.push_back({at, hole->length(), true, 0, 0});
        ++hole;
        continue;
      }
      const std::uint64_t length = std::min(piece_size, block.extent_length - at);
      c.pieces.push_back(
          {at, length, false, block.run_position + stored, block.move->sums[stored / piece_size]});
      stored += length;
    }
  } else if (block.extent) {
    NMB_TRY(load_definitions(c.id));
    const FillPattern fill(*block.metadata, block.layout);
    NMB_ASSIGN(c.pieces, block.extent->finish(buffer_, fill));
  } else if (block.committed && block.run_position == 0) {
    // Values not touched, as they were.
    c.extent_position = block.committed->extent_position;
    c.extent_sum = block.committed->extent_sum;
    c.map = block.committed->map;
    c.hole = block.committed->hole;
    return {};
  } else {
    c.hole = true;
    return {};
  }
  c.hole = std::all_of(c.pieces.begin(), c.pieces.end(), [](const Piece& p) { return p.hole; });
  if (c.hole) {
    c.pieces.clear();
    return {};
  }
  bool one_run = true;
  for (const Piece& piece : c.pieces)
    one_run = one_run && !piece.hole && piece.position == c.pieces[0].position + piece.logical;
  if (one_run) c.extent_position = c.pieces[0].position;
  if (one_run && c.pieces.size() == 1) {
    const bool header_says =
        c.rewritten || (block.committed && !block.committed->has_map() &&
                        block.committed->extent_position == c.extent_position &&
                        block.committed->extent_length == block.extent_length);
    if (header_says) {
      c.extent_sum = c.pieces[0].sum;
      c.pieces.clear();
    }
  }
  return {};
}

Status Writer::Impl::write_map(Commitment& c) {
  const BlockState& block = state(c.id);
  std::unique_ptr<DataMap> old;
  if (block.committed && block.committed->has_map()) {
    old = std::make_unique<DataMap>(*source_, identity_.file_id, superblock_.generation,
                                    block.committed->position, block.committed->map,
                                    block.committed->extent_length, superblock_.piece_size);
    // Pages name the block's header as their owner: with a new one none can be kept.
    if (c.rewritten || c.pieces.empty()) {
      if (!c.rewritten && !c.map.absent()) return {};
      NMB_TRY(retire_data_map(*old, *this));
      old.reset();
    }
  }
  if (c.pieces.empty()) return {};
  NMB_ASSIGN(c.map, write_data_map(c.pieces, old.get(), *this, identity_.file_id, new_generation(),
                                   block.position));
  return {};
}

Status Writer::Impl::write_block(Commitment& c) {
  BlockState& block = state(c.id);
  const std::string_view name = names_.at(c.id);
  std::vector<std::byte> inline_bytes;
  if (is_inline(c.id) && block.extent_length > 0 &&
      (c.hole || c.extent_position == block.run_position)) {
    inline_bytes.resize(round_up(block.extent_length, 8));
    auto values = std::span(inline_bytes).first(block.extent_length);
    if (block.move) {
      NMB_TRY(read_moved(*block.move, 0, values));
      c.extent_sum = sum_of(values);
    } else if (!c.hole) {
      NMB_TRY(file_->read_at(block.run_position, values));
    }
  }
  BlockHeader header;
  header.kind = static_cast<std::uint16_t>(block.kind);
  header.codec = block.codec;
  header.flags = c.hole ? kFlagHole : 0;
  header.file_id = identity_.file_id;
  header.position = block.position;
  header.generation = new_generation();
  header.stored_length = block.stored_length;
  header.raw_length = block.raw_length;
  header.extent_position = c.map.absent() ? c.extent_position : 0;
  header.extent_length = block.extent_length;
  header.extent_sum = c.extent_sum;
  header.records = block.records;
  header.samples = block.samples;
  header.order = block.order;
  header.digest = block.digest;
  header.body_sum = block.body_sum;
  std::vector<std::byte> bytes(block_body_offset(name.size()));
  header.encode(name, bytes);
  c.header_sum = header.sum;
  NMB_TRY(buffer_.write_at(block.position, bytes));
  std::uint64_t at = block.position + bytes.size();
  if (block.retained != BlockState::kNotRetained) {
    auto stored = retained_.span().subspan(block.retained, block.stored_length);
    NMB_TRY(buffer_.write_at(at, stored));
  } else if (block.raw_length > kStreamBody) {
    DigestStream digest;
    std::uint64_t to = at;
    NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
      digest.add(part);
      NMB_TRY(buffer_.write_at(to, part));
      to += part.size();
      return {};
    }));
    if (digest.digest() != block.digest)
      return Status(Code::kDamaged, file_->name(), kNoOffset, "",
                    "block \"" + std::string(name) + "\": its header changed while it was read");
  } else {
    std::vector<std::byte> raw, stored;
    BodyCodec codec;
    NMB_TRY(encode_stored(block, &raw, &stored, &codec));
    if (digest_of(raw) != block.digest || stored.size() != block.stored_length)
      return Status(Code::kDamaged, file_->name(), kNoOffset, "",
                    "block \"" + std::string(name) + "\": its header changed while it was read");
    NMB_TRY(buffer_.write_at(at, stored));
  }
  at += block.stored_length;
  constexpr std::byte zeros[8]{};
  const std::uint64_t end = block_end(c.id);
  NMB_TRY(buffer_.write_at(at, std::span(zeros).first(end - at)));
  return inline_bytes.empty() ? Status() : buffer_.write_at(end, inline_bytes);
}

Status Writer::Impl::write_dictionary() {
  if (dictionary_.empty()) return {};
  const std::uint64_t position = superblock_.dictionary.position;
  std::vector<std::byte> bytes(block_length(0, dictionary_.size()));
  std::copy(dictionary_.begin(), dictionary_.end(), bytes.begin() + kBlockHeaderSize);
  BlockHeader header;
  header.kind = kKindDictionary;
  header.file_id = identity_.file_id;
  header.position = position;
  header.generation = new_generation();
  header.stored_length = header.raw_length = dictionary_.size();
  header.digest = digest_of(dictionary_);
  header.body_sum = sum_of(std::span(bytes).subspan(kBlockHeaderSize));
  header.encode("", std::span(bytes).first(kBlockHeaderSize));
  NMB_TRY(buffer_.write_at(kDictionaryPosition, dictionary_));
  return buffer_.write_at(position, bytes);
}

Status Writer::Impl::write_tombstone(const BlockEntry& entry) {
  BlockHeader header;
  header.kind = entry.kind;
  header.flags = kFlagTombstone;
  header.file_id = identity_.file_id;
  header.position = cursor_;
  header.generation = new_generation();
  header.order = entry.order;
  std::vector<std::byte> bytes(block_length(entry.name.size(), 0));
  header.encode(entry.name, bytes);
  dead_.push_back({cursor_, bytes.size(), sum_of(bytes), true});
  return append(bytes);
}

Status Writer::Impl::write_dead_map(Superblock& next) {
  if (dead_.empty()) return {};
  std::sort(dead_.begin(), dead_.end(),
            [](const DeadRange& a, const DeadRange& b) { return a.position < b.position; });
  PageBuilder page(PageUse::kDead, 0);
  if (!next.dead_map.absent()) {
    std::byte sum[8];
    NMB_TRY(buffer_.read_at(next.dead_map.position + 72, sum));
    page.add_row();
    page.set(kState, 1);
    page.set(kPosition, next.dead_map.position);
    page.set(kStoredLength, next.dead_map.length);
    page.set(kSum, load_le<std::uint64_t>(sum));
  }
  for (DeadRange& range : dead_) {
    if (!range.sum_known) {
      NMB_ASSIGN(range.sum, sum_in_file(buffer_, range.position, range.length));
    }
    page.add_row();
    page.set(kPosition, range.position);
    page.set(kStoredLength, range.length);
    page.set(kSum, range.sum);
  }
  std::vector<std::byte> bytes;
  NMB_ASSIGN(Place place, write_page(*this, page, identity_.file_id, new_generation(), 0, &bytes));
  next.dead_map = {place.position, place.length, sum_of(bytes)};
  return {};
}

Status Writer::Impl::write_superblock(Superblock& next) {
  const std::uint64_t trailer = round_up(cursor_, kSlotUnit);
  next.file_length = trailer + kSlotUnit;
  if (superblock_.generation > 0) {
    const std::uint64_t before = superblock_.file_length - kSlotUnit;
    next.previous_trailer = {before, kSlotUnit, sum_of(superblock_.encode())};
  }
  const auto bytes = next.encode();
  if (superblock_.generation == 0) NMB_TRY(buffer_.write_at(0, identity_.encode()));
  NMB_TRY(buffer_.flush());
  NMB_TRY(file_->truncate(next.file_length));
  if (options_.before_commit) NMB_TRY(options_.before_commit());
  NMB_TRY(file_->write_at(trailer, bytes));
  if (options_.sync) NMB_TRY(file_->sync());
  slot_begun_ = true;
  NMB_TRY(file_->write_at(Superblock::slot_position(next.generation), bytes));
  if (options_.sync) NMB_TRY(file_->sync());
  slot_begun_ = false;
  if (superblock_.generation > 0) return {};
  if (options_.before_publish)
    NMB_TRY(options_.before_publish(OutputSource(*file_, next.file_length)));
  return file_->publish();
}

BlockEntry Writer::Impl::entry_of(const Commitment& c) const {
  const BlockState& block = *blocks_[c.id];
  BlockEntry entry;
  if (block.committed) entry = *block.committed;
  entry.name = names_.at(c.id);
  entry.kind = static_cast<std::uint16_t>(block.kind);
  entry.codec = block.codec;
  entry.hole = c.hole;
  entry.position = block.position;
  entry.stored_length = block.stored_length;
  entry.raw_length = block.raw_length;
  entry.digest = block.digest;
  if (c.rewritten) entry.sum = c.header_sum;
  entry.extent_position = c.extent_position;
  entry.extent_length = block.extent_length;
  entry.extent_sum = c.map.absent() ? c.extent_sum : 0;
  entry.dimensions = block.dimensions;
  entry.variables = block.variables;
  entry.attributes = block.attributes;
  entry.records = block.records;
  entry.samples = block.samples;
  entry.map = c.map;
  entry.order = block.order;
  return entry;
}

// What the index is told: new and changed entries, and names that are gone.
class Writer::Impl::Changes final : public IndexChanges {
 public:
  Changes(const Impl& writer, const std::vector<Commitment>& blocks) : writer_(writer) {
    list_.reserve(blocks.size() + writer.removed_names_.size());
    for (const Commitment& block : blocks) list_.push_back({writer.names_.at(block.id), &block});
    for (const std::string& name : writer.removed_names_) list_.push_back({name, nullptr});
    // A name that was removed and defined again is one change.
    auto less = [](const Change& a, const Change& b) {
      const int order = a.name.compare(b.name);
      return order != 0 ? order < 0 : a.block && !b.block;
    };
    if (!std::is_sorted(list_.begin(), list_.end(), less))
      std::sort(list_.begin(), list_.end(), less);
    list_.erase(std::unique(list_.begin(), list_.end(),
                            [](const Change& a, const Change& b) { return a.name == b.name; }),
                list_.end());
  }
  std::size_t count() const override { return list_.size(); }
  std::string_view name(std::size_t i) const override { return list_[i].name; }
  std::optional<BlockEntry> entry(std::size_t i) const override {
    if (!list_[i].block) return std::nullopt;
    return writer_.entry_of(*list_[i].block);
  }

 private:
  struct Change {
    std::string_view name;
    const Commitment* block;
  };
  const Impl& writer_;
  std::vector<Change> list_;
};

Status Writer::Impl::commit(bool closing) {
  NMB_TRY(failure_);
  const bool first = superblock_.generation == 0;
  if (!first && dirty_.empty()) return {};
  std::sort(dirty_.begin(), dirty_.end());
  dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
  std::vector<Commitment> blocks;
  blocks.reserve(dirty_.size());
  for (BlockId id : dirty_) {
    const BlockState& block = state(id);
    if (block.removed) continue;
    Commitment c;
    c.id = id;
    c.rewritten = block.body_from != BodyFrom::kCommitted;
    blocks.push_back(std::move(c));
  }
  auto work = [&]() -> Status {
    NMB_TRY(buffer_.flush());
    NMB_TRY(move_pending(blocks));
    // Space set apart behind the last value that was written is given back.
    std::uint64_t used = first ? kBodyStart : superblock_.file_length;
    if (first && !dictionary_.empty())
      used = superblock_.dictionary.position + block_length(0, dictionary_.size());
    for (Commitment& c : blocks) {
      NMB_TRY(finish_extent(c));
      const BlockState& block = state(c.id);
      if (c.rewritten) used = std::max(used, block_end(c.id));
      if (block.inline_run) used = std::max(used, block.run_position + block.extent_length);
      if (c.extent_position != 0) used = std::max(used, c.extent_position + block.extent_length);
      for (const Piece& piece : c.pieces)
        if (!piece.hole) used = std::max(used, piece.position + piece.length);
    }
    cursor_ = round_up(used, 8);
    for (Commitment& c : blocks) NMB_TRY(write_map(c));
    if (first) NMB_TRY(write_dictionary());
    std::vector<Commitment*> by_position;
    for (Commitment& c : blocks)
      if (c.rewritten) by_position.push_back(&c);
    std::sort(by_position.begin(), by_position.end(),
              [&](const Commitment* a, const Commitment* b) {
                return state(a->id).position < state(b->id).position;
              });
    for (Commitment* c : by_position) NMB_TRY(write_block(*c));
    for (BlockId id : dirty_) {
      const BlockState& block = state(id);
      if (!block.committed || !(block.removed || block.renamed)) continue;
      if (block.removed && block.committed->has_map()) {
        const DataMap map(*source_, identity_.file_id, superblock_.generation,
                          block.committed->position, block.committed->map,
                          block.committed->extent_length, superblock_.piece_size);
        NMB_TRY(retire_data_map(map, *this));
      }
      NMB_TRY(write_tombstone(*block.committed));
    }
    Superblock next = superblock_;
    next.generation = new_generation();
    next.next_order = next_order_;
    if (!dictionary_.empty()) next.incompatible |= kFeatureDictionary;
    for (const Commitment& c : blocks)
      if (state(c.id).codec != 0) next.incompatible |= kFeatureZstdBody;
    const Changes changes(*this, blocks);
    NMB_ASSIGN(IndexRoot root, update_index(core_ ? &core_->index() : nullptr, changes, *this,
                                            identity_.file_id, new_generation()));
    next.root_position = root.position;
    next.root_length = root.length;
    next.height = root.height;
    next.root_digest = root.digest;
    next.totals = root.totals;
    NMB_TRY(write_dead_map(next));
    NMB_TRY(write_superblock(next));
    return closing ? (superblock_ = next, cursor_ = next.file_length, Status())
                   : settle(blocks, next);
  };
  // A commit that stopped half-way has accounted for pages that are not there: nothing can follow
  // it.
  failure_ = work().in_file(file_->name());
  return failure_;
}

void Writer::Impl::shut() {
  core_.reset();
  source_.reset();
  file_.reset();
  failure_ = Status(Code::kUsage, "found a call after close(), expected none");
}

// The new generation becomes the state that later changes start from.
Status Writer::Impl::settle(std::vector<Commitment>& blocks, const Superblock& next) {
  for (Commitment& c : blocks) {
    BlockState& block = state(c.id);
    block.committed = std::make_unique<BlockEntry>(entry_of(c));
    if (block.extent) {
      if (c.pieces.empty() && !c.hole && block.extent_length > 0)
        c.pieces.push_back({0, block.extent_length, false, c.extent_position, c.extent_sum});
      block.extent->committed(c.pieces);
    }
    block.body_from = BodyFrom::kCommitted;
    block.run_position = 0;
    block.inline_run = false;
    block.retained = BlockState::kNotRetained;
    block.move.reset();
    block.packed.reset();
    block.own_body.reset();
    block.dirty = block.renamed = block.header_dead = false;
  }
  for (BlockId id : dirty_)
    state(id).committed = state(id).removed ? nullptr : std::move(state(id).committed);
  dirty_.clear();
  dead_.clear();
  removed_names_.clear();
  retained_.clear();
  by_name_.clear();
  pending_bytes_ = 0;
  superblock_ = next;
  cursor_ = next.file_length;
  class Ignore final : public Findings {
    void report(Finding) override {}
  } ignore;
  source_ = std::make_unique<OutputSource>(*file_, next.file_length);
  NMB_ASSIGN(Head head, read_head(*source_, ignore));
  core_ = std::make_unique<ReaderCore>(*source_, std::move(head));
  return {};
}

}  // namespace nmb
