// Commits: values are finished, blocks, maps and index written, then the superblock
// (spec/format.md, section 5).
#include <algorithm>
#include <cstring>

#include "extent/needs.h"
#include "parallel/letters.h"
#include "parallel/message_codec.h"
#include "parallel/shared_output.h"
#include "superblock/settled_head.h"
#include "superblock/view_header.h"
#include "verify/sound_generation.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "writer/move_sharing.h"
#include "writer/ordered_space.h"
#include "writer/writer_impl.h"

namespace nmb {

// Rank 0 reads and mends the head, the others get it from rank 0: none of them opens the file.
Status Writer::Impl::load_committed() {
  const bool leads = ranks_.rank() == 0;
  std::uint64_t size = 0;
  Head head;
  auto read = [&]() -> Status {
    NMB_ASSIGN(size, file_->size());
    source_ = std::make_unique<OutputSource>(*file_, size);
    NMB_ASSIGN(head, settle_head());
    return {};
  };
  Status status;
  std::vector<std::byte> bytes;
  if (leads) {
    status = read();
    MessageWriter out;
    out.put(status.ok());
    out.put(size);
    out.put(head.position);
    out.put(head.superblock_bytes);
    out.put_bytes(head.bytes);
    out.put_bytes(head.dictionary);
    bytes = out.take();
  }
  NMB_TRY(ranks_.broadcast(0, &bytes));
  if (!leads) {
    MessageReader in(bytes);
    if (in.get<bool>()) {
      size = in.get<std::uint64_t>();
      head.position = in.get<std::uint64_t>();
      head.superblock_bytes = in.get<std::array<std::byte, kSlotUnit>>();
      const std::span<const std::byte> first = in.get_bytes(), dictionary = in.get_bytes();
      head.bytes.assign(first.begin(), first.end());
      head.dictionary.assign(dictionary.begin(), dictionary.end());
      FirstFinding wrong;
      Superblock::decode(head.superblock_bytes, head.position, &head.superblock, wrong);
      status = wrong.status(file_->name());
    } else {
      return ranks_.agree({});  // with why
    }
  }
  if (status.ok()) status = take_head(std::move(head), size);
  return ranks_.agree(status);
}

Status Writer::Impl::take_head(Head head, std::uint64_t size) {
  superblock_ = head.superblock;
  superblock_bytes_ = head.superblock_bytes;
  std::copy_n(head.bytes.begin() + kIdentityPosition, kIdentitySize, identity_.begin());
  kept_length_ = size;
  cursor_ = round_up(size, 8);
  const std::uint64_t committed = superblock_.file_length;
  if (ranks_.rank() == 0 && size > committed)
    dead_.push_back({committed, cursor_ - committed, 0, false, true});
  has_file_id_ = true;
  next_order_ = superblock_.next_order;
  if (!superblock_.dictionary.absent() && head.dictionary.empty())
    return Status(Code::kDamaged, file_->name(), kDictionaryPosition, "R-SB-9",
                  "found no dictionary with the sum that the superblock says");
  dictionary_ = head.dictionary;
  source_ = std::make_unique<OutputSource>(*file_, committed);
  core_ = std::make_unique<ReaderCore>(*source_, std::move(head));
  return ranks_.rank() == 0 ? check_continued_pages() : Status();
}

// Pages that a commit may continue must be such that this version reads them.
Status Writer::Impl::check_continued_pages() {
  NMB_TRY(check_growth_chain());
  NMB_TRY(core_->external().table().status());
  const Place& newest = superblock_.dead_map;
  if (newest.absent() || newest.length > ~std::uint32_t{0}) return {};
  PageExpectation expect = superblock_.expectation(PageUse::kDead);
  expect.position = newest.position;
  expect.length = static_cast<std::uint32_t>(newest.length);
  return read_page(*source_, expect).status();
}

namespace {

using Tell = std::function<void(const std::string&)>;

std::string generation_at(const FoundSuperblock& found) {
  return "generation " + std::to_string(found.fields.generation) + " (superblock at " +
         std::to_string(found.position) + ")";
}

// Adopts a pending generation that is sound; refuses one that only a search found and that is not.
Status choose_sound(const ByteSource& file, Choice* choice, const Tell& tell) {
  if (choice->found_by_search) {
    NMB_ASSIGN(const bool sound, is_sound(file, choice->reading, choice->newest));
    if (!sound)
      return Status(Code::kDamaged, file.name(), choice->newest.position, "R-SB-13",
                    "slots and mark are damaged, and generation " +
                        std::to_string(choice->newest.fields.generation) +
                        " behind them is not sound; nmverify tells what is damaged");
    tell("slots and mark are damaged; goes on from " + generation_at(choice->newest) +
         ", which is sound");
  }
  if (!choice->pending) return {};
  NMB_ASSIGN(const bool sound, is_sound(file, choice->reading, *choice->pending));
  if (sound) {
    tell(generation_at(*choice->pending) +
         " was complete and not committed; it is sound and taken "
         "over");
    choice->newest = *choice->pending;
    choice->rolled_forward = true;
  } else {
    tell(generation_at(*choice->pending) +
         " was complete and not committed; it is not sound and "
         "not taken over");
  }
  choice->pending.reset();
  return {};
}

// Bytes behind the generation that the writer goes on from.
void tell_of_bytes_behind(const Choice& choice, const Tell& tell) {
  const Superblock& newest = choice.newest.fields;
  const std::uint64_t size = choice.reading.size;
  if (size <= newest.file_length) return;
  tell(std::to_string(size - newest.file_length) + " bytes behind generation " +
       std::to_string(newest.generation) +
       (may_hide_a_generation(choice)
            ? ", and a slot or the mark is damaged: a later generation may be lost, and "
              "none is found; the bytes stay as an abandoned range"
            : ", which no generation has committed, stay as an abandoned range; nmconvert "
              "--repack leaves them out"));
}

// What stands where the trailer of the newest generation belongs may be all that is left of another
// file: two files with the same definitions have the same file id, and a copy of one over the other
// may have ended in the head. Then nothing of it is written over.
Status check_no_other_trailer(const ByteSource& file, const HeadReading& reading,
                              const FoundSuperblock& newest) {
  const std::uint64_t trailer = newest.fields.trailer_position();
  TrailerSearch search(file, reading.size, std::nullopt);
  NMB_ASSIGN(const std::optional<FoundSuperblock> found,
             search.ending_at(newest.fields.file_length));
  if (!found || found->bytes == newest.bytes) return {};
  NMB_ASSIGN(const bool sound, is_sound(file, reading, newest));
  if (sound) return {};
  return Status(Code::kDamaged, file.name(), trailer, "R-SB-2",
                "found another superblock than the one in the slot of generation " +
                    std::to_string(newest.fields.generation) +
                    ", and that generation is not sound: head and end may be of two files; "
                    "nmverify tells what is damaged");
}

}  // namespace

// By rank 0: makes the state settled (spec/format.md, section 5.4) before anything else is written.
Result<Head> Writer::Impl::settle_head() {
  NMB_ASSIGN(Choice choice, choose_newest(*source_, Lookout::kAll));
  NMB_TRY(choice.lost);
  const Tell tell = [this](const std::string& text) {
    if (options_.on_repair) options_.on_repair(text);
  };
  NMB_TRY(choose_sound(*source_, &choice, tell));
  NMB_ASSIGN(const std::vector<std::byte> settled,
             settled_head(*source_, choice.reading, choice.newest));
  NMB_TRY(check_no_other_trailer(*source_, choice.reading, choice.newest));
  tell_of_bytes_behind(choice, tell);
  const std::vector<std::byte> found = choice.reading.bytes;
  FirstFinding ignored;
  NMB_ASSIGN(Head head, head_of(*source_, std::move(choice), ignored));
  const Superblock& superblock = head.superblock;
  if (superblock.readonly_compatible & ~kWrittenReadonly)
    return Status(Code::kUnsupported, file_->name(),
                  head.position + in_superblock::kReadonlyCompatible, "R-SB-6",
                  "the file has features that only a newer writer keeps up");
  NMB_TRY(check_sections(superblock));
  auto sync = [&] { return options_.sync ? file_->sync() : Status(); };
  std::array<std::byte, kSlotUnit> trailer;
  NMB_TRY(file_->read_at(superblock.trailer_position(), trailer));
  const auto differs = [&](std::size_t from, std::size_t to) {
    return !std::equal(settled.begin() + static_cast<std::ptrdiff_t>(from),
                       settled.begin() + static_cast<std::ptrdiff_t>(to),
                       found.begin() + static_cast<std::ptrdiff_t>(from));
  };
  std::string restored;
  auto restores = [&](const std::string& what) {
    restored += (restored.empty() ? "" : ", ") + what;
  };
  if (trailer != head.superblock_bytes) {
    restores("the trailer at " + std::to_string(superblock.trailer_position()));
    NMB_TRY(file_->write_at(superblock.trailer_position(), head.superblock_bytes));
  }
  for (const std::size_t at : {kFirstSlot, kFirstSlot + kSlotUnit}) {
    if (!differs(at, at + kSlotUnit)) continue;
    restores("the slot at " + std::to_string(at));
    NMB_TRY(file_->write_at(at, std::span(settled).subspan(at, kSlotUnit)));
  }
  if (!restored.empty()) NMB_TRY(sync());
  if (differs(0, kFirstSlot)) {
    constexpr std::size_t kMarkEnd = kMarkPosition + kMarkSize;
    constexpr std::size_t kIdentityEnd = kIdentityPosition + kIdentitySize;
    if (differs(0, kMarkPosition)) restores("the cover");
    if (differs(kMarkPosition, kMarkEnd)) restores("the mark");
    if (differs(kIdentityPosition, kIdentityEnd)) restores("the identity");
    if (differs(kMarkEnd, kIdentityPosition) || differs(kIdentityEnd, kFirstSlot))
      restores("guard and zeros of the head");
    NMB_TRY(file_->write_at(0, std::span(settled).first(kFirstSlot)));
    NMB_TRY(sync());
  }
  if (!restored.empty())
    tell("the head was not that of generation " + std::to_string(superblock.generation) +
         ": restored " + restored);
  std::ranges::copy(settled, head.bytes.begin());
  return head;
}

std::uint64_t Writer::Impl::block_end(BlockId id) const {
  const BlockState& block = *blocks_[id];
  return block.position + block_length(names_.at(id).size(), block.stored_length);
}

// Collective.
Status Writer::Impl::move_pending(const std::vector<Commitment>& blocks) {
  std::vector<Move*> moves;
  bool sparse = false;
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  for (const Commitment& commitment : blocks) {
    BlockState& block = *blocks_[commitment.id];
    if (options_.statistics != StatisticsLevel::kNone)
      block.values.tap([this, id = commitment.id] { return counter_of(id); });
    Move* const move = block.values.move();
    if (!move || is_inline(commitment.id)) continue;
    moves.push_back(move);
    from = std::min(from, move->position);
    to = std::max(to, move->position + move->stored_length());
    sparse = sparse || move->source->may_be_sparse();
  }
  std::sort(moves.begin(), moves.end(),
            [](const Move* a, const Move* b) { return a->position < b->position; });
  if (options_.dry_run) {
    for (Move* move : moves) move->sums.assign(move->windows(superblock_.piece_size), kWidestSum);
    return {};
  }
  return share_moves(ranks_, moves, *file_, superblock_.piece_size, options_,
                     moves.empty() || sparse ? Status() : file_->reserve(from, to - from));
}

// What becomes of a block's values: the pieces, and whether they need a map.
Status Writer::Impl::finish_extent(Commitment& c) {
  // Of inline values as many are kept until their blocks are written as take little memory.
  constexpr std::uint64_t kMostKept = 16 << 20;
  BlockState& block = state(c.id);
  if (block.extent_length == 0) return {};
  std::optional<ClassicHeader> whole;  // where this rank's metadata are a part
  const auto definitions = [&]() -> Result<const Metadata*> {
    NMB_TRY(load_definitions(c.id));
    if (!block.partial) return block.metadata.get();
    NMB_ASSIGN(whole, stored_header(c.id));
    return &whole->metadata;
  };
  NMB_ASSIGN(FinishedExtent finished,
             block.values.finish({block.extent_length, block.run_position, block.inline_run,
                                  c.rewritten, superblock_.piece_size, options_.dry_run, buffer_,
                                  std::ref(definitions), block.layout}));
  if (kept_inline_ + finished.inline_values.size() <= kMostKept) {
    kept_inline_ += finished.inline_values.size();
    c.inline_values = std::move(finished.inline_values);
  }
  c.pieces = std::move(finished.pieces);
  c.appended = finished.appended;
  return c.appended ? Status() : describe_extent(c);
}

// Values not touched, as they were.
void Writer::Impl::keep_committed_extent(Commitment& c) const {
  const BlockEntry& entry = *blocks_[c.id]->committed;
  c.extent_position = entry.extent_position;
  c.extent_sum = entry.extent_sum;
  c.map = entry.map;
  c.hole = entry.hole;
  c.needs = entry.needs & kNeedsOfValues;
}

// What the entry says of an extent of these pieces.
Status Writer::Impl::describe_extent(Commitment& c) {
  const BlockState& block = state(c.id);
  c.hole = std::all_of(c.pieces.begin(), c.pieces.end(), [](const Piece& p) { return p.hole; });
  if (c.hole) {
    c.pieces.clear();
    return {};
  }
  bool one_run = true;
  for (const Piece& piece : c.pieces) {
    NMB_ASSIGN(const bool original, is_original(piece.file));
    c.needs |= needs_of_piece(piece, original);
  }
  for (const Piece& piece : c.pieces)
    one_run = one_run && piece.is_plain() && piece.position == c.pieces[0].position + piece.logical;
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

// Whether a file number leads to an original, of those that the file has; new rows are of external
// files.
Result<bool> Writer::Impl::is_original(std::uint32_t number) const {
  if (number == 0 || !core_) return false;
  NMB_ASSIGN(const std::shared_ptr<const FileTable> table, core_->external().table());
  return number <= table->rows() && table->is_original(number - 1);
}

Status Writer::Impl::write_map(Commitment& c, PageSink& sink) {
  const BlockState& block = state(c.id);
  if (!c.edge.empty()) {
    NMB_ASSIGN(c.map, append_to_data_map(c.pieces, c.edge, superblock_.map_rows, sink, new_origin(),
                                         block.position));
    return {};
  }
  std::unique_ptr<DataMap> old;
  if (block.committed && block.committed->has_map()) {
    old = std::make_unique<DataMap>(core_->map_of(*block.committed));
    // Pages name the block's header as their owner: with a new one none can be kept.
    if (c.rewritten || c.pieces.empty()) {
      if (!c.rewritten && !c.map.absent()) return {};
      NMB_TRY(retire_data_map(*old, sink));
      old.reset();
    }
  }
  if (c.pieces.empty()) return {};
  NMB_ASSIGN(c.map, write_data_map(c.pieces, old.get(), superblock_.map_rows, sink, new_origin(),
                                   block.position));
  return {};
}

Status Writer::Impl::write_block(Commitment& c) {
  BlockState& block = state(c.id);
  const std::string_view name = names_.at(c.id);
  std::vector<std::byte> inline_bytes;
  if (is_inline(c.id) && block.extent_length > 0 &&
      (c.hole || c.extent_position == block.run_position)) {
    inline_bytes = std::move(c.inline_values);
    if (inline_bytes.empty()) {
      inline_bytes.resize(round_up(block.extent_length, 8));
      const auto values = std::span(inline_bytes).first(block.extent_length);
      const Move* const move = block.values.move();
      if (move && !options_.dry_run) {
        NMB_TRY(read_moved(*move, 0, values));
        if (sum_of(values) != c.extent_sum)
          return Status(Code::kDamaged, file_->name(), kNoOffset, "",
                        "block \"" + std::string(name) +
                            "\": its values changed while they were "
                            "read");
      } else if (!c.hole && !options_.dry_run) {
        NMB_TRY(file_->read_at(block.run_position, values));
      }
    }
  }
  BlockHeader header;
  header.kind = static_cast<std::uint16_t>(block.kind);
  header.codec = block.codec;
  header.flags = c.hole ? kFlagHole : 0;
  header.origin = new_origin();
  header.position = block.position;
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
  c.header_sum = options_.dry_run ? kWidestSum : header.sum;
  NMB_TRY(stripes_.write_at(block.position, bytes));
  std::uint64_t at = block.position + bytes.size();
  if (block.retained != BlockState::kNotRetained) {
    auto stored = retained_.span().subspan(block.retained, block.stored_length);
    NMB_TRY(stripes_.write_at(at, stored));
  } else if (block.raw_length > kStreamBody) {
    DigestStream digest;
    std::uint64_t to = at;
    NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
      digest.add(part);
      NMB_TRY(stripes_.write_at(to, part));
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
    NMB_TRY(stripes_.write_at(at, stored));
  }
  at += block.stored_length;
  constexpr std::byte zeros[8]{};
  const std::uint64_t end = block_end(c.id);
  NMB_TRY(stripes_.write_at(at, std::span(zeros).first(end - at)));
  return inline_bytes.empty() ? Status() : stripes_.write_at(end, inline_bytes);
}

Status Writer::Impl::write_dictionary() {
  if (dictionary_.empty()) return {};
  const std::uint64_t position = superblock_.dictionary.position;
  std::vector<std::byte> bytes(block_length(0, dictionary_.size()));
  std::copy(dictionary_.begin(), dictionary_.end(), bytes.begin() + kBlockHeaderSize);
  BlockHeader header;
  header.kind = kKindDictionary;
  header.origin = new_origin();
  header.position = position;
  header.stored_length = header.raw_length = dictionary_.size();
  header.digest = digest_of(dictionary_);
  header.body_sum = sum_of(std::span(bytes).subspan(kBlockHeaderSize));
  header.encode("", std::span(bytes).first(kBlockHeaderSize));
  NMB_TRY(stripes_.write_at(kDictionaryPosition, dictionary_));
  return stripes_.write_at(position, bytes);
}

Status Writer::Impl::write_tombstone(const BlockEntry& entry, std::uint64_t position) {
  BlockHeader header;
  header.kind = entry.kind;
  header.flags = kFlagTombstone;
  header.origin = new_origin();
  header.position = position;
  header.order = entry.order;
  std::vector<std::byte> bytes(block_length(entry.name.size(), 0));
  header.encode(entry.name, bytes);
  dead_.push_back({position, bytes.size(), sum_of(bytes), true});
  return stripes_.write_at(position, bytes);
}

// The growth and the dead ranges of all ranks, written by rank 0.
Status Writer::Impl::write_dead_map(const std::vector<Commitment>& blocks, Superblock& next) {
  if (superblock_.generation == 0) return {};
  std::vector<Communicator::Parcel> parcels;
  auto sum_ranges = [&]() -> Status {
    for (DeadRange& range : dead_) {
      // In the committed part of the file: nothing of it waits to be written.
      if (range.sum_known) continue;
      NMB_ASSIGN(range.sum, sum_in_file(buffer_, range.position, range.length));
      range.sum_known = true;
    }
    return {};
  };
  auto sum_up = [&]() -> Status {
    NMB_TRY(sum_ranges());
    MessageWriter out;
    out.put_small(dead_.size());
    for (const DeadRange& range : dead_) {
      out.put_small(range.position);
      out.put_small(range.length);
      out.put(range.sum);
      out.put(range.abandoned);
    }
    put_growth(blocks, out);
    dead_.clear();
    parcels.push_back({0, out.take()});
    return {};
  };
  NMB_TRY(ranks_.agree(sum_up()));
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(std::move(parcels)));
  std::vector<DeadRange> dead;
  std::vector<MessageReader> growth;
  for (const Message& message : arrived) {
    MessageReader in(message.bytes());
    for (std::uint64_t left = in.get_small(); left > 0; --left) {
      DeadRange& range = dead.emplace_back();
      range.position = in.get_small();
      range.length = in.get_small();
      range.sum = in.get<std::uint64_t>();
      range.sum_known = true;
      range.abandoned = in.get<bool>();
    }
    growth.push_back(in);
  }
  auto write = [&]() -> Status {
    NMB_TRY(write_growth(growth, next));
    NMB_TRY(sum_ranges());
    dead.insert(dead.end(), dead_.begin(), dead_.end());
    if (dead.empty()) return {};
    std::sort(dead.begin(), dead.end(),
              [](const DeadRange& a, const DeadRange& b) { return a.position < b.position; });
    PageBuilder page(PageUse::kDead, 0);
    if (!next.dead_map.absent()) {
      std::byte sum[8];
      NMB_TRY(buffer_.read_at(next.dead_map.position + kPageSumOffset, sum));
      page.add_row();
      page.set(kState, 1);
      page.set(kPosition, next.dead_map.position);
      page.set(kStoredLength, next.dead_map.length);
      page.set(kSum, load_le<std::uint64_t>(sum));
    }
    for (const DeadRange& range : dead) {
      page.add_row();
      page.set(kState, range.abandoned ? kStateAbandoned : 0);
      page.set(kPosition, range.position);
      page.set(kStoredLength, range.length);
      page.set(kSum, range.sum);
    }
    std::vector<std::byte> bytes;
    NMB_ASSIGN(Place place, write_page(*this, page, new_origin(), 0, &bytes));
    next.dead_map = {place.position, place.length, sum_of(bytes)};
    return {};
  };
  return ranks_.agree(ranks_.rank() == 0 ? write() : Status());
}

// Everything is on the device before rank 0 writes the superblock.
Status Writer::Impl::write_superblock(Superblock& next) {
  const bool leads = ranks_.rank() == 0;
  auto begin = [&]() -> Status {
    NMB_TRY(write_sections(next));
    if (superblock_.generation > 0) return {};
    // The slots too: a file without unallocated pages is copied without looking for them.
    std::vector<std::byte> head(dictionary_.empty() ? kBodyStart : kDictionaryPosition);
    identity_ = Identity{superblock_.file_id, true}.encode();
    std::ranges::copy(identity_, head.begin() + kIdentityPosition);
    std::ranges::copy(kGuard, head.begin() + kGuardPosition);
    return stripes_.write_at(0, head);
  };
  {
    const PhaseClock::Span metadata(clock_, Phase::kMetadata);
    NMB_TRY(stripes_.pass_on(leads ? begin() : Status()));
  }
  auto finish = [&]() -> Status {
    NMB_TRY(buffer_.flush());
    if (options_.before_commit) NMB_TRY(options_.before_commit());
    // Rank 0's own wait for the device is with the trailer's.
    const bool waits = options_.sync && syncs_output(ranks_) && ranks_.rank() != 0;
    return waits ? file_->sync() : Status();
  };
  NMB_TRY(ranks_.agree(finish()));
  // Made ahead, as there may be no memory for it.
  const Status out_of_memory = std::exchange(out_of_memory_, in_doubt(out_of_memory_));
  Status status;
  if (leads) status = publish(next);
  NMB_TRY(ranks_.agree(slot_begun_ ? in_doubt(status) : status));
  NMB_ASSIGN(superblock_bytes_, ranks_.broadcast_value(0, superblock_bytes_));
  out_of_memory_ = out_of_memory;
  FirstFinding wrong;
  Superblock::decode(superblock_bytes_, next.trailer_position(), &next, wrong);
  return wrong.status(file_->name());
}

// A failure behind the slot leaves open which generation the file has: the status says so, on all
// ranks, as it is the one that they agree on.
Status Writer::Impl::in_doubt(const Status& status) const {
  // A file without a name goes.
  if (status.ok() || superblock_.generation == 0) return status;
  return status.with("generation " + std::to_string(new_generation()) +
                     " may be in the file all the same: see which one it has (nminspect) before "
                     "you write again");
}

// What cover and mark say, in one write.
Status Writer::Impl::write_cover_and_mark(const Superblock& of, std::span<const std::byte> bytes) {
  std::array<std::byte, kMarkPosition + kMarkSize> out;
  std::ranges::copy(of.cover(identity_), out.begin());
  std::ranges::copy(Superblock::mark_of(bytes).encode(), out.begin() + kMarkPosition);
  return file_->write_at(kCoverPosition, out);
}

// The trailer, the slot, and a new file's name.
Status Writer::Impl::publish(Superblock& next) {
  if (superblock_.generation > 0) NMB_TRY(file_->check_locked());
  const std::uint64_t trailer = round_up(cursor_, kSlotUnit);
  next.file_length = trailer + kSlotUnit;
  if (new_view_) next.hdf5 = new_view_->superblock(next.file_length);
  if (superblock_.generation > 0) {
    next.previous_trailer = {superblock_.trailer_position(), kSlotUnit, sum_of(superblock_bytes_)};
  }
  const auto bytes = next.encode();
  NMB_TRY(file_->truncate(next.file_length));
  NMB_TRY(file_->write_at(trailer, bytes));
  // A file without a name is of no use to anybody: one wait is enough for all of it.
  const bool waits_between = options_.sync && superblock_.generation > 0;
  if (waits_between) NMB_TRY(file_->sync());
  // The last look: a superblock that is being written is a commit.
  if (options_.cancel && options_.cancel->load())
    return Status(Code::kIo, file_->name(), kNoOffset, "", "interrupted; nothing was committed");
  slot_begun_ = true;
  NMB_TRY(file_->write_at(Superblock::slot_position(next.generation), bytes));
  if (waits_between) NMB_TRY(file_->sync());
  NMB_TRY(write_cover_and_mark(next, bytes));
  if (options_.sync) NMB_TRY(file_->sync());
  superblock_bytes_ = bytes;
  if (superblock_.generation > 0) return {};
  if (options_.before_publish && !options_.dry_run)
    NMB_TRY(options_.before_publish(OutputSource(*file_, next.file_length)));
  return file_->publish();
}

Status Writer::Impl::commit(bool closing) {
  const std::string operation = closing ? "close()" : "sync()";
  std::uint64_t open = 0;
  NMB_TRY(together(operation, [&]() -> Status {
    if (define_mode_)
      return Status(Code::kUsage,
                    "found " + operation + " in define mode, expected end_define() before");
    if (options_.dry_run && !closing)
      return Status(Code::kUsage, "found sync() in a dry run, expected close()");
    NMB_ASSIGN(open, ranks_.all_reduce<std::uint64_t>(requests_.size(), std::plus<>()));
    return open == 0 ? write_generation(closing) : Status();
  }));
  return check_none_open(open, operation);
}

Status Writer::Impl::write_generation(bool closing) {
  const bool first = superblock_.generation == 0;
  // What any rank has to do.
  struct Work {
    bool any, links, rows;
  };
  NMB_ASSIGN(
      const Work has,
      ranks_.all_reduce(
          Work{!dirty_.empty(),
               std::ranges::any_of(
                   dirty_,
                   [&](BlockId id) { return state(id).values.as<LinkedPieces>() != nullptr; }),
               std::ranges::any_of(dirty_, [&](BlockId id) { return state(id).keeps_rows(); })},
          [](Work a, Work b) {
            return Work{a.any || b.any, a.links || b.links, a.rows || b.rows};
          }));
  const bool with_view = closing && options_.hdf5_view != Hdf5View::kOff;
  if (!first && !has.any && (!with_view || view_is_newest(superblock_))) return {};
  auto in = [&](Phase phase, auto step) -> Status {
    const PhaseClock::Span span(clock_, phase);
    return step();
  };
  auto work = [&]() -> Status {
    const PhaseClock::Span commit(clock_, Phase::kCommit);
    NMB_TRY(in(Phase::kValues, [&] { return place_values(); }));
    // Everything that was put is in the file before anybody sums it.
    NMB_TRY(in(Phase::kValues, [&]() -> Status {
      NMB_TRY(ranks_.agree(buffer_.flush()));
      return collect_values();
    }));
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
    if (has.links) {
      NMB_TRY(sum_links(blocks));
      NMB_TRY(number_files(blocks));
    }
    NMB_TRY(in(Phase::kValues, [&] { return write_values(blocks); }));
    NMB_TRY(choose_growth(blocks, with_view));
    Superblock next = superblock_;
    next.generation = new_generation();
    next.next_order = next_order_;
    next.stamp = stamp_;
    index_bytes_ = 0;
    if (commit_.others) {
      const std::uint64_t maps = cursor_;
      NMB_TRY(in(Phase::kIndex, [&] { return write_maps(blocks); }));
      index_bytes_ = cursor_ - maps;
      NMB_TRY(in(Phase::kMetadata, [&]() -> Status {
        NMB_TRY(write_blocks(blocks));
        return write_tombstones();
      }));
      const std::uint64_t index = cursor_;
      NMB_TRY(in(Phase::kIndex, [&]() -> Status {
        NMB_TRY(write_index(blocks, next));
        return replace_growth(next);
      }));
      index_bytes_ += cursor_ - index;
      if (options_.statistics != StatisticsLevel::kNone || !superblock_.statistics.absent() ||
          has.rows)
        NMB_TRY(in(Phase::kIndex, [&] { return write_statistics(blocks, next); }));
    }
    if (has.rows) NMB_TRY(in(Phase::kIndex, [&] { return write_tags(blocks, next); }));
    const std::uint64_t file_table = cursor_;
    if (has.links) NMB_TRY(ranks_.agree(write_file_table(next)));
    index_bytes_ += cursor_ - file_table;
    NMB_TRY(with_view ? write_view(next) : tell_of_old_view());
    NMB_TRY(write_dead_map(blocks, next));
    NMB_TRY(write_superblock(next));
    superblock_ = next;
    new_view_.reset();
    cursor_ = kept_length_ = next.file_length;
    slot_begun_ = false;
    if (closing) return {};
    const std::string fate =
        "generation " + std::to_string(next.generation) + " is committed all the same";
    return ranks_.agree(settle(blocks).with(fate));
  };
  // A commit that stopped half-way has accounted for pages that are not there: nothing can follow
  // it.
  failure_ = work().in_file(file_->name());
  return failure_;
}

// Values to their places; what is behind the last of them is free space again.
Status Writer::Impl::write_values(std::vector<Commitment>& blocks) {
  const bool first = superblock_.generation == 0;
  std::uint64_t used = first ? kBodyStart : round_up(kept_length_, 8);
  if (first && !dictionary_.empty())
    used = superblock_.dictionary.position + block_length(0, dictionary_.size());
  kept_inline_ = 0;
  NMB_TRY(move_pending(blocks));
  auto finish = [&]() -> Status {
    for (Commitment& c : blocks) {
      NMB_TRY(finish_extent(c));
      const BlockState& block = state(c.id);
      if (c.rewritten) used = std::max(used, block_end(c.id));
      if (block.inline_run) used = std::max(used, block.run_position + block.extent_length);
      if (c.extent_position != 0) used = std::max(used, c.extent_position + block.extent_length);
      for (const Piece& piece : c.pieces)
        if (!piece.hole && piece.file == 0)
          used = std::max(used, piece.position + piece.stored_length());
    }
    // From here on ranks write in each other's gaps.
    return ranks_.size() > 1 ? buffer_.flush() : Status();
  };
  NMB_TRY(ranks_.agree(finish()));
  NMB_ASSIGN(used, ranks_.all_reduce(used, [](auto a, auto b) { return std::max(a, b); }));
  cursor_ = round_up(used, 8);
  return {};
}

// Pages of data maps, in the order in which the blocks were created. Their lengths depend a little
// on where they lie: ranks try with growing lengths until none changes.
Status Writer::Impl::write_maps(std::vector<Commitment>& blocks) {
  class Trial final : public PageSink {
   public:
    explicit Trial(std::uint64_t position) : position_(position) {}
    std::uint64_t next_position() const override { return position_; }
    Status append(std::span<const std::byte> page) override {
      position_ += page.size();
      return {};
    }
    void replaced(const Page&) override {}
    void dropped(const Place&) override {}

   private:
    std::uint64_t position_;
  };
  std::vector<Commitment*> mapped;
  for (Commitment& c : blocks)
    if (!c.grown &&
        (!c.pieces.empty() || (state(c.id).committed && state(c.id).committed->has_map())))
      mapped.push_back(&c);
  std::sort(mapped.begin(), mapped.end(), [&](const Commitment* a, const Commitment* b) {
    return state(a->id).order < state(b->id).order;
  });
  std::vector<OrderedRequest> parts;
  for (const Commitment* c : mapped) parts.push_back({state(c->id).order, 0});
  std::vector<std::uint64_t> positions(mapped.size(), cursor_);
  std::uint64_t end = cursor_;
  for (bool again = ranks_.size() > 1; again;) {
    bool changed = false;
    auto attempt = [&]() -> Status {
      for (std::size_t i = 0; i < mapped.size(); ++i) {
        Commitment copy = *mapped[i];
        Trial trial(positions[i]);
        NMB_TRY(write_map(copy, trial));
        const std::uint64_t length = trial.next_position() - positions[i];
        changed = changed || length != parts[i].length;
        parts[i].length = length;
      }
      return {};
    };
    NMB_TRY(ranks_.agree(attempt()));
    NMB_ASSIGN(again, ranks_.all_reduce(changed, std::logical_or<>()));
    if (again) {
      end = cursor_;
      NMB_ASSIGN(positions, take_ordered_space(ranks_, parts, &end));
    }
  }
  NMB_TRY(stripes_.in_rounds(mapped.size(), [&](std::size_t i) {
    if (ranks_.size() > 1) cursor_ = positions[i];
    return write_map(*mapped[i], *this);
  }));
  if (ranks_.size() > 1) cursor_ = end;
  return {};
}

Status Writer::Impl::write_blocks(std::vector<Commitment>& blocks) {
  std::vector<Commitment*> by_position;
  for (Commitment& c : blocks)
    if (c.rewritten) by_position.push_back(&c);
  std::sort(by_position.begin(), by_position.end(), [&](const Commitment* a, const Commitment* b) {
    return state(a->id).position < state(b->id).position;
  });
  const bool leads = ranks_.rank() == 0 && superblock_.generation == 0;
  return stripes_.in_rounds(by_position.size() + 1, [&](std::size_t i) {
    if (i == 0) return leads ? write_dictionary() : Status();
    return write_block(*by_position[i - 1]);
  });
}

Status Writer::Impl::write_tombstones() {
  if (superblock_.generation == 0) return {};
  std::vector<const BlockEntry*> gone;
  std::vector<OrderedRequest> parts;
  auto retire = [&]() -> Status {
    for (BlockId id : dirty_) {
      const BlockState& block = state(id);
      if (!block.committed || !(block.removed || block.renamed)) continue;
      const BlockEntry& entry = *block.committed;
      gone.push_back(&entry);
      parts.push_back({entry.order, block_length(entry.name.size(), 0)});
      if (!block.removed || !entry.has_map()) continue;
      NMB_TRY(retire_data_map(core_->map_of(entry), *this));
    }
    return {};
  };
  NMB_TRY(ranks_.agree(retire()));
  NMB_ASSIGN(const std::vector<std::uint64_t> positions,
             take_ordered_space(ranks_, parts, &cursor_));
  return stripes_.in_rounds(gone.size(),
                            [&](std::size_t i) { return write_tombstone(*gone[i], positions[i]); });
}

Result<FilePlan> Writer::Impl::planned() const {
  if (!options_.dry_run || superblock_.generation == 0)
    return Status(Code::kUsage, "found planned(), expected it after close() of a dry run only");
  FilePlan plan;
  plan.file_length = superblock_.file_length;
  plan.index_bytes = index_bytes_;
  plan.totals = superblock_.totals;
  if (ranks_.rank() == 0 && !dictionary_.empty())
    plan.metadata_bytes = block_length(0, dictionary_.size());
  for (BlockId id = 0; id < blocks_.size(); ++id) {
    const BlockState& block = *blocks_[id];
    if (block.kept && !block.removed)
      plan.metadata_bytes += block_length(names_.at(id).size(), block.stored_length);
  }
  return plan;
}

void Writer::Impl::shut() {
  core_.reset();
  source_.reset();
  file_.reset();
  failure_ = Status(Code::kUsage, "found a call after close(), expected none");
}

// The new generation becomes the state that later changes start from.
Status Writer::Impl::settle(std::vector<Commitment>& blocks) {
  for (Commitment& c : blocks) {
    BlockState& block = state(c.id);
    if (c.grown) {
      BlockEntry& entry = *block.committed;
      entry.growth += block.extent_length - entry.extent_length;
      entry.grown_records += block.records - entry.records;
      entry.extent_length = block.extent_length;
      entry.records = block.records;
    } else {
      block.committed = std::make_unique<BlockEntry>(entry_of(c));
    }
    block.values.committed();
    block.body_from = BodyFrom::kCommitted;
    block.known_at = superblock_.generation;
    block.run_position = 0;
    block.inline_run = false;
    block.retained = BlockState::kNotRetained;
    block.sharing.reset();
    block.packed.reset();
    block.own_body.reset();
    block.dirty = block.renamed = block.header_dead = false;
  }
  for (BlockId id : dirty_)
    state(id).committed = state(id).removed ? nullptr : std::move(state(id).committed);
  dirty_.clear();
  dead_.clear();
  staying_growth_.clear();
  name_slices_ = {};
  owned_names_.clear();
  names_move_ = false;
  removed_names_.clear();
  retained_.clear();
  by_name_.clear();
  // All ranks know what the head says: none reads it.
  Head head;
  head.superblock = superblock_;
  head.superblock_bytes = superblock_bytes_;
  head.position = superblock_.trailer_position();
  head.dictionary = dictionary_;
  auto source = std::make_unique<OutputSource>(*file_, superblock_.file_length);
  auto core = std::make_unique<ReaderCore>(*source, std::move(head));
  if (core_) core->continue_from(*core_);
  core_ = std::move(core);
  source_ = std::move(source);
  return {};
}

}  // namespace nmb
