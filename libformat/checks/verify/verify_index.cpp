// Verifies the index (spec/format.md, sections 6, 7 and 8.4).
#include <algorithm>

#include "extent/needs.h"
#include "index/entry_codec.h"
#include "model/name_rules.h"
#include "superblock/page_chain.h"
#include "verify/nmb_verifier.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::size_t kTotals = 6;
constexpr const char* kTotalNames[kTotals] = {"blocks",     "dimensions", "variables",
                                              "attributes", "records",    "samples"};

std::array<std::uint64_t, kTotals> as_array(const Totals& t) {
  return {t.blocks, t.dimensions, t.variables, t.attributes, t.records, t.samples};
}

// Adds up the totals of all rows and returns the sums. A sum that does not fit in 64 bits becomes
// 2^64 - 1.
std::array<std::uint64_t, kTotals> exact_totals(const Page& page) {
  std::array<std::uint64_t, kTotals> sums{};
  for (std::uint32_t row = 0; row < page.rows(); ++row) {
    const auto values = as_array(index_summary_at(page, row).totals);
    for (std::size_t i = 0; i < kTotals; ++i)
      if (!checked_add(sums[i], values[i], &sums[i])) sums[i] = ~std::uint64_t{0};
  }
  return sums;
}

RegionKind region_of(PageUse use) {
  if (use == PageUse::kIndex) return RegionKind::kIndex;
  return use == PageUse::kDataMap || use == PageUse::kGrowth ? RegionKind::kDataMap
                                                             : RegionKind::kTable;
}

}  // namespace

PageExpectation NmbVerifier::expectation(PageUse use, std::uint64_t position,
                                         std::uint16_t level) const {
  PageExpectation expect = superblock().expectation(use, level);
  expect.position = position;
  return expect;
}

std::optional<std::vector<std::byte>> NmbVerifier::read_page_bytes(PageUse use,
                                                                   std::uint64_t position,
                                                                   std::uint64_t length,
                                                                   std::uint64_t placed_at,
                                                                   const std::string& object) {
  if (!lies_within(position, length, placed_at, object)) return std::nullopt;
  if (length < kPageHeaderSize || length % 8 != 0 || length > ~std::uint32_t{0}) {
    report("R-PG-3", position + kPageLengthOffset, object,
           joined_text("length ", length, " in the place of the page"),
           "a multiple of 8 from 88 to 2^32");
    all_walked_ = false;
    return std::nullopt;
  }
  if (!claim(region_of(use), position, length, placed_at, object)) return std::nullopt;
  std::vector<std::byte> bytes(length);
  if (Status status = file_.read_at(position, bytes); !status.ok()) {
    missed(status);
    all_walked_ = false;
    return std::nullopt;
  }
  return bytes;
}

std::optional<Page> NmbVerifier::decode_page(std::vector<std::byte> bytes, PageExpectation expect) {
  expect.length = static_cast<std::uint32_t>(bytes.size());
  std::optional<Page> page = Page::decode(std::move(bytes), expect, findings_);
  if (!page) {
    all_walked_ = false;
    return page;
  }
  if (expect.use == PageUse::kDead || expect.use == PageUse::kFileTable ||
      expect.use == PageUse::kGrowth)
    check_page_before(*page, expect.use, findings_);
  check_later_places(*page);
  return page;
}

void NmbVerifier::check_later_places(const Page& page) {
  if (!page.has_unknown()) return;
  for (std::uint32_t row = 0; row < page.rows(); ++row)
    for (const LaterPlace& later : page.later_places(row)) {
      const std::string object = "structure of a later version";
      if (later.place.position == 0 || later.place.length == 0)
        report("R-PG-20", later.placed_at, object,
               joined_text(later.place.length, " bytes at ", later.place.position),
               "a position and a length, or neither");
      else
        check_place(later.place, "R-PG-20", later.placed_at, object);
    }
}

std::optional<std::vector<std::shared_ptr<const Page>>> NmbVerifier::check_chain(
    PageUse use, const Place& newest, std::uint64_t placed_at, const std::string& object,
    std::uint64_t most) {
  std::vector<std::shared_ptr<const Page>> pages;
  const auto broken = [&] {
    all_walked_ = false;
    return std::nullopt;
  };
  Place place = newest;
  if (place.position == 0 || place.length == 0) return broken();  // R-SB-9 was reported
  for (;;) {
    if (pages.size() == most) {
      report("R-GR-4", placed_at, object, joined_text("more than ", most, " pages"),
             "at most this number of pages");
      return broken();
    }
    auto bytes = read_page_bytes(use, place.position, place.length, placed_at, object);
    if (!bytes) return std::nullopt;
    PageExpectation expect = expectation(use, place.position);
    if (!pages.empty()) {
      expect.sum = place.sum;
    } else if (const std::uint64_t sum = sum_of(*bytes); sum != place.sum) {
      report("R-SB-9", placed_at, object, sum_text(sum), sum_text(place.sum));
      return broken();
    }
    std::optional<Page> page = decode_page(std::move(*bytes), expect);
    if (!page) return std::nullopt;
    if (!pages.empty() && page->generation() > pages.back()->generation())
      report("R-PG-19", page->position() + kPageGenerationOffset, object,
             joined_text("a previous page of generation ", page->generation()),
             joined_text("at most ", pages.back()->generation()));
    pages.push_back(std::make_shared<const Page>(std::move(*page)));
    const std::optional<Place> before = page_before(*pages.back());
    if (!before) break;
    if (before->position >= place.position) return broken();  // R-PG-18 was reported
    placed_at = pages.back()->value_offset(0, kPosition);
    place = *before;
  }
  std::ranges::reverse(pages);
  return pages;
}

void NmbVerifier::check_index() {
  const Superblock& s = superblock();
  if (!s.usable_root()) {
    if (s.height == 0 && s.needs != 0)
      report("R-SB-21", field(in_superblock::kNeeds), "superblock",
             joined_text("needs field ", s.needs, " in a file without blocks"), "0");
    index_whole_ = s.height == 0 && s.root_position == 0;
    if (!index_whole_) all_walked_ = false;  // R-SB-7 was reported
    return check_growth_without_blocks();
  }
  auto bytes = read_page_bytes(PageUse::kIndex, s.root_position, s.root_length,
                               field(in_superblock::kRootPosition), "root of the index");
  index_whole_ = bytes.has_value();
  if (!bytes) return;
  check_index_run(s.root_position, s.root_length);
  if (digest_of(*bytes) != s.root_digest) {
    report("R-SB-20", field(in_superblock::kRootDigest), "superblock",
           "a root page with another digest", "the recorded digest");
    all_walked_ = index_whole_ = false;
    return;
  }
  // Values are read through `core_` only after the sums of all their pieces were checked.
  core_ = std::make_unique<ReaderCore>(file_, head_, options_.external, Unverified::kPartsOfPieces);
  if (files_) core_->take_file_table(files_);
  const std::optional<Page> root = decode_page(
      std::move(*bytes),
      expectation(PageUse::kIndex, s.root_position, static_cast<std::uint16_t>(s.height - 1)));
  if (!root) {
    index_whole_ = false;
    return;
  }
  auto sums = exact_totals(*root);
  const auto recorded = as_array(s.totals);
  const std::uint64_t needs = index_summary_of(*root).needs;
  if (needs != s.needs)
    report("R-SB-21", field(in_superblock::kNeeds), "superblock",
           joined_text("needs field ", s.needs),
           joined_text(needs, ", the bitwise OR over the rows of the root page"));
  check_index_page(*root, std::nullopt, std::nullopt);
  check_growth_without_blocks();
  // If a growth page or a page of the index cannot be read, the number of added records is unknown.
  const bool growth_counted = growth_known_ && index_whole_ && growth_.empty();
  constexpr std::size_t kRecordsTotal = 4;
  if (!checked_add(sums[kRecordsTotal], grown_records_, &sums[kRecordsTotal]))
    sums[kRecordsTotal] = ~std::uint64_t{0};
  for (std::size_t i = 0; i < kTotals; ++i)
    if ((i != kRecordsTotal || s.growth.absent() || growth_counted) &&
        (sums[i] != recorded[i] || sums[i] > kMostCount))
      report("R-SB-8", field(in_superblock::kTotals + 8 * i), "superblock",
             joined_text(recorded[i], " ", kTotalNames[i]),
             joined_text(sums[i], ", the sum of the root's rows"));
}

// Checks that a page of the index lies in the range that the superblock states for index pages.
void NmbVerifier::check_index_run(std::uint64_t position, std::uint64_t length) {
  const Superblock& s = superblock();
  if (s.index_position == 0 || s.index_length == 0 || index_run_told_) return;
  if (position >= s.index_position && length <= s.index_length &&
      position - s.index_position <= s.index_length - length)
    return;
  index_run_told_ = true;
  findings_.report(
      {"R-SB-15", field(in_superblock::kIndexPosition), "superblock",
       joined_text("an index page at ", position),
       joined_text("all index pages within ", s.index_length, " bytes at ", s.index_position),
       Severity::kWarning});
}

// Checks a page and the pages below it. Each name in `page` must be at least `low` and less than
// `high`. Recurses at most kMaxHeight deep.
void NmbVerifier::check_index_page(const Page& page, std::optional<Separator> low,
                                   std::optional<Separator> high) {
  check_names(page, low, high);
  for (std::uint32_t row = 0; row < page.rows(); ++row) {
    if (page.level() == 0) {
      check_entry(page, row);
      continue;
    }
    const ChildRow child_row = child_at(page, row);
    // An old page only leads to old pages and blocks. A block can still have new growth pages.
    if (is_old(child_row.position) && is_old(superblock().growth)) {
      summary_.unchanged_blocks += index_summary_at(page, row).totals.blocks;
      continue;
    }
    auto bytes =
        read_page_bytes(PageUse::kIndex, child_row.position, page.value(row, kStoredLength),
                        page.value_offset(row, kPosition), "page of the index");
    index_whole_ = index_whole_ && bytes;
    if (!bytes) continue;
    check_index_run(child_row.position, bytes->size());
    PageExpectation expect = expectation(PageUse::kIndex, child_row.position,
                                         static_cast<std::uint16_t>(page.level() - 1));
    expect.sum = child_row.sum;
    const std::optional<Page> child = decode_page(std::move(*bytes), expect);
    index_whole_ = index_whole_ && child;
    if (!child) continue;
    check_child_summary(page, row, *child);
    const Separator from{page.name(row), page.name_offset(row)};
    check_index_page(
        *child, from,
        row + 1 < page.rows() ? Separator{page.name(row + 1), page.name_offset(row + 1)} : high);
  }
}

void NmbVerifier::check_child_summary(const Page& page, std::uint32_t row, const Page& child) {
  const std::uint64_t needs = page.value(row, kNeeds), below = index_summary_of(child).needs;
  if (needs != below)
    report("R-IX-14", page.value_offset(row, kNeeds), "INDX page",
           joined_text("needs field ", needs, " for a child page"),
           joined_text(below, ", the bitwise OR over the rows of the child page"));
  const auto sums = exact_totals(child), recorded = as_array(index_summary_at(page, row).totals);
  for (std::size_t i = 0; i < kTotals; ++i)
    if (sums[i] != recorded[i] || sums[i] > kMostCount)
      report("R-IX-5", page.value_offset(row, static_cast<Column>(kBlocks + i)), "INDX page",
             joined_text(recorded[i], " ", kTotalNames[i], " for a child page"),
             joined_text(sums[i], ", the sum of the child's rows"));
}

void NmbVerifier::check_names(const Page& page, std::optional<Separator> low,
                              std::optional<Separator> high) {
  const bool leaf = page.level() == 0;
  bool below_low = false, above_high = false;
  std::optional<std::string_view> last;
  if (leaf && last_name_) last = *last_name_;
  for (std::uint32_t row = 0; row < page.rows(); ++row) {
    const std::string_view name = page.name(row);
    if (last && name <= *last)
      report("R-IX-2", page.name_offset(row), "INDX page", joined_text("name \"", name, "\""),
             joined_text("a name greater than \"", *last, "\""));
    last = name;
    below_low |= low && name < low->name;
    above_high |= high && name >= high->name;
  }
  if (leaf) last_name_ = std::string(*last);
  if (below_low)
    report("R-IX-4", low->offset, "INDX page", joined_text("separator \"", low->name, "\""),
           "a separator not greater than any name below it");
  if (above_high)
    report("R-IX-4", high->offset, "INDX page", joined_text("separator \"", high->name, "\""),
           "a separator greater than all names below the previous child");
}

void NmbVerifier::check_entry(const Page& page, std::uint32_t row_number) {
  const EntryRow row{page, row_number, entry_at(page, row_number)};
  if (original_orders_.contains(row.entry.order)) {
    live_orders_.insert(row.entry.order);
    blocks_of_originals_.emplace(row.entry.name, row.entry.order);
  }
  if (new_from_ > 0 && is_unchanged(row.entry)) {
    ++summary_.unchanged_blocks;
    take_growth_of(row);
    return;
  }
  block_ = std::make_shared<CheckState>(CheckState{row.entry.name, false});
  owner_ = {RegionOwner::Of::kBlock, next_block_++};
  waiting_.push_back(block_);
  used_needs_ = 0;
  metadata_known_ = false;
  take_growth_of(row);
  block_->entry = whole_;
  check_order(row);
  check_block_name(row);
  if (row.entry.needs & ~kKnownNeeds) {
    check_unsupported_block(row);
  } else {
    block_->gives_file = checks_originals() && gives_classic_file(row.entry);
    // nmconvert --original reads all bytes of this block, so all of them are checked.
    if (block_->gives_file) level_ = VerifyLevel::kData;
    check_entry_values(row);
    check_block(row);
    prepare_file_digests(row);
    const std::uint64_t pieces = check_extent(row);
    check_growth(row, pieces);
    level_ = options_.level;
    if (walks_maps() && metadata_known_ && grown_.empty()) check_statistics(row);
  }
  check_needs(row);
  block_.reset();
  owner_ = {};
  if (waiting_.size() >= ValueChecker::kBatch) report_values();
}

// Returns whether no part of a block is newer than VerifierOptions::since.
bool NmbVerifier::is_unchanged(const BlockEntry& entry) const {
  const auto growth = growth_.find(entry.order);
  const bool grew =
      growth != growth_.end() && std::ranges::any_of(growth->second, [&](const GrowthRow& row) {
        return !is_old(row.page->position());
      });
  return !grew && is_old(entry.position) && is_old(entry.extent_position) && is_old(entry.map);
}

bool NmbVerifier::gives_classic_file(const BlockEntry& entry) const {
  return entry.kind != static_cast<std::uint16_t>(Kind::kExtended) &&
         !original_orders_.contains(entry.order);
}

void NmbVerifier::check_entry_values(const EntryRow& row) {
  const BlockEntry& e = row.entry;
  const std::string object = "block \"" + e.name + "\"";
  if (row.value(kFlags) > 1)
    report("R-IX-6", row.at(kFlags), object, joined_text("flags ", row.value(kFlags)), "0 or 1");
  if (e.hole) {
    if (e.extent_length == 0)
      report("R-IX-11", row.at(kFlags), object, "a hole of no bytes",
             "an extent that is not empty");
    for (auto [column, what] :
         {std::pair(kExtentPosition, "extent position"), std::pair(kExtentSum, "extent sum"),
          std::pair(kMapPosition, "data map at")})
      if (row.value(column) != 0)
        report("R-IX-12", row.at(column), object,
               joined_text("a hole with ", what, " ", row.value(column)), "none");
  }
  const FileDigests& digests = e.file_digests;
  if (digests.has_xxh3() && e.kind == static_cast<std::uint16_t>(Kind::kExtended))
    report("R-OD-2", row.at(kFileDigest), object,
           "the digest of a classic file in a block of kind 6", "none");
  if (digests.has_sha256() && !digests.has_xxh3())
    report("R-OD-4", row.at(kFileSha256), object, "the SHA-256 of a file without its XXH3-128",
           "both digests");
  if (e.extent_length > superblock().piece_size && !e.hole && !e.has_map())
    report("R-IX-8", row.at(kMapPosition), object,
           joined_text("no data map for ", e.extent_length, " bytes"),
           "a data map for values of more than one piece");
  if (!e.map.absent() && (e.map.position == 0 || e.map.length == 0))
    report("R-IX-13", row.at(kMapPosition), object,
           joined_text(e.map.length, " bytes at ", e.map.position),
           "a position and a length, or neither");
}

void NmbVerifier::check_order(const EntryRow& row) {
  const BlockEntry& e = row.entry;
  const std::string object = "block \"" + e.name + "\"";
  if (e.order >= superblock().next_order)
    report("R-IX-7", row.at(kOrder), object, joined_text("order ", e.order),
           joined_text("an order less than ", superblock().next_order));
  else if (orders_.claim(e.order, e.order + 1))
    report("R-IX-15", row.at(kOrder), object,
           joined_text("order ", e.order, ", which another block has"),
           "an order that no other block has");
}

// Checks the needs field of a block's index entry. Must be called last for the block: the other
// checks add the needs of the block's values to used_needs_.
void NmbVerifier::check_needs(const EntryRow& row) {
  const BlockEntry& e = row.entry;
  const std::uint64_t used = used_needs_ | (e.needs & ~kKnownNeeds ? 0 : needs_of_body(e));
  if (used & ~e.needs)
    report("R-IX-10", row.at(kNeeds), "block \"" + e.name + "\"",
           joined_text("needs field ", e.needs),
           joined_text("all needs of the block's features, ", used));
}

void NmbVerifier::check_block_name(const EntryRow& row) {
  const std::string& name = row.entry.name;
  if (!is_block_name(name))
    report("R-NM-1", row.page.name_offset(row.row), "block \"" + name + "\"", "an invalid name",
           "a name without empty parts, without the parts . and .., and without NUL");
}

}  // namespace nmb
