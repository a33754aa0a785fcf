// Commits: writes blocks and tombstones (spec/format.md, section 8).
#include <algorithm>
#include <utility>

#include "state/bodies.h"
#include "state/commit_steps.h"
#include "state/ordered_space.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

std::uint64_t block_space(const WriterCore& w, BlockId id) {
  const BlockState& block = w.blocks[id];
  return block_length(w.blocks.name(id).size(), block.next.stored_length) + block.map_space;
}

std::uint64_t block_end(const WriterCore& w, BlockId id) {
  return w.blocks[id].next.position + block_space(w, id);
}

namespace {

Status write_block(WriterCore& w, BlockCommit& c) {
  BlockState& block = w.blocks[c.id];
  const std::string_view name = w.blocks.name(c.id);
  std::vector<std::byte> inline_bytes;
  if (w.blocks[c.id].inline_run && block.next.extent_length > 0 &&
      (c.hole || c.extent_position == block.run_position)) {
    inline_bytes = std::move(c.inline_values);
    if (inline_bytes.empty()) {
      // A hole gets as many zero bytes as end_define() has reserved for it. The extent may have
      // become longer since end_define().
      const std::uint64_t length = c.hole ? block.run_length : block.next.extent_length;
      inline_bytes.resize(round_up(length, 8));
      const auto values = std::span(inline_bytes).first(length);
      const Move* const move = block.values.move();
      if (move && !w.options.dry_run) {
        NMB_TRY(read_moved(*move, 0, values));
        if (sum_of(values) != c.extent_sum)
          return Status(Code::kDamaged, w.file->name(), kNoOffset, "",
                        joined_text("block \"", name,
                                    "\": its values changed while they were "
                                    "read"));
      } else if (!c.hole && !w.options.dry_run) {
        NMB_TRY(w.file->read_at(block.run_position, values));
      }
    }
  }
  BlockHeader header;
  header.kind = static_cast<std::uint16_t>(block.next.kind);
  header.codec = static_cast<std::uint8_t>(block.next.codec);
  header.flags = c.hole ? kFlagHole : c.map.absent() ? 0 : kFlagMap;
  header.origin = w.new_origin();
  header.position = block.next.position;
  header.stored_length = block.next.stored_length;
  header.raw_length = block.next.raw_length;
  header.extent_position = c.extent_position;
  header.extent_length = block.next.extent_length;
  header.extent_sum = c.extent_sum;
  header.records = block.next.records;
  header.samples = block.next.samples;
  header.order = block.next.order;
  header.digest = block.next.digest;
  header.body_sum = block.next.body_sum;
  std::vector<std::byte> bytes(block_body_offset(name.size()));
  header.encode(name, bytes);
  c.header_sum = keeps_metadata(w.options, w.ranks.communicator()) ? header.sum : kWidestSum;
  NMB_TRY(w.stripes.write_at(block.next.position, bytes));
  std::uint64_t at = block.next.position + bytes.size();
  if (block.retained != BlockState::kNotRetained) {
    auto stored = w.retained.span().subspan(block.retained, block.next.stored_length);
    NMB_TRY(w.stripes.write_at(at, stored));
  } else if (block.next.raw_length > Bodies::kStreamBody) {
    DigestStream digest;
    std::uint64_t to = at;
    NMB_TRY(Bodies::for_body(block, [&](std::span<const std::byte> part) -> Status {
      digest.add(part);
      NMB_TRY(w.stripes.write_at(to, part));
      to += part.size();
      return {};
    }));
    if (digest.digest() != block.next.digest)
      return Status(Code::kDamaged, w.file->name(), kNoOffset, "",
                    joined_text("block \"", name, "\": its header changed while it was read"));
  } else {
    std::vector<std::byte> raw, stored;
    BodyCodec codec;
    NMB_TRY(Bodies(w).encode_stored(block, &raw, &stored, &codec));
    if (digest_of(raw) != block.next.digest || stored.size() != block.next.stored_length)
      return Status(Code::kDamaged, w.file->name(), kNoOffset, "",
                    joined_text("block \"", name, "\": its header changed while it was read"));
    NMB_TRY(w.stripes.write_at(at, stored));
  }
  at += block.next.stored_length;
  constexpr std::byte zeros[8]{};
  NMB_TRY(w.stripes.write_at(at, std::span(zeros).first(round_up(at, 8) - at)));
  at = round_up(at, 8);
  const std::uint64_t end = block_end(w, c.id);
  c.map_pages.resize(end - at);
  NMB_TRY(w.stripes.write_at(at, c.map_pages));
  c.map_pages = {};
  return inline_bytes.empty() ? Status() : w.stripes.write_at(end, inline_bytes);
}

Status write_dictionary(WriterCore& w) {
  if (w.committed.dictionary.empty()) return {};
  const std::uint64_t position = w.committed.superblock.dictionary.position;
  std::vector<std::byte> bytes(block_length(0, w.committed.dictionary.size()));
  std::ranges::copy(w.committed.dictionary, bytes.begin() + kBlockHeaderSize);
  BlockHeader header;
  header.kind = kKindDictionary;
  header.origin = w.new_origin();
  header.position = position;
  header.stored_length = header.raw_length = w.committed.dictionary.size();
  header.digest = digest_of(w.committed.dictionary);
  header.body_sum = sum_of(std::span(bytes).subspan(kBlockHeaderSize));
  header.encode("", std::span(bytes).first(kBlockHeaderSize));
  NMB_TRY(w.stripes.write_at(kDictionaryPosition, w.committed.dictionary));
  return w.stripes.write_at(position, bytes);
}

Status write_tombstone(WriterCore& w, const BlockEntry& entry, std::uint64_t position) {
  BlockHeader header;
  header.kind = entry.kind;
  header.flags = kFlagTombstone;
  header.origin = w.new_origin();
  header.position = position;
  header.order = entry.order;
  std::vector<std::byte> bytes(block_length(entry.name.size(), 0));
  header.encode(entry.name, bytes);
  w.next.dead.push_back({position, bytes.size(), sum_of(bytes), true});
  return w.stripes.write_at(position, bytes);
}

}  // namespace

Status write_blocks(WriterCore& w, std::vector<BlockCommit>& blocks) {
  std::vector<BlockCommit*> by_position;
  for (BlockCommit& c : blocks)
    if (c.rewritten) by_position.push_back(&c);
  std::ranges::sort(by_position, {},
                    [&](const BlockCommit* c) { return w.blocks[c->id].next.position; });
  const bool leads = w.ranks.is_first() && w.committed.superblock.generation == 0;
  return w.stripes.in_rounds(by_position.size() + 1, [&](std::size_t i) {
    if (i == 0) return leads ? write_dictionary(w) : Status();
    return write_block(w, *by_position[i - 1]);
  });
}

Status write_tombstones(WriterCore& w) {
  if (w.committed.superblock.generation == 0) return {};
  std::vector<const BlockEntry*> gone;
  std::vector<OrderedRequest> parts;
  auto retire = [&]() -> Status {
    for (BlockId id : w.blocks.dirty) {
      const BlockState& block = w.blocks[id];
      if (!block.committed || !(block.is_removed() || block.is_renamed())) continue;
      const BlockEntry& entry = *block.committed;
      gone.push_back(&entry);
      parts.push_back({entry.order, block_length(entry.name.size(), 0)});
      if (!block.is_removed() || !entry.has_map()) continue;
      NMB_TRY(retire_data_map(w.committed.reader->map_of(entry), w.next));
    }
    return {};
  };
  NMB_TRY(w.ranks.agree(retire()));
  NMB_ASSIGN(const std::vector<std::uint64_t> positions,
             take_ordered_space(w.ranks.communicator(), parts, &w.next.cursor));
  return w.stripes.in_rounds(
      gone.size(), [&](std::size_t i) { return write_tombstone(w, *gone[i], positions[i]); });
}

}  // namespace nmb
