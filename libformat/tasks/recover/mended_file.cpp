#include "recover/mended_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "extent/data_map.h"
#include "extent/file_table.h"
#include "index/index_build.h"
#include "parallel/communicator.h"
#include "sources/value_source.h"
#include "superblock/head_reading.h"
#include "superblock/settled_head.h"
#include "table/table_build.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"

namespace nmb {

namespace {

class PlannedEntries final : public IndexChanges {
 public:
  explicit PlannedEntries(const std::vector<RecoveredEntry>& blocks) {
    for (const RecoveredEntry& block : blocks)
      if (block.found.state != FoundBlock::State::kLeftOut) entries_.push_back(&block.entry);
  }
  std::size_t count() const override { return entries_.size(); }
  std::string_view name(std::size_t i) const override { return entries_[i]->name; }
  std::optional<BlockEntry> entry(std::size_t i) const override { return *entries_[i]; }

 private:
  std::vector<const BlockEntry*> entries_;
};

// Appends new structures to the tail.
class Tail final : public PageSink {
 public:
  Tail(std::uint64_t begin, std::vector<std::byte>& bytes) : begin_(begin), bytes_(bytes) {}
  std::uint64_t next_position() const override { return begin_ + bytes_.size(); }
  Status append(std::span<const std::byte> page) override {
    bytes_.insert(bytes_.end(), page.begin(), page.end());
    return {};
  }
  void replaced(const Page&) override {}
  void dropped(const Place&) override {}
  WritePages writer() {
    return [this](std::uint64_t, std::span<const std::byte> pages) { return append(pages); };
  }
  // Appends a superblock as the trailer of its generation. Returns the place of the trailer.
  Place append_trailer(Superblock* superblock) {
    const std::uint64_t at = round_up(next_position(), kSlotUnit);
    superblock->file_length = at + kSlotUnit;
    const auto trailer = superblock->encode();
    bytes_.resize(at - begin_);
    bytes_.insert(bytes_.end(), trailer.begin(), trailer.end());
    return {at, kSlotUnit, sum_of(trailer)};
  }

 private:
  const std::uint64_t begin_;
  std::vector<std::byte>& bytes_;
};

}  // namespace

Result<std::shared_ptr<const ByteSource>> mend_file(std::shared_ptr<const ByteSource> base,
                                                    const Evidence& evidence,
                                                    std::vector<RecoveredEntry>& blocks,
                                                    const MendedParts& parts) {
  const std::uint64_t tail_begin =
      round_up(std::max(base->size(), std::uint64_t{kBodyStart}), kSlotUnit);
  std::vector<std::byte> tail_bytes;
  Tail tail(tail_begin, tail_bytes);
  Superblock newest = evidence.reading;
  // An empty generation comes before the new one, because the other slot must have a generation.
  Superblock before;
  before.generation = newest.generation - 1;
  before.file_id = newest.file_id;
  before.piece_size = newest.piece_size;
  newest.previous_trailer = tail.append_trailer(&before);

  for (RecoveredEntry& block : blocks) {
    if (block.pieces.empty() || block.found.state == FoundBlock::State::kLeftOut) continue;
    NMB_ASSIGN(block.entry.map, write_data_map(block.pieces, nullptr, newest.map_rows, tail,
                                               newest.origin(), block.entry.position));
  }
  if (!parts.damaged_originals.empty()) {
    NMB_ASSIGN(const std::shared_ptr<const FileTable> table, read_file_table(*base, newest));
    std::vector<ExternalFile> rows;
    std::map<std::size_t, Place> maps;
    for (std::uint32_t row = 0; row < table->rows(); ++row) {
      rows.push_back(table->row(row));
      if (const Place map = table->map(row); !map.absent()) maps[row] = map;
    }
    for (const std::uint32_t row : parts.damaged_originals) rows[row].order = newest.next_order - 1;
    std::vector<std::byte> bytes;
    NMB_ASSIGN(newest.file_table,
               write_page(tail, file_table_page(rows, 0, maps), newest.origin(), 0, &bytes));
    newest.file_table.sum = sum_of(bytes);
  }
  Communicator alone;
  if (!newest.statistics.absent() && !parts.without_statistics.empty()) {
    TableRows rows;
    Place old = newest.statistics;
    std::array<std::byte, 8> sum{};
    if (old.position <= base->size() && base->size() - old.position >= kPageHeaderSize)
      NMB_TRY(base->read_at(old.position + kPageSumOffset, sum));
    old.sum = load_le<std::uint64_t>(sum.data());
    rows.add(TableRow::before());
    for (const std::uint64_t order : parts.without_statistics) rows.add(TableRow::gone(order));
    NMB_ASSIGN(const BuiltTable table,
               build_table(alone, std::move(rows), old, PageUse::kStatistics, tail.next_position(),
                           tail.writer(), newest.origin()));
    newest.statistics = table.place;
  }
  NMB_ASSIGN(const BuiltIndex index,
             build_index(alone, PlannedEntries(blocks), {newest.leaf_rows, newest.node_rows},
                         tail.next_position(), tail.writer(), newest.origin()));
  newest.root_position = index.root.position;
  newest.root_length = index.root.length;
  newest.height = index.root.height;
  newest.root_digest = index.root.digest;
  newest.totals = index.root.totals;
  newest.needs = index.root.needs;

  FoundSuperblock found;
  found.position = tail.append_trailer(&newest).position;
  const auto slot = newest.encode();
  found.bytes.assign(slot.begin(), slot.end());
  found.fields = newest;
  const Source file = patched(std::move(base), tail_begin, {}, std::move(tail_bytes));
  HeadReading reading;
  reading.bytes.resize(kBodyStart);
  reading.size = file->size();
  reading.file_id = newest.file_id;
  reading.slots[newest.generation % 2].superblock.position =
      Superblock::slot_position(before.generation);
  NMB_ASSIGN(std::vector<std::byte> head, settled_head(*file, reading, found));
  head.insert(head.end(), evidence.dictionary.begin(), evidence.dictionary.end());
  head.resize(kBodyStart);
  return patched(file, file->size(), std::move(head), {});
}

}  // namespace nmb
