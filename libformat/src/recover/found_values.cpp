// Finds pieces of values and checks their sums (see recover/found_values.h).
#include "recover/found_values.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "format/extent/needs.h"
#include "format/extent/piece_codec.h"
#include "format/superblock/page_chain.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

Result<ValuePages> ValuePages::find(const ReaderCore& core, const Evidence& evidence) {
  ValuePages pages(core);
  for (const PageHeader* header : evidence.pages_of(PageUse::kDataMap))
    pages.maps_[header->owner].push_back(header);
  NMB_TRY(pages.read_growth(evidence));
  return pages;
}

Status ValuePages::read_growth(const Evidence& evidence) {
  std::vector<std::shared_ptr<const Page>> pages;
  bool has_chain = false;
  if (const Superblock* const current = evidence.current()) {
    auto chain = read_page_chain(core_->file(), *current, PageUse::kGrowth, current->growth,
                                 kMaxGrowthPages);
    if (chain.status().code() == Code::kIo) return chain.status();
    has_chain = chain.ok();
    if (chain.ok()) pages = std::move(*chain);
    has_whole_growth_ = has_chain;
  }
  if (!has_chain) {
    for (const PageHeader* header : evidence.pages_of(PageUse::kGrowth)) {
      auto page = read_page(core_->file(), header->expectation());
      if (page.status().code() == Code::kIo) return page.status();
      if (page.ok()) pages.push_back(std::move(*page));
    }
    std::ranges::sort(pages, {}, [](const auto& page) {
      return std::pair(page->generation(), page->position());
    });
  }
  for (const auto& page : pages) {
    FirstFinding first;
    if (check_growth_page(*page, first); !first.found()) add_growth_page(page, &growth_, first);
    if (first.found()) has_whole_growth_ = false;
  }
  return {};
}

Result<const PageHeader*> ValuePages::root_of(std::uint64_t owner) const {
  const auto found = maps_.find(owner);
  if (found == maps_.end()) return nullptr;
  std::unordered_set<std::uint64_t> children;
  for (const PageHeader* header : found->second) {
    if (header->level == 0) continue;
    const auto page = read_page(core_->file(), header->expectation());
    if (page.status().code() == Code::kIo) return page.status();
    if (!page.ok()) continue;
    for (std::uint32_t row = 0; row < (*page)->rows(); ++row)
      children.insert((*page)->value(row, kPosition));
  }
  const PageHeader* root = nullptr;
  for (const PageHeader* header : found->second)
    if (!children.contains(header->position) &&
        (!root || std::pair(header->origin.generation, header->position) >
                      std::pair(root->origin.generation, root->position)))
      root = header;
  return root;
}

Result<std::span<const GrowthRow>> ValuePages::growth_of(std::uint64_t order) const {
  const auto found = growth_.find(order);
  if (found == growth_.end()) return std::span<const GrowthRow>();
  NMB_TRY(spend(found->second.size()));
  return std::span<const GrowthRow>(found->second);
}

Status ValuePages::spend(std::uint64_t bytes) const {
  constexpr std::uint64_t kMost = 64, kFree = 64 << 20;
  if ((*spent_ += bytes) <= core_->file().size() * kMost + kFree) return {};
  return Status(Code::kLimit, core_->file().name(), kNoOffset, "",
                "too many blocks have the same values; the file was not damaged by chance");
}

namespace {

constexpr std::uint64_t kMostEnd = ~std::uint64_t{0} >> 1;  // 2^63 - 1

class ValueFinder {
 public:
  ValueFinder(const ReaderCore& core, const ValuePages& pages, BlockEntry& entry)
      : core_(core), superblock_(core.head().superblock), pages_(pages), entry_(entry) {}

  Result<FoundValues> run(Version version, std::uint64_t generation,
                          const ClassicHeader& definitions) {
    const std::uint64_t first_length = entry_.extent_length, first_records = entry_.records;
    // The header states where the extent ended in the generation that wrote the header.
    bool is_length_known = true;
    if (version != Version::kConfirmed) {
      NMB_ASSIGN(const PageHeader* root, pages_.root_of(entry_.position));
      if (root) {
        entry_.map = {root->position, root->length, root->sum};
        entry_.extent_position = entry_.extent_sum = 0;
        entry_.hole = false;
        is_length_known = root->origin.generation == generation;
        generation = root->origin.generation;
      }
    }
    NMB_TRY(add_settled(is_length_known));
    if (!is_length_known && found_.length != first_length) {
      entry_.records = records_of(definitions);
      // An extent becomes shorter only if new records replace bytes after the last record.
      if (found_.length < first_length && entry_.records <= first_records) {
        lose({found_.length, first_length}, "the root of the data map is damaged");
        found_.length = first_length;
        entry_.records = first_records;
      }
    }
    entry_.extent_length = found_.length;
    if (version != Version::kOlder) NMB_TRY(add_growth(generation));
    entry_.extent_length = found_.length;
    NMB_TRY(check_pieces());
    return std::move(found_);
  }

 private:
  // --- the pieces that the entry leads to ---

  Status add_settled(bool is_length_known) {
    const std::uint64_t length = entry_.extent_length;
    found_.length = length;
    if (entry_.has_map()) return add_map(is_length_known);
    if (length == 0) return {};
    Piece piece;
    piece.length = length;
    if (entry_.hole) {
      piece.hole = true;
      found_.pieces.push_back(piece);
    } else if (entry_.extent_position == 0) {
      lose({0, length}, "the data map is damaged");
    } else {
      piece.position = entry_.extent_position;
      piece.sum = entry_.extent_sum;
      found_.pieces.push_back(piece);
    }
    return {};
  }

  Status add_map(bool is_length_known) {
    const std::uint64_t length = entry_.extent_length;
    const DataMap map(core_.file(), &core_.external(), superblock_, entry_.position, entry_.map,
                      length);
    const auto root = map.root();
    if (root.status().code() == Code::kIo) return root.status();
    if (!root.ok()) {
      lose({0, length}, root.status().message());
      return {};
    }
    std::uint64_t end = is_length_known ? length : kMostEnd;
    NMB_TRY(walk(map, **root, 0, &end));
    found_.length = is_length_known ? length : end;
    if (end < found_.length) lose({end, found_.length}, "the data map ends too early");
    return {};
  }

  // Adds the pieces below a page, whose first piece begins at `begin`. Before the call, *end is
  // where the last piece must end, or kMostEnd if this is not known. After the call, *end is where
  // it ends.
  Status walk(const DataMap& map, const Page& page, std::uint64_t begin, std::uint64_t* end) {
    const bool is_end_known = *end != kMostEnd;
    if (page.value(0, kLogicalOffset) != begin) {
      lose_below(page, begin, end, "the offsets of its pages do not match");
      return {};
    }
    if (page.level() == 0) {
      FirstFinding first;
      std::uint64_t next = begin;
      check_data_map_leaf(page, &next, *end, superblock_.piece_size, nullptr, first);
      if (!first.found() && is_end_known && next != *end)
        first.report({"R-EX-1", page.position(), "data map", "a gap", "none"});
      if (first.found()) {
        lose_below(page, begin, end, first.status("").message());
        return {};
      }
      for (std::uint32_t row = 0; row < page.rows(); ++row)
        found_.pieces.push_back(piece_at(page, row));
      *end = next;
      return {};
    }
    for (std::uint32_t row = 0; row < page.rows(); ++row) {
      const bool is_last = row + 1 == page.rows();
      std::uint64_t below = is_last ? *end : page.value(row + 1, kLogicalOffset);
      if (below <= begin || below > *end) {
        lose_below(page, begin, end, "the offsets of its pages do not ascend");
        return {};
      }
      const auto child = map.child(page, row);
      if (child.status().code() == Code::kIo) return child.status();
      if (child.ok()) {
        NMB_TRY(walk(map, **child, begin, &below));
      } else if (below == kMostEnd) {
        lose_below(page, begin, end, child.status().message());
        return {};
      } else {
        lose({begin, below}, child.status().message());
      }
      begin = below;
    }
    *end = begin;
    return {};
  }

  // Marks everything from `begin` to *end as damaged. If the end is not known, the extent ends
  // where the header says, or at `begin`.
  void lose_below(const Page& page, std::uint64_t begin, std::uint64_t* end, std::string why) {
    if (*end == kMostEnd) *end = std::max(begin, entry_.extent_length);
    lose({begin, *end},
         joined_text("page of the data map at ", page.position(), ": ") + std::move(why));
  }

  // --- growth ---

  // A row that begins elsewhere than at the end of the extent was folded into a data map, or occurs
  // in a newer growth page too.
  Status add_growth(std::uint64_t generation) {
    NMB_ASSIGN(const std::span<const GrowthRow> rows, pages_.growth_of(entry_.order));
    for (const GrowthRow& row : rows) {
      const Piece& piece = row.piece;
      if (row.page->generation() < generation || piece.logical != found_.length ||
          piece.length == 0 || piece.length > kMostEnd - piece.logical ||
          row.records < entry_.records)
        continue;
      FirstFinding first;
      check_piece_lengths(*row.page, row.row, piece, superblock_.piece_size, first, "R-GR-3");
      if (first.found())
        lose({piece.logical, piece.end()}, first.status("").message());
      else
        found_.pieces.push_back(piece);
      found_.length = piece.end();
      entry_.records = row.records;
      found_.has_growth = true;
    }
    return {};
  }

  // Computes the number of records from the length of the extent (R-BK-21).
  std::uint64_t records_of(const ClassicHeader& definitions) const {
    const ClassicLayout& layout = definitions.layout;
    if (!definitions.metadata.record_dimension() || layout.record_size == 0) return entry_.records;
    const std::uint64_t begin = layout.record_begin - layout.header_length;
    if (found_.length <= begin) return 0;
    // Padding after the last record may be missing.
    const std::uint64_t bytes = found_.length - begin, rest = bytes % layout.record_size;
    return bytes / layout.record_size + (rest > 0 && rest + 3 >= layout.record_size);
  }

  // --- sums ---

  Status check_pieces() {
    for (Piece& piece : found_.pieces) {
      if (piece.hole) continue;
      // Values in other files are limited by what the caller allows to be opened.
      if (piece.file == 0) NMB_TRY(pages_.spend(piece.stored_length() + piece.length / kDecoding));
      const Status status = check(piece);
      if (status.code() == Code::kIo) return status;
      if (status.ok()) {
        NMB_ASSIGN(const bool is_original, is_in_original(piece));
        found_.needs |= needs_of_piece(piece, is_original);
        if (piece.file == 0) add_place({piece.position, piece.position + piece.stored_length()});
        continue;
      }
      lose({piece.logical, piece.end()}, status.text());
      piece = {piece.logical, piece.length, true};
    }
    std::ranges::sort(found_.damaged, {}, &ByteRange::begin);
    join(&found_.damaged);
    add_missing_holes();
    return {};
  }

  Status check(const Piece& piece) {
    std::shared_ptr<const ByteSource> other;
    if (piece.file != 0) {
      NMB_ASSIGN(other, core_.external().open(piece.file));
    }
    const ByteSource& file = other ? *other : core_.file();
    const std::uint64_t length = piece.stored_length();
    if (piece.position > file.size() || length > file.size() - piece.position ||
        (!other && (piece.position < kBodyStart || piece.position % 8 != 0)))
      return Status(Code::kDamaged,
                    joined_text("values at ", piece.position, ": the file ends before they end"));
    SumStream sum;
    const bool is_coded = piece.codec != PieceCodec::kNone;
    std::vector<std::byte> stored;
    if (is_coded) stored.reserve(length);
    buffer_.resize(std::min<std::uint64_t>(length, kPart));
    for (std::uint64_t done = 0; done < length;) {
      const auto part = std::span(buffer_).first(std::min(kPart, length - done));
      NMB_TRY(file.read_at(piece.position + done, part));
      sum.add(part);
      if (is_coded) stored.insert(stored.end(), part.begin(), part.end());
      done += part.size();
    }
    if (sum.sum() != piece.sum)
      return Status(Code::kDamaged,
                    joined_text("values at ", piece.position, ": found ", sum_text(sum.sum()),
                                ", expected ", sum_text(piece.sum)));
    if (is_coded) return decode_piece(piece.codec, stored, piece.length).status();
    return {};
  }

  Result<bool> is_in_original(const Piece& piece) const {
    if (piece.file == 0) return false;
    NMB_ASSIGN(const std::shared_ptr<const FileTable> files, core_.external().table());
    return files->is_original(piece.file - 1);
  }

  // --- lists ---

  void lose(ByteRange range, std::string why) {
    if (range.begin == range.end) return;
    if (range.begin < reason_at_) {
      reason_at_ = range.begin;
      found_.reason = std::move(why);
    }
    found_.damaged.push_back(range);
  }

  static void join(std::vector<ByteRange>* ranges) {
    std::vector<ByteRange> joined;
    for (const ByteRange& range : *ranges) {
      if (!joined.empty() && range.begin <= joined.back().end)
        joined.back().end = std::max(joined.back().end, range.end);
      else
        joined.push_back(range);
    }
    *ranges = std::move(joined);
  }

  void add_place(ByteRange range) {
    if (!found_.places.empty() && found_.places.back().end == range.begin)
      found_.places.back().end = range.end;
    else
      found_.places.push_back(range);
  }

  // Adds holes where no piece is, and joins neighbouring holes.
  void add_missing_holes() {
    std::vector<Piece> all;
    std::uint64_t end = 0;
    const auto add_hole = [&](std::uint64_t to) {
      if (to <= end) return;
      if (!all.empty() && all.back().hole)
        all.back().length += to - end;
      else
        all.push_back({end, to - end, true});
      end = to;
    };
    for (const Piece& piece : found_.pieces) {
      add_hole(piece.logical);
      if (piece.hole) {
        add_hole(piece.end());
        continue;
      }
      all.push_back(piece);
      end = piece.end();
    }
    add_hole(found_.length);
    found_.pieces = std::move(all);
  }

  static constexpr std::uint64_t kPart = 1 << 20;
  // Decoded bytes that count as one byte of the file.
  static constexpr std::uint64_t kDecoding = 256;
  const ReaderCore& core_;
  const Superblock& superblock_;
  const ValuePages& pages_;
  BlockEntry& entry_;
  FoundValues found_;
  std::uint64_t reason_at_ = ~std::uint64_t{0};  // begin of the first damaged range
  std::vector<std::byte> buffer_;
};

}  // namespace

Result<FoundValues> find_values(const ReaderCore& core, const ValuePages& pages, Version version,
                                std::uint64_t generation, const ClassicHeader& definitions,
                                BlockEntry* entry) {
  return ValueFinder(core, pages, *entry).run(version, generation, definitions);
}

}  // namespace nmb
