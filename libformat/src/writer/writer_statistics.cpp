// Commits: statistics of the values of blocks (spec/format.md, section 9.2). Those of values that
// are moved are counted by the way; other values are read again.
#include <algorithm>
#include <atomic>

#include "extent/piece_codec.h"
#include "parallel/workers.h"
#include "statistics/block_counter.h"
#include "statistics/statistics_section.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "writer/statistics_tap.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

// Pieces as they are stored, here or elsewhere: StoredPiece or LinkedPiece.
template <class Pieces>
Status count_pieces(const Pieces& pieces, const ByteSource& source, unsigned threads,
                    BlockCounter* counter) {
  std::vector<std::uint64_t> begins;
  std::uint64_t end = 0;
  for (const StoredPiece& piece : pieces) {
    begins.push_back(end);
    end += piece.length;
  }
  std::atomic<std::size_t> next{0};
  return share_work(std::min<std::size_t>(threads, begins.size()),
                    [&](const std::atomic<bool>& stop) -> Status {
                      std::vector<std::byte> bytes, values;
                      for (std::size_t i; !stop && (i = next++) < begins.size();) {
                        const StoredPiece& piece = pieces[i];
                        if (piece.stored_length == 0) {
                          counter->add_hole(begins[i], begins[i] + piece.length);
                          continue;
                        }
                        bytes.resize(piece.stored_length);
                        NMB_TRY(source.read_at(piece.source_offset, bytes));
                        if (piece.codec == PieceCodec::kNone) {
                          counter->add(begins[i], bytes);
                          continue;
                        }
                        values.resize(piece.length);
                        NMB_TRY(decode_piece(piece.codec, bytes, values));
                        counter->add(begins[i], values);
                      }
                      return {};
                    });
}

}  // namespace

Result<std::unique_ptr<BlockCounter>> Writer::Impl::counter_of(BlockId id) {
  const BlockState& block = state(id);
  if (block.metadata && !block.partial)
    return BlockCounter::make(*block.metadata, block.layout, block.records, options_.statistics);
  NMB_ASSIGN(const ClassicHeader header, stored_header(id));
  return BlockCounter::make(header.metadata, header.layout, block.records, options_.statistics);
}

// Ahead of moving the values of a block.
void Writer::Impl::tap_values(BlockId id) {
  BlockState& block = state(id);
  // What moves of the others is not their extent.
  if (options_.statistics == StatisticsLevel::kNone || block.stored || block.linked) return;
  Move& move = *block.move;
  block.tap = std::make_unique<StatisticsTap>([this, id] { return counter_of(id); },
                                              move.stored_length(), move.holes);
  move.tap = block.tap.get();
  move.origin.clear();  // what another rank moves is not seen here
}

// The values of a block that were put, or are those of the generation before.
Status Writer::Impl::count_extent(BlockId id, BlockCounter* counter) {
  constexpr std::uint64_t kWindow = 1 << 20;
  NMB_ASSIGN(ExtentState * extent, extent_of(id));
  const BlockState& block = state(id);
  std::uint64_t at = 0;
  std::vector<std::byte> bytes;
  // What is between the values that are there is filled, or a hole.
  const Metadata none;
  const FillPattern no_pattern(none, {});
  for (const Interval& part : extent->stored_in(0, block.extent_length)) {
    counter->add_hole(at, part.begin);
    for (at = part.begin; at < part.end; at += bytes.size()) {
      bytes.resize(std::min(part.end - at, kWindow - at % kWindow));
      NMB_TRY(extent->read(at, bytes, buffer_, no_pattern));
      counter->add(at, bytes);
    }
  }
  counter->add_hole(at, block.extent_length);
  return {};
}

// The values of a block that this process alone reads, and one thread.
std::shared_ptr<const ByteSource> Writer::Impl::extent_source(BlockId id) {
  class Values final : public ByteSource {
   public:
    Values(Impl& writer, BlockId id, std::uint64_t size)
        : writer_(writer), id_(id), size_(size), pattern_(none_, {}) {}
    std::uint64_t size() const override { return size_; }
    const std::string& name() const override { return writer_.file_->name(); }
    Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
      NMB_ASSIGN(ExtentState * extent, writer_.extent_of(id_));
      return extent->read(offset, out, writer_.buffer_, pattern_);
    }

   private:
    Impl& writer_;
    const BlockId id_;
    const std::uint64_t size_;
    const Metadata none_;
    const FillPattern pattern_;
  };
  return std::make_shared<Values>(*this, id, state(id).extent_length);
}

// The sections of a block, their state not set; none: it keeps those that it has, or gets none.
Result<std::vector<std::byte>> Writer::Impl::count_block(Commitment& c) {
  BlockState& block = state(c.id);
  c.statistics = {};
  if (block.committed && !block.committed->statistics.absent()) {
    const Place& before = block.committed->statistics;
    if (statistics_state(*block.committed) == statistics_state(entry_of(c))) {
      c.statistics = before;
      return std::vector<std::byte>();
    }
    dead_.push_back(
        {before.position, round_up(before.length, 8), before.sum, before.length % 8 == 0});
  }
  if (options_.statistics == StatisticsLevel::kNone) return std::vector<std::byte>();
  const auto encode = [&](const BlockStatistics& statistics) {
    without_statistics_ += statistics.not_computed();
    return encode_statistics(statistics, 0);
  };
  std::unique_ptr<BlockCounter> counter;
  if (block.tap) {
    counter = block.tap->take_counter();
    if (!counter) {
      without_statistics_ += block.tap->not_computed();
      return block.tap->take_sections();
    }
  } else {
    NMB_ASSIGN(counter, counter_of(c.id));
    if (c.hole)
      counter->add_hole(0, block.extent_length);
    else if (block.stored)
      NMB_TRY(count_pieces(block.stored->pieces, *block.stored->source, options_.threads,
                           counter.get()));
    else if (block.linked)
      NMB_TRY(count_pieces(block.linked->values.pieces, *block.linked->values.source,
                           options_.threads, counter.get()));
    else if (block.extent_length > 0) {
      const Status counted = count_extent(c.id, counter.get());
      // Values that were linked before are not read again.
      if (counted.code() == Code::kUnsupported) return encode(counter->none());
      NMB_TRY(counted);
    }
  }
  if (counter->has_chunks()) {
    const bool is_packed = block.packed && block.packed->extent;
    NMB_TRY(counter->count_chunks(is_packed ? block.packed->extent : extent_source(c.id),
                                  is_packed ? options_.threads : 1));
  }
  NMB_ASSIGN(const BlockStatistics statistics, counter->finish());
  return encode(statistics);
}

// Behind all else that an entry tells of, as statistics say what they are of. In the order in which
// the blocks were created. Collective.
Status Writer::Impl::write_statistics(std::vector<Commitment>& blocks) {
  std::vector<std::vector<std::byte>> all(blocks.size());
  std::vector<std::size_t> counted;
  std::vector<Ordered> parts;
  auto count = [&]() -> Status {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      NMB_ASSIGN(all[i], count_block(blocks[i]));
      if (all[i].empty()) continue;
      set_statistics_state(all[i], statistics_state(entry_of(blocks[i])));
      counted.push_back(i);
      parts.push_back({state(blocks[i].id).order, all[i].size()});
    }
    return {};
  };
  // Without options there is nothing to count, which cannot fail.
  if (options_.statistics == StatisticsLevel::kNone) return count();
  NMB_TRY(ranks_.agree(count()));
  NMB_ASSIGN(const std::vector<std::uint64_t> positions, place_in_order(parts, &cursor_));
  return stripes_.in_rounds(counted.size(), [&](std::size_t i) {
    const std::vector<std::byte>& sections = all[counted[i]];
    blocks[counted[i]].statistics = {positions[i], sections.size(), sum_of(sections)};
    return stripes_.write_at(positions[i], sections);
  });
}

}  // namespace nmb
