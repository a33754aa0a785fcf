#include "recover/evidence.h"

#include <algorithm>
#include <utility>

#include "extent/file_table.h"
#include "superblock/head_reading.h"
#include "wire/hash.h"

namespace nmb {

namespace {

// If no superblock is left, the piece size of the file is not known. Longer pieces are refused, so
// that a damaged length cannot take much memory.
constexpr std::uint32_t kMostAssumedPiece = 64 << 20;

class Weighing {
 public:
  Weighing(const ByteSource& file, Scan scan) : file_(file), scan_(std::move(scan)) {}

  Result<Evidence> run() {
    NMB_TRY(choose_file_id());
    choose_newest_generation();
    drop_foreign();
    if (evidence_.newest)
      if (std::string names = unsupported_features(evidence_.newest->incompatible); !names.empty())
        return Status(Code::kUnsupported, file_.name(), kNoOffset, "R-SB-6",
                      "the file uses " + names + ", which this version does not read");
    NMB_TRY(make_reading());
    NMB_TRY(find_dictionary());
    NMB_TRY(find_file_table());
    std::erase_if(scan_.blocks,
                  [](const ScannedHeader& block) { return block.header.kind == kKindDictionary; });
    evidence_.blocks = std::move(scan_.blocks);
    evidence_.pages = std::move(scan_.pages);
    return std::move(evidence_);
  }

 private:
  Status choose_file_id() {
    Result<HeadReading> head = HeadReading::take(file_);
    const Code code = head.status().code();
    if (code == Code::kUnsupported || code == Code::kIo) return head.status();
    if (head.ok()) head_ = std::move(*head);
    if (head_.file_id) {
      evidence_.file_id = *head_.file_id;
      return {};
    }
    const auto newest = std::ranges::max_element(scan_.superblocks, {}, [](const auto& found) {
      return std::pair(found.fields.generation, found.position);
    });
    if (newest != scan_.superblocks.end()) {
      evidence_.file_id = newest->fields.file_id;
      return {};
    }
    std::map<Digest, std::uint64_t> counts;
    for (const ScannedHeader& block : scan_.blocks) ++counts[block.header.origin.file_id];
    if (counts.empty())
      return Status(code == Code::kUnknownKind ? code : Code::kDamaged, file_.name(), kNoOffset, "",
                    "found no block and no superblock of an NMB file");
    // If several ids have equal counts, the greatest id is taken.
    evidence_.file_id = std::ranges::max_element(counts, {}, [](const auto& one) {
                          return std::pair(one.second, one.first);
                        })->first;
    return {};
  }

  void choose_newest_generation() {
    for (const ScannedSuperblock& found : scan_.superblocks) {
      if (found.fields.file_id != evidence_.file_id) continue;
      stamps_.emplace(found.fields.generation, found.fields.stamp);
      if (!evidence_.newest || found.fields.generation > evidence_.newest->generation)
        evidence_.newest = found.fields;
    }
    if (evidence_.newest) evidence_.generation = evidence_.newest->generation;
    if (head_.mark)
      evidence_.generation = std::max(evidence_.generation, head_.mark->generation);
    else if (evidence_.newest)
      evidence_.may_be_later =
          file_.size() > evidence_.newest->file_length && !has_slots_of(*evidence_.newest);
  }

  // Returns whether one slot has the newest generation and the other slot the generation before it.
  // A later commit would have overwritten one of them.
  bool has_slots_of(const Superblock& newest) const {
    const std::uint64_t generation = newest.generation;
    const SlotReading& own = head_.slots[(generation - 1) % 2];
    const SlotReading& other = head_.slots[generation % 2];
    if (!own.valid || own.superblock.fields.generation != generation) return false;
    return generation == 1 ? other.zero
                           : other.valid && other.superblock.fields.generation == generation - 1;
  }

  bool is_foreign(const Origin& origin) const {
    if (origin.file_id != evidence_.file_id) return true;
    if (evidence_.generation != 0 && !evidence_.may_be_later &&
        origin.generation > evidence_.generation)
      return true;
    const auto stamp = stamps_.find(origin.generation);
    return stamp != stamps_.end() && stamp->second != origin.stamp;
  }

  // Leaves out structures of other files, of generations that were not committed, and of abandoned
  // ranges. Also leaves out structures that begin inside another structure.
  void drop_foreign() {
    std::erase_if(scan_.blocks, [&](const auto& block) { return is_foreign(block.header.origin); });
    std::erase_if(scan_.pages, [&](const auto& page) { return is_foreign(page.origin); });
    std::vector<ByteRange> covered;
    for (const PageHeader& page : scan_.pages)
      if (page.use == PageUse::kDead) add_abandoned(page, &covered);
    for (const PageHeader& page : scan_.pages)
      covered.push_back({page.position, page.position + page.length});
    for (const ScannedHeader& block : scan_.blocks) {
      const std::uint64_t at = block.header.position;
      covered.push_back({at, at + block_body_offset(block.name.size())});
    }
    std::ranges::sort(covered, {}, [](const ByteRange& r) { return std::pair(r.begin, ~r.end); });
    // Keeps the outermost ranges only. Sorted by their beginnings, they do not overlap.
    std::vector<ByteRange> outer;
    for (const ByteRange& range : covered)
      if (outer.empty() || range.begin >= outer.back().end) outer.push_back(range);
    const auto is_inner = [&](std::uint64_t begin, std::uint64_t end) {
      auto at = std::ranges::upper_bound(outer, begin, {}, &ByteRange::begin);
      return at != outer.begin() && *--at != ByteRange{begin, end} && begin < at->end;
    };
    std::erase_if(scan_.blocks, [&](const ScannedHeader& block) {
      const std::uint64_t at = block.header.position;
      return is_inner(at, at + block_body_offset(block.name.size()));
    });
    std::erase_if(scan_.pages, [&](const PageHeader& page) {
      return is_inner(page.position, page.position + page.length);
    });
  }

  void add_abandoned(const PageHeader& header, std::vector<ByteRange>* ranges) const {
    const Result<std::shared_ptr<const Page>> page = read_page(file_, header.expectation());
    if (!page.ok()) return;
    for (std::uint32_t row = 0; row < (*page)->rows(); ++row) {
      const std::uint64_t begin = (*page)->value(row, kPosition);
      const std::uint64_t length = (*page)->value(row, kStoredLength);
      // A writer writes this page after the abandoned ranges that the page lists.
      if ((*page)->value(row, kState) == kStateAbandoned && begin < header.position &&
          length <= header.position - begin)
        ranges->push_back({begin, begin + length});
    }
  }

  Status make_reading() {
    Superblock& reading = evidence_.reading;
    std::uint64_t generation = evidence_.generation, order = 0;
    for (const ScannedHeader& block : scan_.blocks) {
      generation = std::max(generation, block.header.origin.generation);
      order = std::max(order, block.header.order);
    }
    for (const PageHeader& page : scan_.pages)
      generation = std::max(generation, page.origin.generation);
    if (evidence_.newest) {
      const Superblock& newest = *evidence_.newest;
      order = std::max(order, newest.next_order);
      reading = newest;
      reading.later_places.clear();
    } else {
      reading.piece_size = kMostAssumedPiece;
      reading.inline_limit = kMaxInline;
      reading.leaf_rows = reading.node_rows = reading.map_rows = kMaxPageRows;
      reading.readonly_compatible = kFeatureStatistics | kFeatureTags;
      reading.compatible = kFeatureOriginals;
    }
    // The new file adds two generations (recover/mended_file.h).
    constexpr std::uint64_t kMost = ~std::uint64_t{0} >> 1;
    if (generation > kMost || order > kMost)
      return Status(Code::kLimit, file_.name(), kNoOffset, "",
                    "the generation or the order of a block is too large");
    reading.file_id = evidence_.file_id;
    reading.generation = generation + 2;
    reading.file_length = file_.size();
    reading.stamp = 0;
    reading.next_order = order + 2;
    reading.root_position = reading.root_length = reading.height = 0;
    reading.root_digest = {};
    reading.totals = {};
    reading.previous_trailer = reading.dead_map = reading.growth = reading.view = {};
    reading.readonly_compatible &= ~(kFeatureView | kFeatureGrowth);
    reading.hdf5 = {};
    reading.index_position = reading.index_length = 0;
    reading.dictionary = reading.file_table = {};
    return {};
  }

  Status find_dictionary() {
    const bool is_known = evidence_.newest.has_value();
    if (is_known && evidence_.newest->dictionary.absent()) return {};
    const Place place = is_known ? evidence_.newest->dictionary : Place{};
    const auto take = [&](std::span<const std::byte> bytes) {
      evidence_.dictionary.assign(bytes.begin(), bytes.end());
      // Readers look for the dictionary at its fixed place first, so the position of its block does
      // not matter.
      evidence_.reading.dictionary = {kBodyStart, bytes.size(), sum_of(bytes)};
    };
    if (is_known && place.length <= kMaxDictionary && head_.bytes.size() == kBodyStart) {
      const auto bytes = std::span(head_.bytes).subspan(kDictionaryPosition, place.length);
      if (sum_of(bytes) == place.sum) return take(bytes), Status();
    }
    for (const ScannedHeader& block : scan_.blocks) {
      const BlockHeader& header = block.header;
      if (header.kind != kKindDictionary || header.codec != 0 || !block.name.empty() ||
          header.stored_length > kMaxDictionary)
        continue;
      const std::uint64_t body = header.position + block_body_offset(0);
      if (body > file_.size() || header.stored_length > file_.size() - body) continue;
      std::vector<std::byte> bytes(header.stored_length);
      NMB_TRY(file_.read_at(body, bytes));
      if (digest_of(bytes) != header.digest || (is_known && sum_of(bytes) != place.sum)) continue;
      return take(bytes), Status();
    }
    return {};
  }

  // The rows of a file table are numbered from its oldest page. So a table counts only if all its
  // pages can be read. If the newest table is lost, an older one has the first rows.
  Status find_file_table() {
    const auto take = [&](const Place& place) -> Result<bool> {
      Superblock with_table = evidence_.reading;
      with_table.file_table = place;
      const auto table = read_file_table(file_, with_table);
      if (table.status().code() == Code::kIo) return table.status();
      if (table.ok()) evidence_.reading.file_table = place;
      return table.ok();
    };
    if (evidence_.newest) {
      NMB_ASSIGN(const bool is_taken, take(evidence_.newest->file_table));
      if (is_taken && evidence_.current()) return {};
    }
    const PageHeader* last = nullptr;
    for (const PageHeader& page : scan_.pages)
      if (page.use == PageUse::kFileTable &&
          (!last || std::pair(last->origin.generation, last->position) <
                        std::pair(page.origin.generation, page.position)))
        last = &page;
    if (!last) return {};
    std::vector<std::byte> bytes(last->length);
    NMB_TRY(file_.read_at(last->position, bytes));
    return take({last->position, last->length, sum_of(bytes)}).status();
  }

  const ByteSource& file_;
  Scan scan_;
  HeadReading head_;  // empty if the head is cut off or shows no NMB file
  std::map<std::uint64_t, std::uint64_t> stamps_;  // stamps of generations with a superblock
  Evidence evidence_;
};

}  // namespace

std::vector<const PageHeader*> Evidence::pages_of(PageUse use) const {
  std::vector<const PageHeader*> found;
  for (const PageHeader& page : pages)
    if (page.use == use) found.push_back(&page);
  return found;
}

Result<Evidence> weigh_evidence(const ByteSource& file, Scan scan) {
  return Weighing(file, std::move(scan)).run();
}

}  // namespace nmb
