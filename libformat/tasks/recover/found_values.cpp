#include "recover/found_values.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "extent/needs.h"
#include "extent/piece_codec.h"
#include "superblock/page_chain.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kMostEnd = ~std::uint64_t{0} >> 1;  // 2^63 - 1

}  // namespace

Result<ValuePages> ValuePages::find(const ReaderCore& core, const Evidence& evidence) {
  ValuePages pages(core);
  for (const PageHeader* header : evidence.pages_of(PageUse::kDataMap))
    pages.maps_[header->owner].push_back(header);
  NMB_TRY(pages.read_growth(evidence));
  NMB_TRY(pages.read_originals());
  return pages;
}

Status ValuePages::read_originals() {
  for (const auto& [owner, pages] : maps_) {
    const std::uint64_t number = owner - owner_of_original(0);
    if (owner < owner_of_original(0) || number > ~std::uint32_t{0}) continue;
    std::vector<OriginalRun>& runs = originals_[static_cast<std::uint32_t>(number)];
    for (const PageHeader* header : pages) {
      if (header->level != 0) continue;
      const auto page = read_page(core_->file(), header->expectation());
      if (page.status().code() == Code::kIo) return page.status();
      if (!page.ok()) continue;
      for (std::uint32_t row = 0; row < (*page)->rows(); ++row) {
        const Piece piece = piece_at(**page, row);
        if (piece.is_plain() && piece.length <= kMostEnd - std::min(kMostEnd, piece.logical))
          runs.push_back({piece.logical, piece.end(), piece.position});
      }
    }
    std::ranges::sort(runs, {}, &OriginalRun::begin);
    std::vector<OriginalRun> joined;
    for (const OriginalRun& run : runs)
      if (!joined.empty() && joined.back().end == run.begin &&
          joined.back().position + (run.begin - joined.back().begin) == run.position)
        joined.back().end = run.end;
      else
        joined.push_back(run);
    runs = std::move(joined);
  }
  return {};
}

std::uint64_t ValuePages::place_in_original(std::uint32_t number, std::uint64_t position,
                                            std::uint64_t length) const {
  const auto found = originals_.find(number);
  if (found == originals_.end()) return 0;
  auto run = std::ranges::upper_bound(found->second, position, {}, &OriginalRun::begin);
  if (run == found->second.begin()) return 0;
  --run;
  if (position > run->end || length > run->end - position) return 0;
  return run->position + (position - run->begin);
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

class ValueFinder {
 public:
  ValueFinder(const ReaderCore& core, const ValuePages& pages, BlockEntry& entry)
      : core_(core), superblock_(core.head().superblock), pages_(pages), entry_(entry) {}

  Result<FoundValues> run(Version version, const BlockHeader& header,
                          const ClassicHeader& definitions) {
    std::uint64_t generation = header.origin.generation;
    const std::uint64_t first_length = entry_.extent_length, first_records = entry_.records;
    // The header states where the extent ended in the generation that wrote the header.
    bool is_length_known = true;
    if (version == Version::kConfirmed) {
      run_ = entry_.extent_position;
    } else {
      NMB_ASSIGN(const PageHeader* root, pages_.root_of(entry_.position));
      if (root) {
        entry_.map = {root->position, root->length, root->sum};
        entry_.extent_position = entry_.extent_sum = 0;
        entry_.hole = false;
        is_length_known = root->origin.generation == generation;
        generation = root->origin.generation;
      }
      has_lost_map_ = !root && (header.flags & kFlagMap) != 0;
      if (is_length_known) run_ = header.extent_position;
    }
    NMB_TRY(add_settled(is_length_known));
    if (!is_length_known && found_.length != first_length) {
      entry_.records = records_of(definitions);
      // An extent becomes shorter only if new records replace bytes after the last record.
      if (found_.length < first_length && entry_.records <= first_records) {
        lose_map({found_.length, first_length}, "the root of the data map is damaged");
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
    } else if (entry_.extent_position == 0 || has_lost_map_) {
      lose_map({0, length}, "the data map is damaged");
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
      lose_map({0, length}, root.status().message());
      return {};
    }
    std::uint64_t end = is_length_known ? length : kMostEnd;
    NMB_TRY(walk(map, **root, 0, &end));
    found_.length = is_length_known ? length : end;
    if (end < found_.length) lose_map({end, found_.length}, "the data map ends too early");
    return {};
  }

  // Adds the pieces below a page. The first piece begins at `begin`. Before the call, *end is where
  // the last piece must end, or kMostEnd if this is not known. After the call, *end is where the
  // last piece ends.
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
        lose_map({begin, below}, child.status().message());
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
    lose_map({begin, *end},
             joined_text("page of the data map at ", page.position(), ": ") + std::move(why));
  }

  // --- growth ---

  // Skips a row that does not begin at the end of the extent: it was folded into a data map, or
  // occurs in a newer growth page too.
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
        lose_piece(piece, first.status("").message());
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
      // Values in other files do not count: the caller limits them by the files that may be opened.
      if (piece.file == 0) NMB_TRY(pages_.spend(piece.stored_length() + piece.length / kDecoding));
      find_in_original(&piece);
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
    NMB_TRY(take_unverified());
    for (std::vector<ByteRange>* const ranges : {&found_.damaged, &found_.unverified}) {
      std::ranges::sort(*ranges, {}, &ByteRange::begin);
      join(ranges);
    }
    add_missing_holes();
    return {};
  }

  // Finds a piece of an original whose row of the file table is lost. The data map of the original
  // says where the bytes of the piece lie.
  void find_in_original(Piece* piece) {
    if (piece->file == 0 || core_.external().name_of(piece->file).ok()) return;
    const std::uint64_t at =
        pages_.place_in_original(piece->file, piece->position, piece->stored_length());
    if (at == 0) return;
    piece->position = at;
    piece->file = 0;
    found_.has_moved = true;
  }

  // Makes pieces for the ranges of which no piece is known, and marks these ranges as unverified.
  // If the extent's position is not known, or a range does not lie in the file, marks the range as
  // damaged.
  Status take_unverified() {
    for (const ByteRange& range : lost_map_) {
      const std::uint64_t size = core_.file().size();
      if (run_ < kBodyStart || run_ > size || range.end > size - run_) {
        found_.damaged.push_back(range);
        found_.has_lost = true;
        continue;
      }
      NMB_TRY(pages_.spend(range.length()));
      for (std::uint64_t at = range.begin; at < range.end;) {
        const std::uint64_t next = (at / superblock_.piece_size + 1) * superblock_.piece_size;
        Piece piece{at, std::min(next, range.end) - at, false, run_ + at};
        NMB_ASSIGN(piece.sum, sum_of_bytes(core_.file(), piece, nullptr));
        found_.pieces.push_back(piece);
        at = piece.end();
      }
      add_place({run_ + range.begin, run_ + range.end});
      found_.unverified.push_back(range);
    }
    std::ranges::sort(found_.pieces, {}, &Piece::logical);
    return {};
  }

  // Returns the sum of the stored bytes of a piece. `stored` receives the bytes, unless it is
  // nullptr.
  Result<std::uint64_t> sum_of_bytes(const ByteSource& file, const Piece& piece,
                                     std::vector<std::byte>* stored) {
    const std::uint64_t length = piece.stored_length();
    SumStream sum;
    if (stored) stored->reserve(length);
    buffer_.resize(std::min<std::uint64_t>(length, kPart));
    for (std::uint64_t done = 0; done < length;) {
      const auto part = std::span(buffer_).first(std::min(kPart, length - done));
      NMB_TRY(file.read_at(piece.position + done, part));
      sum.add(part);
      if (stored) stored->insert(stored->end(), part.begin(), part.end());
      done += part.size();
    }
    return sum.sum();
  }

  Status check(const Piece& piece) {
    std::shared_ptr<const ByteSource> other;
    if (piece.file != 0) {
      NMB_ASSIGN(other, core_.external().open(piece.file));
    }
    const ByteSource& file = other ? *other : core_.file();
    const std::uint64_t length = piece.stored_length();
    if (piece.position > file.size() || length > file.size() - piece.position ||
        (!other && (piece.position < kBodyStart || (piece.position % 8 != 0 && !found_.has_moved))))
      return Status(Code::kDamaged,
                    joined_text("values at ", piece.position, ": the file ends before they end"));
    const bool is_coded = piece.codec != PieceCodec::kNone;
    std::vector<std::byte> stored;
    NMB_ASSIGN(const std::uint64_t sum, sum_of_bytes(file, piece, is_coded ? &stored : nullptr));
    if (sum != piece.sum)
      return Status(Code::kDamaged, joined_text("values at ", piece.position, ": found ",
                                                sum_text(sum), ", expected ", sum_text(piece.sum)));
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
    say(range, std::move(why));
    found_.damaged.push_back(range);
  }

  // Marks the range of a growth row that does not describe a piece.
  void lose_piece(const Piece& piece, std::string why) {
    lose({piece.logical, piece.end()}, std::move(why));
    found_.has_lost = true;
  }

  // Marks a range of which no piece is known.
  void lose_map(ByteRange range, std::string why) {
    if (range.begin == range.end) return;
    say(range, std::move(why));
    lost_map_.push_back(range);
  }

  void say(ByteRange range, std::string why) {
    if (range.begin >= reason_at_) return;
    reason_at_ = range.begin;
    found_.reason = std::move(why);
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
  // This many decoded bytes count as one byte that is read.
  static constexpr std::uint64_t kDecoding = 256;
  const ReaderCore& core_;
  const Superblock& superblock_;
  const ValuePages& pages_;
  BlockEntry& entry_;
  FoundValues found_;
  // The position of an extent that the newest data map describes as one run; 0 if it is not known.
  std::uint64_t run_ = 0;
  bool has_lost_map_ = false;        // whether no root of the extent's data map was found
  std::vector<ByteRange> lost_map_;  // ranges of the extent without pieces
  std::uint64_t reason_at_ = ~std::uint64_t{0};  // begin of the first damaged range
  std::vector<std::byte> buffer_;
};

}  // namespace

Result<FoundValues> find_values(const ReaderCore& core, const ValuePages& pages, Version version,
                                const BlockHeader& header, const ClassicHeader& definitions,
                                BlockEntry* entry) {
  return ValueFinder(core, pages, *entry).run(version, header, definitions);
}

}  // namespace nmb
